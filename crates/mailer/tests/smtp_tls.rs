//! Emails over TLS.

use std::sync::Arc;

use guerdon_mailer::{FailureKind, MailTransport, SmtpTransport, SmtpUrl};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::support::server::{Server, ServerAction, ServerOptions};
use crate::support::{from_address, new_mail};

/// Creates a self-signed certificate for this host name. Returns the TLS configuration of a server that uses it, and
/// the certificate in PEM, for clients to trust.
fn self_signed_certificate(name: &str) -> (Arc<ServerConfig>, String) {
    let generated = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(generated.signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![generated.cert.der().clone()], key)
        .unwrap();
    (Arc::new(config), generated.cert.pem())
}

fn send_one(url: &str, root: &str) -> Result<(), FailureKind> {
    let url = SmtpUrl::parse(url).unwrap();
    let mut transport = SmtpTransport::new(url, from_address(), root.as_bytes()).unwrap();
    transport.send_mail(&new_mail(1)).map_err(|failure| failure.kind())
}

#[test]
fn implicit_tls_requires_a_valid_certificate() {
    let (tls, root) = self_signed_certificate("localhost");
    let server =
        Server::start(ServerOptions { tls: Some(tls), wrapped: true, ..ServerOptions::default() }, &[]);
    let url = format!("smtps://localhost:{}", server.port);
    assert_eq!(send_one(&url, ""), Err(FailureKind::Server));
    let (_, other) = self_signed_certificate("localhost");
    assert_eq!(send_one(&url, &other), Err(FailureKind::Server));
    assert_eq!(send_one(&format!("smtps://127.0.0.1:{}", server.port), &root), Err(FailureKind::Server));
    assert!(server.inspect_log(|log| log.verbs.is_empty()));
    assert_eq!(send_one(&url, &root), Ok(()));
    assert!(server.received_mails()[0].encrypted);
}

#[test]
fn starttls_precedes_any_mail() {
    let (tls, root) = self_signed_certificate("localhost");
    let sign_in = Some("AGFkYQBwQHNz");
    let server = Server::start(ServerOptions { tls: Some(tls), sign_in, ..ServerOptions::default() }, &[]);
    let url = format!("smtp://ada:p%40ss@localhost:{}?tls=required", server.port);
    assert_eq!(send_one(&url, ""), Err(FailureKind::Server));
    assert_eq!(server.inspect_log(|log| log.verbs.join(" ")), "EHLO STARTTLS");
    assert_eq!(send_one(&url, &root), Ok(()));
    assert!(server.received_mails()[0].encrypted);
}

#[test]
fn a_server_without_starttls_gets_neither_password_nor_mail() {
    let check = |options: ServerOptions, actions: &[(&'static str, &[ServerAction])]| {
        let server = Server::start(options, actions);
        let url = format!("smtp://ada:p%40ss@localhost:{}?tls=required", server.port);
        assert_eq!(send_one(&url, ""), Err(FailureKind::Server));
        assert!(server.inspect_log(|log| !log.verbs.iter().any(|verb| verb == "AUTH" || verb == "MAIL")));
    };
    let sign_in = Some("AGFkYQBwQHNz");
    check(ServerOptions { sign_in, ..ServerOptions::default() }, &[]);
    let (tls, _) = self_signed_certificate("localhost");
    check(
        ServerOptions { sign_in, tls: Some(tls), ..ServerOptions::default() },
        &[("STARTTLS", &[ServerAction::Respond("454 no")])],
    );
}

#[test]
fn responses_injected_before_tls_are_rejected() {
    let check = |forged: &'static str| {
        let (tls, root) = self_signed_certificate("localhost");
        let actions: [(_, &[ServerAction]); 2] =
            [("STARTTLS", &[ServerAction::Respond(forged)]), ("RCPT", &[ServerAction::Respond("550 no")])];
        let server = Server::start(ServerOptions { tls: Some(tls), ..ServerOptions::default() }, &actions);
        let url = format!("smtp://localhost:{}?tls=required", server.port);
        assert!(send_one(&url, &root).is_err(), "{forged}");
        assert!(server.received_mails().is_empty(), "{forged}");
    };
    check("220 go on\r\n250 EHLO");
    check("220 go on\r\n250 EHLO\r\n250 MAIL");
    check("220 go on\r\n250 EHLO\r\n250 MAIL\r\n250 RCPT\r\n354 DATA\r\n250 taken");
    check("220 go on\r\nnonsense");
}

#[test]
fn roots_that_are_not_certificates_are_refused() {
    let url = || SmtpUrl::parse("smtps://localhost").unwrap();
    let broken = b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n";
    assert!(SmtpTransport::new(url(), from_address(), broken).is_err());
    assert!(SmtpTransport::new(url(), from_address(), b"").is_ok());
}
