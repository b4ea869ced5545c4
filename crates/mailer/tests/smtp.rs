//! Emails over SMTP without faults.

use guerdon_mailer::{FailureKind, MailTransport, SmtpTransport, SmtpUrl};

use crate::support::server::{Server, ServerOptions};
use crate::support::{from_address, new_mail};

const ADA_SECRET: &str = "AGFkYQBwQHNz"; // \0ada\0p@ss

pub fn smtp_transport(url: &str) -> SmtpTransport {
    SmtpTransport::new(SmtpUrl::parse(url).unwrap(), from_address(), b"")
        .unwrap()
        .with_client_name("guerdon.test")
}

#[test]
fn mails_arrive_on_one_connection() {
    let server = Server::start(ServerOptions::default(), &[]);
    let mut transport = smtp_transport(&format!("smtp://127.0.0.1:{}", server.port));
    for number in 1..=3 {
        transport.send_mail(&new_mail(number)).unwrap();
    }
    let mails = server.received_mails();
    assert_eq!(server.inspect_log(|log| log.connections), 1);
    assert_eq!(mails.len(), 3);
    assert_eq!(
        (mails[1].from.as_str(), mails[1].to.as_str()),
        (" FROM:<points@example.com>", " TO:<ada+2@example.com>")
    );
    assert!(mails[1].text.contains("\r\nMessage-ID: <00000000-0000-0000-0000-000000000002@example.com>\r\n"));
    assert!(mails[1].text.ends_with("\r\n\r\nGr=C3=BC=C3=9F Gott,\r\n\r\n.\r\n..\r\nPlease add points.\r\n"));
}

#[test]
fn smtp_commands_in_a_body_are_sent_as_text() {
    let server = Server::start(ServerOptions::default(), &[]);
    let mut transport = smtp_transport(&format!("smtp://127.0.0.1:{}", server.port));
    let mut mail = new_mail(1);
    mail.body = "a\n.\r\nMAIL FROM:<eve@example.com>\r\nb\r.\rQUIT\n.\n".into();
    transport.send_mail(&mail).unwrap();
    assert_eq!(server.inspect_log(|log| log.verbs.join(" ")), "EHLO MAIL RCPT DATA");
    assert!(
        server.received_mails()[0]
            .text
            .contains("a\r\n.\r\nMAIL FROM:<eve@example.com>\r\nb\r\n.\r\nQUIT\r\n.\r\n")
    );
}

#[test]
fn a_server_that_requires_a_sign_in_gets_it() {
    let options = ServerOptions { sign_in: Some(ADA_SECRET), ..ServerOptions::default() };
    let server = Server::start(options, &[]);
    smtp_transport(&format!("smtp://ada:p%40ss@127.0.0.1:{}", server.port)).send_mail(&new_mail(1)).unwrap();
    assert_eq!(server.inspect_log(|log| log.verbs[..5].join(" ")), "EHLO AUTH MAIL RCPT DATA");
    let failure = smtp_transport(&format!("smtp://ada:wrong@127.0.0.1:{}", server.port))
        .send_mail(&new_mail(2))
        .unwrap_err();
    assert_eq!(failure.kind(), FailureKind::Server);
    assert_eq!(failure.to_string(), "authentication: the server returned 535 5.7.8");
    assert_eq!(server.received_mails().len(), 1);
}

#[test]
fn an_unsupported_sign_in_is_a_failure_of_the_server() {
    let server = Server::start(ServerOptions::default(), &[]);
    let failure = smtp_transport(&format!("smtp://ada:p%40ss@127.0.0.1:{}", server.port))
        .send_mail(&new_mail(1))
        .unwrap_err();
    assert_eq!(failure.kind(), FailureKind::Server);
    assert!(server.received_mails().is_empty());
}
