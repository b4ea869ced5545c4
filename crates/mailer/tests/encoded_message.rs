//! The encoding of emails.

use guerdon_mailer::{EncodedMessage, FailureKind};

use crate::support::{from_address, new_mail};

#[test]
fn the_encoding_is_constant() {
    let text = String::from_utf8(
        EncodedMessage::encode_mail(&new_mail(7), &from_address()).unwrap().as_bytes().to_vec(),
    )
    .unwrap();
    let expected = "From: Guerdon <points@example.com>\r\n\
         To: ada+7@example.com\r\n\
         Subject: The points reserve of =?utf-8?b?QsO8Y2hlcg==?= & =?utf-8?b?U8O2?=\r\n =?utf-8?b?aG5l?= is low\r\n\
         Date: Sat, 21 Nov 2026 10:22:01 +0000\r\n\
         Message-ID: <00000000-0000-0000-0000-000000000007@example.com>\r\n\
         Auto-Submitted: auto-generated\r\n\
         MIME-Version: 1.0\r\n\
         Content-Type: text/plain; charset=utf-8\r\n\
         Content-Transfer-Encoding: quoted-printable\r\n\
         \r\n\
         Gr=C3=BC=C3=9F Gott,\r\n\r\n.\r\n..\r\nPlease add points.\r\n";
    assert_eq!(text, expected);
    let mut later = new_mail(7);
    later.attempts = 5;
    assert_eq!(EncodedMessage::encode_mail(&later, &from_address()).unwrap().as_bytes(), text.as_bytes());
}

#[test]
fn control_characters_never_reach_a_header() {
    let check = |recipient: &str, subject: &str| {
        let mut mail = new_mail(1);
        (mail.recipient, mail.subject) = (recipient.into(), subject.into());
        let failure = EncodedMessage::encode_mail(&mail, &from_address()).unwrap_err();
        assert_eq!(failure.kind(), FailureKind::Unsendable);
        assert!(!failure.to_string().contains("eve"));
    };
    for control in ["\r\n", "\n", "\r", "\0", "\u{85}", "\t", "\u{7f}"] {
        check("ada@example.com", &format!("Points{control}Bcc: eve@example.com"));
        check(&format!("ada@example.com{control}"), "Points");
        check(&format!("ada@example.com>{control}RCPT TO:<eve@example.com"), "Points");
        check(&format!("\"ada{control}eve\"@example.com"), "Points");
    }
    check("ada@example.com, eve@example.com", "Points");
    check("", "Points");
}

#[test]
fn no_body_ends_the_message_early() {
    let check = |body: &str| {
        let mut mail = new_mail(1);
        mail.body = body.into();
        let message = EncodedMessage::encode_mail(&mail, &from_address()).unwrap();
        let text = std::str::from_utf8(message.as_bytes()).unwrap();
        let lone = text.replace("\r\n", "");
        assert!(!lone.contains(['\r', '\n', '\0']), "{body:?}: {text:?}");
        assert!(text.lines().all(|line| line.len() <= 998));
        assert!(text.is_ascii());
    };
    check("a\n.\r\nMAIL FROM:<eve@example.com>\r\n");
    check("a\r.\rb\r\r\n\n\r.");
    check("a\0b\u{7}");
    check(&"x".repeat(100_000));
    check(&"ü ".repeat(10_000));
    check("");
}

#[test]
fn every_recipient_that_the_domain_accepts_can_be_encoded() {
    let check = |recipient: &str, written: &str| {
        let mut mail = new_mail(1);
        mail.recipient = recipient.into();
        let message = EncodedMessage::encode_mail(&mail, &from_address()).unwrap();
        let text = std::str::from_utf8(message.as_bytes()).unwrap();
        assert!(text.contains(&format!("\r\nTo: {written}\r\n")), "{text}");
    };
    check("Ada.Lovelace@Example.COM", "Ada.Lovelace@example.com");
    check("\"ada lovelace\"@example.com", "\"ada lovelace\"@example.com");
    check("ada@[192.0.2.1]", "ada@[192.0.2.1]");
    check("ada@[IPv6:2001:db8::1]", "ada@[ipv6:2001:db8::1]");
}
