//! Failing receivers: every response other than status 200 is retried, with the same bytes and a new signature.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver as Handshakes};

use rustls::ServerConfig;
use rustls_pki_types::PrivateKeyDer;
use serde_json::json;

use super::{ALLOW_LOCAL_RECEIVERS, FAST_RETRIES, WebhookFixture, run_event_list, wait_for_state};
use crate::support::receiver::{RECEIVE_TIMEOUT, Reply, WebhookReceiver};
use crate::support::{for_each_database_with, wait_until};

#[test]
fn every_status_other_than_200_is_retried() {
    for_each_database_with(&FAST_RETRIES, |service| {
        let (fixture, elsewhere) = (WebhookFixture::create(service, 2), WebhookReceiver::start().unwrap());
        let mut events = Vec::new();
        for fault in faulty_replies(&elsewhere.url()) {
            fixture.receiver.queue_replies([fault.clone()]);
            fixture.send_recognition(service);
            let (first, second) = (fixture.next(), fixture.next());
            assert_eq!(first.event_id(), second.event_id(), "{fault:?}");
            assert_eq!(first.body, second.body);
            assert_ne!(first.header("X-Service-Nonce"), second.header("X-Service-Nonce"));
            events.push(first.event_id().to_owned());
        }
        let expected = i64::try_from(events.len()).unwrap();
        wait_until("all events should be delivered", || {
            (service.database.count_rows("deliveries WHERE state = 2") == expected).then_some(())
        });
        let delivered = run_event_list(service, &["--state", "delivered"]);
        for event in &events {
            let row = delivered.iter().find(|row| row["id"] == *event).unwrap();
            assert_eq!((&row["attempts"], &row["next_attempt_at"]), (&json!(2), &json!(null)));
        }
        assert_eq!(elsewhere.connection_count(), 0, "a redirect is not followed");
        assert_eq!(fixture.receiver.unread_requests().len(), 0);
    });
}

fn faulty_replies(elsewhere: &str) -> Vec<Reply> {
    let mut all: Vec<Reply> = [201, 202, 204, 206, 400, 404, 500, 503].map(Reply::Status).into();
    all.extend([301, 302, 303, 307, 308].map(|status| Reply::Redirect(status, elsewhere.to_owned())));
    all.extend([
        Reply::Redirect(200 + 5, elsewhere.to_owned()),
        Reply::Reset,
        Reply::Bytes(b""),
        Reply::Bytes(b"\0\x01\x02 200 OK\r\n\r\n"),
        Reply::Bytes(b"220 mail.example.com ESMTP ready\r\n"),
        Reply::Bytes(b"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n"),
        Reply::Bytes(b"HTTP/1.1 20"),
        Reply::Endless(b"HTTP/1.1 200 OK\r\n", b"X-Filler: nothing that anybody needs\r\n"),
        Reply::Endless(b"HTTP/1.1 200 OK\r\nX-Filler: ", b"and so on "),
        Reply::Endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        Reply::Endless(b"", b"\r\n"),
    ]);
    all
}

#[test]
fn a_200_confirms_regardless_of_its_body() {
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let fixture = WebhookFixture::create(service, 2);
        let bodies = [
            Reply::Endless(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", &[b'x'; 1024]),
            Reply::SilentBody,
            Reply::Bytes(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno chunk"),
            Reply::Bytes(b"HTTP/1.0 200 All right\r\n\r\n"),
        ];
        for reply in bodies {
            fixture.receiver.queue_replies([reply.clone()]);
            fixture.send_recognition(service);
            let arrival = fixture.next();
            let row = wait_for_state(service, arrival.event_id(), "delivered");
            assert_eq!(row["attempts"], 1, "{reply:?}");
            assert!(
                arrival.received_at.elapsed().as_secs() < 4,
                "reading a body takes at most a second: {reply:?}"
            );
        }
        assert_eq!(
            service.database.count_rows("attempts WHERE length(response) = 1024"),
            1,
            "one KiB is stored"
        );
        fixture.send_recognition(service);
        fixture.next();
        assert_eq!(fixture.receiver.unread_requests().len(), 0);
    });
}

#[test]
fn an_untrusted_certificate_is_rejected() {
    for_each_database_with(&FAST_RETRIES, |service| {
        let fixture = WebhookFixture::create(service, 2);
        let (port, handshakes) = serve_self_signed();
        let provider = fixture.sample.provider.id.as_str();
        let url = format!("https://127.0.0.1:{port}/hook");
        service.run_json_command(&["provider", "set", provider, "--callback-url", &url]);
        fixture.send_recognition(service);
        for _ in 0..3 {
            assert!(handshakes.recv_timeout(RECEIVE_TIMEOUT).unwrap().is_err());
        }
        service.run_json_command(&["provider", "set", provider, "--callback-url", &fixture.url]);
        let arrival = fixture.next();
        let row = wait_for_state(service, arrival.event_id(), "delivered");
        assert!(row["attempts"].as_u64().unwrap() >= 4, "{row}");
    });
}

/// A TLS server with a self-signed certificate. Reports the result of each handshake.
fn serve_self_signed() -> (u16, Handshakes<std::io::Result<()>>) {
    let generated = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(generated.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![generated.cert.der().clone()], key);
    let config = Arc::new(config.unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, handshakes) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut result = Ok(());
            while connection.is_handshaking() && result.is_ok() {
                result = connection.complete_io(&mut stream).map(drop);
            }
            if result.is_ok() {
                result = connection.complete_io(&mut stream).map(drop); // reads the client's reaction
            }
            if sender.send(result).is_err() {
                return;
            }
        }
    });
    (port, handshakes)
}
