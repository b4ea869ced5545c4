//! Certificates.

use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;

use guerdon_webhook_dispatcher::{EgressPolicy, HttpSender, HttpSenderError, TrustedRoots};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::fixture::{ScriptedResolver, assert_confirmed, attempt_delivery, failure_of, sender_parts};
use super::receiver::{Receiver, read_request, wait_for_close};

const POLICY: EgressPolicy = EgressPolicy { allow_http: false, allow_private_networks: true };

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn pem(&self) -> Vec<u8> {
        self.0.pem().into_bytes()
    }

    /// Starts a receiver with a certificate for this name that expires at the end of `last_year`.
    fn start_receiver(&self, name: &str, last_year: i32) -> Receiver {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(last_year, 12, 31);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        let config = Arc::new(config);
        Receiver::with_handler((Ipv4Addr::LOCALHOST, 0).into(), move |stream, requests| {
            let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
            while let Some(request) = read_request(&mut stream) {
                requests.send(request).unwrap_or_default();
                let response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                std::io::Write::write_all(&mut stream, response).unwrap_or_default();
            }
        })
    }
}

fn sender_with_roots(roots: TrustedRoots) -> HttpSender {
    let mut parts = sender_parts(POLICY);
    parts.roots = roots;
    parts.resolver = ScriptedResolver::with_name("receiver.example", &[&["127.0.0.1"]]);
    HttpSender::new(parts).unwrap()
}

fn receiver_url(receiver: &Receiver) -> String {
    format!("https://receiver.example:{}/hook", receiver.address.port())
}

#[test]
fn a_certificate_of_a_trusted_authority_is_accepted_and_the_connection_reused() {
    let authority = Authority::new();
    let receiver = authority.start_receiver("receiver.example", 2099);
    let sender = sender_with_roots(TrustedRoots::Only(authority.pem()));
    let url = receiver_url(&receiver);
    // Sender threads have small stacks. A handshake must fit into half of that.
    let attempts = std::thread::Builder::new().stack_size(256 * 1024);
    std::thread::scope(|scope| {
        let attempts = attempts.spawn_scoped(scope, || {
            for _ in 0..3 {
                let outcome = attempt_delivery(&sender, &url);
                assert_confirmed(&outcome);
                assert_eq!(outcome.response_body, b"ok");
            }
        });
        attempts.unwrap().join().unwrap();
    });
    assert_eq!(receiver.connection_count(), 1);
    let upper_case = format!("https://Receiver.EXAMPLE:{}/hook", receiver.address.port());
    assert_confirmed(&attempt_delivery(&sender, &upper_case));
}

#[test]
fn an_invalid_certificate_is_a_failed_attempt() {
    let authority = Authority::new();
    let check = |receiver: Receiver, roots: TrustedRoots, expected: &str| {
        let outcome = attempt_delivery(&sender_with_roots(roots), &receiver_url(&receiver));
        let failure = failure_of(&outcome);
        assert!(failure.starts_with("TLS: ") && failure.contains(expected), "{failure}");
        assert_eq!(receiver.requests.try_iter().count(), 0, "no request may be sent");
    };
    let ours = || TrustedRoots::Only(authority.pem());
    check(authority.start_receiver("receiver.example", 2099), TrustedRoots::Public, "UnknownIssuer");
    check(Authority::new().start_receiver("receiver.example", 2099), ours(), "invalid peer certificate");
    check(authority.start_receiver("receiver.example", 2021), ours(), "expired");
    check(authority.start_receiver("another.example", 2099), ours(), "not valid for name");
}

#[test]
fn a_receiver_without_tls_is_a_failed_attempt() {
    let plain = Receiver::with_handler((Ipv4Addr::LOCALHOST, 0).into(), |mut stream: TcpStream, _| {
        std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        wait_for_close(&mut stream);
    });
    let outcome = attempt_delivery(&sender_with_roots(TrustedRoots::Public), &receiver_url(&plain));
    assert!(failure_of(&outcome).starts_with("TLS: "));
}

#[test]
fn a_handshake_that_never_ends_times_out() {
    let silent = Receiver::with_handler((Ipv4Addr::LOCALHOST, 0).into(), |mut stream: TcpStream, _| {
        wait_for_close(&mut stream);
    });
    let mut parts = sender_parts(POLICY);
    parts.limits.connect_timeout = std::time::Duration::from_millis(300);
    parts.resolver = ScriptedResolver::with_name("receiver.example", &[&["127.0.0.1"]]);
    let outcome = attempt_delivery(&HttpSender::new(parts).unwrap(), &receiver_url(&silent));
    assert_eq!(failure_of(&outcome), "no connection in time");
}

#[test]
fn roots_must_be_certificates() {
    for pem in
        [b"".as_slice(), b"no certificate", b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"]
    {
        let mut parts = sender_parts(POLICY);
        parts.roots = TrustedRoots::Only(pem.to_vec());
        assert!(matches!(HttpSender::new(parts), Err(HttpSenderError::Roots)));
    }
}
