//! Mails over TLS.

use std::sync::Arc;

use guerdon_mailer::{Fault, SmtpTransport, SmtpUrl, Transport};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::support::server::{Act, Manners, Server};
use crate::support::{mail, sender};

/// A self-signed certificate for this name: for the server, and as a root in PEM.
fn certificate(name: &str) -> (Arc<ServerConfig>, String) {
    let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    (Arc::new(config), made.cert.pem())
}

fn send(url: &str, root: &str) -> Result<(), Fault> {
    let url = SmtpUrl::parse(url).unwrap();
    let mut transport = SmtpTransport::new(url, sender(), root.as_bytes()).unwrap();
    transport.send(&mail(1)).map_err(|failure| failure.fault())
}

#[test]
fn tls_from_the_start_needs_a_certificate_that_holds() {
    let (tls, root) = certificate("localhost");
    let server = Server::start(Manners { tls: Some(tls), wrapped: true, ..Manners::default() }, &[]);
    let url = format!("smtps://localhost:{}", server.port);
    assert_eq!(send(&url, ""), Err(Fault::Server));
    let (_, other) = certificate("localhost");
    assert_eq!(send(&url, &other), Err(Fault::Server));
    assert_eq!(send(&format!("smtps://127.0.0.1:{}", server.port), &root), Err(Fault::Server));
    assert!(server.heard(|heard| heard.verbs.is_empty()));
    assert_eq!(send(&url, &root), Ok(()));
    assert!(server.mails()[0].encrypted);
}

#[test]
fn starttls_comes_before_any_mail() {
    let (tls, root) = certificate("localhost");
    let sign_in = Some("AGFkYQBwQHNz");
    let server = Server::start(Manners { tls: Some(tls), sign_in, ..Manners::default() }, &[]);
    let url = format!("smtp://ada:p%40ss@localhost:{}?tls=required", server.port);
    assert_eq!(send(&url, ""), Err(Fault::Server));
    assert_eq!(server.heard(|heard| heard.verbs.join(" ")), "EHLO STARTTLS");
    assert_eq!(send(&url, &root), Ok(()));
    assert!(server.mails()[0].encrypted);
}

#[test]
fn a_server_without_starttls_hears_neither_password_nor_mail() {
    let check = |manners: Manners, acts: &[(&'static str, &[Act])]| {
        let server = Server::start(manners, acts);
        let url = format!("smtp://ada:p%40ss@localhost:{}?tls=required", server.port);
        assert_eq!(send(&url, ""), Err(Fault::Server));
        assert!(server.heard(|heard| !heard.verbs.iter().any(|verb| verb == "AUTH" || verb == "MAIL")));
    };
    let sign_in = Some("AGFkYQBwQHNz");
    check(Manners { sign_in, ..Manners::default() }, &[]);
    let (tls, _) = certificate("localhost");
    check(Manners { sign_in, tls: Some(tls), ..Manners::default() }, &[("STARTTLS", &[Act::Say("454 no")])]);
}

#[test]
fn answers_forged_before_tls_began_are_no_answers() {
    let check = |forged: &'static str| {
        let (tls, root) = certificate("localhost");
        let acts: [(_, &[Act]); 2] = [("STARTTLS", &[Act::Say(forged)]), ("RCPT", &[Act::Say("550 no")])];
        let server = Server::start(Manners { tls: Some(tls), ..Manners::default() }, &acts);
        let url = format!("smtp://localhost:{}?tls=required", server.port);
        assert!(send(&url, &root).is_err(), "{forged}");
        assert!(server.mails().is_empty(), "{forged}");
    };
    check("220 go on\r\n250 EHLO");
    check("220 go on\r\n250 EHLO\r\n250 MAIL");
    check("220 go on\r\n250 EHLO\r\n250 MAIL\r\n250 RCPT\r\n354 DATA\r\n250 taken");
    check("220 go on\r\nnonsense");
}

#[test]
fn roots_that_are_no_certificates_are_refused() {
    let url = || SmtpUrl::parse("smtps://localhost").unwrap();
    let broken = b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n";
    assert!(SmtpTransport::new(url(), sender(), broken).is_err());
    assert!(SmtpTransport::new(url(), sender(), b"").is_ok());
}
