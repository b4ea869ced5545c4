//! Mail servers that refuse, disconnect, or never respond.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use guerdon_mailer::{FailureKind, MailTransport, Mailer, SendFailure};

use crate::smtp::smtp_transport;
use crate::support::memory_store::{MailState, MemoryMailStore};
use crate::support::server::ServerAction::{self, Close, Drip, Hang, Respond, RespondNormally};
use crate::support::server::{Server, ServerOptions};
use crate::support::{MailerHarness, START, SequentialIds, SettableClock, new_mail};

/// A short time limit for servers that hang. Do not use it for emails that must arrive.
const SHORT_TIMEOUT: Duration = Duration::from_millis(100);
const LONG_TIMEOUT: Duration = Duration::from_secs(60);

/// Sends two emails to a misbehaving server, the first one with this time limit.
fn send_two(
    limit: Duration,
    actions: &[(&'static str, &[ServerAction])],
) -> (Server, [Result<(), SendFailure>; 2]) {
    let server = Server::start(ServerOptions::default(), actions);
    let mut transport = smtp_transport(&format!("smtp://127.0.0.1:{}", server.port)).with_timeout(limit);
    let first = transport.send_mail(&new_mail(1));
    let results = [first, transport.with_timeout(LONG_TIMEOUT).send_mail(&new_mail(2))];
    (server, results)
}

fn time_limit(action: ServerAction) -> Duration {
    if matches!(action, Hang | Drip) { SHORT_TIMEOUT } else { LONG_TIMEOUT }
}

#[test]
fn each_negative_response_has_its_kind_of_failure() {
    let check = |verb: &'static str, response: &'static str, kind: FailureKind, message: &str| {
        let (server, [first, second]) = send_two(LONG_TIMEOUT, &[(verb, &[Respond(response)])]);
        let failure = first.unwrap_err();
        assert_eq!((failure.kind(), failure.to_string().as_str()), (kind, message), "{verb} {response}");
        assert_eq!(second, Ok(()), "{verb} {response}");
        assert_eq!(server.received_mails().len(), 1, "{verb} {response}");
    };
    check("GREETING", "554 go away", FailureKind::Server, "connecting: the server returned 554");
    check("EHLO", "421 later", FailureKind::Server, "connecting: the server returned 421");
    check("MAIL", "451 4.3.0 later", FailureKind::Server, "MAIL FROM: the server returned 451 4.3.0");
    check("MAIL", "550 not from you", FailureKind::Server, "MAIL FROM: the server returned 550");
    check(
        "RCPT",
        "450 4.2.0 <ada+1@example.com> later",
        FailureKind::Mail,
        "RCPT TO: the server returned 450 4.2.0",
    );
    check(
        "RCPT",
        "550 5.1.1 <ada+1@example.com> unknown",
        FailureKind::Refused,
        "RCPT TO: the server returned 550 5.1.1",
    );
    check("RCPT", "550 ada+1@example.com unknown", FailureKind::Refused, "RCPT TO: the server returned 550");
    check("RCPT", "530 5.7.0 sign in", FailureKind::Server, "RCPT TO: the server returned 530 5.7.0");
    check("RCPT", "421 closing", FailureKind::Server, "RCPT TO: the server returned 421");
    check("DATA", "452 full", FailureKind::Mail, "DATA: the server returned 452");
    check("DATA", "250 what", FailureKind::Mail, "DATA: unexpected response 250 from the server");
    check("END", "451 later", FailureKind::Mail, "the message: the server returned 451");
    check("END", "554 spam", FailureKind::Refused, "the message: the server returned 554");
    check("END", "354 more", FailureKind::Mail, "the message: unexpected response 354 from the server");
}

#[test]
fn a_refusal_of_one_mail_keeps_the_connection_for_the_next() {
    for verb in ["RCPT", "DATA", "END"] {
        let (server, _) = send_two(LONG_TIMEOUT, &[(verb, &[Respond("550 no")])]);
        assert_eq!(server.inspect_log(|log| log.connections), 1, "{verb}");
    }
}

#[test]
fn a_connection_that_breaks_during_a_mail_is_a_failure_of_that_mail() {
    for verb in ["MAIL", "RCPT", "DATA", "END"] {
        for action in [Close, Hang, Drip, Respond("nonsense"), Respond("\u{fffd}")] {
            let server = Server::start(ServerOptions::default(), &[(verb, &[RespondNormally, action])]);
            let mut transport =
                smtp_transport(&format!("smtp://127.0.0.1:{}", server.port)).with_timeout(LONG_TIMEOUT);
            transport.send_mail(&new_mail(1)).unwrap();
            let mut transport = transport.with_timeout(time_limit(action));
            let kind = if verb == "END" { FailureKind::Unconfirmed } else { FailureKind::Mail };
            assert_eq!(transport.send_mail(&new_mail(2)).unwrap_err().kind(), kind, "{verb}");
            transport.with_timeout(LONG_TIMEOUT).send_mail(&new_mail(3)).unwrap();
            assert_eq!(
                (server.inspect_log(|log| log.connections), server.received_mails().len()),
                (2, 2),
                "{verb}"
            );
        }
    }
}

#[test]
fn a_connection_that_cannot_be_opened_is_a_failure_of_the_server() {
    for verb in ["GREETING", "EHLO"] {
        for action in [Close, Hang, Drip, Respond("nonsense")] {
            let (_server, [first, second]) = send_two(time_limit(action), &[(verb, &[action])]);
            assert_eq!(first.unwrap_err().kind(), FailureKind::Server, "{verb}");
            assert_eq!(second, Ok(()), "{verb}");
        }
    }
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let failure = smtp_transport(&format!("smtp://127.0.0.1:{free}")).send_mail(&new_mail(1)).unwrap_err();
    assert_eq!(failure.kind(), FailureKind::Server);
}

#[test]
fn a_connection_closed_between_two_mails_is_reopened() {
    let (server, results) = send_two(LONG_TIMEOUT, &[("RSET", &[Close])]);
    assert_eq!(results, [Ok(()), Ok(())]);
    assert_eq!((server.inspect_log(|log| log.connections), server.received_mails().len()), (2, 2));
}

#[test]
fn every_mail_arrives_once_when_the_server_is_available_again() {
    let down = Respond("421 later");
    let actions: [(&'static str, &[ServerAction]); 3] = [
        ("GREETING", &[down, Close, down]),
        ("RCPT", &[RespondNormally, Respond("450 later")]),
        ("END", &[RespondNormally, Respond("451 later")]),
    ];
    let server = Server::start(ServerOptions::default(), &actions);
    let (clock, store) =
        (SettableClock::start_at(START), MemoryMailStore::with_mails((1..=40).map(new_mail)));
    let mut harness = MailerHarness::with_store(clock, store, |_| Ok(()));
    harness.mailer = Mailer::new(
        Box::new(harness.store.clone()),
        Box::new(smtp_transport(&format!("smtp://127.0.0.1:{}", server.port))),
        Arc::<SettableClock>::clone(&harness.clock),
        Arc::<SequentialIds>::default(),
    );
    harness.run_for(time::Duration::seconds(44));
    assert_eq!(harness.store.count_in_state(MailState::Pending), 40);
    harness.run_for(time::Duration::hours(1));
    assert_eq!(harness.store.count_in_state(MailState::Sent), 40);
    let mut recipients: Vec<_> = server.received_mails().into_iter().map(|mail| mail.to).collect();
    recipients.sort();
    recipients.dedup();
    assert_eq!((recipients.len(), server.received_mails().len()), (40, 40));
}
