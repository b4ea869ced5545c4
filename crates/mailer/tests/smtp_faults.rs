//! Mail servers that refuse, disconnect, or never respond.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use guerdon_mailer::{Failure, Fault, Mailer, Transport};

use crate::smtp::transport;
use crate::support::journal::{Journal, State};
use crate::support::server::Act::{self, Close, Drip, Hang, Say, Usual};
use crate::support::server::{Manners, Server};
use crate::support::{Bench, Counting, START, SetClock, mail};

/// A time limit for servers that hang. Not for mails that must arrive.
const SHORT: Duration = Duration::from_millis(100);
const LONG: Duration = Duration::from_secs(60);

/// Sends two mails to a misbehaving server, the first one with this time limit.
fn two(limit: Duration, acts: &[(&'static str, &[Act])]) -> (Server, [Result<(), Failure>; 2]) {
    let server = Server::start(Manners::default(), acts);
    let mut transport = transport(&format!("smtp://127.0.0.1:{}", server.port)).within(limit);
    let first = transport.send(&mail(1));
    let results = [first, transport.within(LONG).send(&mail(2))];
    (server, results)
}

fn limit(act: Act) -> Duration {
    if matches!(act, Hang | Drip) { SHORT } else { LONG }
}

#[test]
fn each_no_has_its_fault() {
    let check = |verb: &'static str, words: &'static str, fault: Fault, told: &str| {
        let (server, [first, second]) = two(LONG, &[(verb, &[Say(words)])]);
        let failure = first.unwrap_err();
        assert_eq!((failure.fault(), failure.to_string().as_str()), (fault, told), "{verb} {words}");
        assert_eq!(second, Ok(()), "{verb} {words}");
        assert_eq!(server.mails().len(), 1, "{verb} {words}");
    };
    check("GREETING", "554 go away", Fault::Server, "connecting: the server answered 554");
    check("EHLO", "421 later", Fault::Server, "connecting: the server answered 421");
    check("MAIL", "451 4.3.0 later", Fault::Server, "MAIL FROM: the server answered 451 4.3.0");
    check("MAIL", "550 not from you", Fault::Server, "MAIL FROM: the server answered 550");
    check(
        "RCPT",
        "450 4.2.0 <ada+1@example.com> later",
        Fault::Mail,
        "RCPT TO: the server answered 450 4.2.0",
    );
    check(
        "RCPT",
        "550 5.1.1 <ada+1@example.com> unknown",
        Fault::Refused,
        "RCPT TO: the server answered 550 5.1.1",
    );
    check("RCPT", "550 ada+1@example.com unknown", Fault::Refused, "RCPT TO: the server answered 550");
    check("RCPT", "530 5.7.0 sign in", Fault::Server, "RCPT TO: the server answered 530 5.7.0");
    check("RCPT", "421 closing", Fault::Server, "RCPT TO: the server answered 421");
    check("DATA", "452 full", Fault::Mail, "DATA: the server answered 452");
    check("DATA", "250 what", Fault::Mail, "DATA: the server answered 250 out of turn");
    check("END", "451 later", Fault::Mail, "the message: the server answered 451");
    check("END", "554 spam", Fault::Refused, "the message: the server answered 554");
    check("END", "354 more", Fault::Mail, "the message: the server answered 354 out of turn");
}

#[test]
fn a_plain_no_to_one_mail_keeps_the_connection_for_the_next() {
    for verb in ["RCPT", "DATA", "END"] {
        let (server, _) = two(LONG, &[(verb, &[Say("550 no")])]);
        assert_eq!(server.heard(|heard| heard.connections), 1, "{verb}");
    }
}

#[test]
fn a_dialogue_that_breaks_off_is_about_its_mail() {
    for verb in ["MAIL", "RCPT", "DATA", "END"] {
        for act in [Close, Hang, Drip, Say("nonsense"), Say("\u{fffd}")] {
            let server = Server::start(Manners::default(), &[(verb, &[Usual, act])]);
            let mut transport = transport(&format!("smtp://127.0.0.1:{}", server.port)).within(LONG);
            transport.send(&mail(1)).unwrap();
            let mut transport = transport.within(limit(act));
            assert_eq!(transport.send(&mail(2)).unwrap_err().fault(), Fault::Mail, "{verb}");
            transport.within(LONG).send(&mail(3)).unwrap();
            assert_eq!((server.heard(|heard| heard.connections), server.mails().len()), (2, 2), "{verb}");
        }
    }
}

#[test]
fn a_connection_that_never_comes_about_is_the_servers_fault() {
    for verb in ["GREETING", "EHLO"] {
        for act in [Close, Hang, Drip, Say("nonsense")] {
            let (_server, [first, second]) = two(limit(act), &[(verb, &[act])]);
            assert_eq!(first.unwrap_err().fault(), Fault::Server, "{verb}");
            assert_eq!(second, Ok(()), "{verb}");
        }
    }
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let failure = transport(&format!("smtp://127.0.0.1:{free}")).send(&mail(1)).unwrap_err();
    assert_eq!(failure.fault(), Fault::Server);
}

#[test]
fn a_connection_closed_between_two_mails_is_made_anew() {
    let (server, results) = two(LONG, &[("RSET", &[Close])]);
    assert_eq!(results, [Ok(()), Ok(())]);
    assert_eq!((server.heard(|heard| heard.connections), server.mails().len()), (2, 2));
}

#[test]
fn every_mail_arrives_once_when_the_server_is_back() {
    let down = Say("421 later");
    let acts: [(&'static str, &[Act]); 3] = [
        ("GREETING", &[down, Close, down]),
        ("RCPT", &[Usual, Say("450 later")]),
        ("END", &[Usual, Say("451 later")]),
    ];
    let server = Server::start(Manners::default(), &acts);
    let (clock, journal) = (SetClock::at(START), Journal::of((1..=40).map(mail)));
    let mut bench = Bench::over(clock, journal, |_| Ok(()));
    bench.mailer = Mailer::new(
        Box::new(bench.journal.clone()),
        Box::new(transport(&format!("smtp://127.0.0.1:{}", server.port))),
        Arc::<SetClock>::clone(&bench.clock),
        Arc::<Counting>::default(),
    );
    bench.run_for(time::Duration::seconds(44));
    assert_eq!(bench.journal.count(State::Pending), 40);
    bench.run_for(time::Duration::hours(1));
    assert_eq!(bench.journal.count(State::Sent), 40);
    let mut recipients: Vec<_> = server.mails().into_iter().map(|mail| mail.to).collect();
    recipients.sort();
    recipients.dedup();
    assert_eq!((recipients.len(), server.mails().len()), (40, 40));
}
