//! The requests that the sender sends.

use std::collections::HashSet;
use std::time::Duration;

use guerdon_domain::providers::{FormerSecret, Provider};
use guerdon_webhook_dispatcher::{DeliveryRequest, EventSender as _, HttpSender};
use guerdon_webhooks::{Delivery, verify};

use super::fixture::{
    ALLOW_ALL, BODY, NOW, SECRET, assert_confirmed, attempt_delivery, attempt_with_body, create_sender,
    event_id, provider_with_url, sender_parts,
};
use super::receiver::{ReceivedRequest, Receiver};

const NEW_SECRET: &str = "gw_new";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

fn is_verified(request: &ReceivedRequest, url: &str) -> bool {
    is_verified_with(SECRET, request, url)
}

fn is_verified_with(secret: &str, request: &ReceivedRequest, url: &str) -> bool {
    let header = |name| request.header(name).unwrap();
    let delivery = Delivery {
        url,
        timestamp: header("X-Service-Timestamp"),
        nonce: header("X-Service-Nonce"),
        signature: header("X-Service-Signature"),
        body: &request.body,
    };
    verify(secret, &delivery, NOW.into()).is_ok()
}

#[test]
fn a_request_has_these_headers_and_no_others() {
    let receiver = Receiver::with_response(OK);
    assert_confirmed(&attempt_delivery(&create_sender(ALLOW_ALL), &receiver.url()));
    let request = receiver.requests.recv().unwrap();
    assert_eq!(request.line, "POST /hook HTTP/1.1");
    let mut names: Vec<_> = request.headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
    names.sort_unstable();
    let expected = [
        "accept-encoding",
        "content-length",
        "content-type",
        "host",
        "user-agent",
        "webhook-id",
        "webhook-signature",
        "webhook-timestamp",
        "x-service-event-id",
        "x-service-nonce",
        "x-service-signature",
        "x-service-timestamp",
    ];
    assert_eq!(names, expected);
    assert_eq!(request.header("host"), Some(receiver.address.to_string().as_str()));
    assert_eq!(request.header("user-agent"), Some("Guerdon-Webhooks"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("accept-encoding"), Some("identity"));
    assert_eq!(request.header("x-service-timestamp"), Some("2026-11-20T20:01:02.345Z"));
    assert_eq!(request.header("x-service-event-id"), Some(event_id().to_string().as_str()));
    assert_eq!(request.header("webhook-id"), request.header("x-service-event-id"));
    assert_eq!(request.header("webhook-timestamp"), Some("1795204862"));
    // Computed with openssl from the event's id, the timestamp and the body.
    let standard = "v1,o1BqBTgGxxBCw04xjOOh3TR/0rOiie8i5o+IW9ldTVQ=";
    assert_eq!(request.header("webhook-signature"), Some(standard));
    assert_eq!(request.body, BODY);
    let nonce = request.header("x-service-nonce").unwrap();
    assert!(
        nonce.len() == 32 && nonce.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
    );
    assert!(is_verified(&request, &receiver.url()));
}

#[test]
fn the_url_is_signed_as_registered_and_its_path_is_requested_as_registered() {
    let receiver = Receiver::with_response(OK);
    let check = |tail: &str, target: &str| {
        let url = format!("http://{}{tail}", receiver.address);
        assert_confirmed(&attempt_delivery(&create_sender(ALLOW_ALL), &url));
        let request = receiver.requests.recv().unwrap();
        assert_eq!(request.line, format!("POST {target} HTTP/1.1"));
        assert!(is_verified(&request, &url), "{url}");
    };
    check("", "/");
    check("/", "/");
    check("?x=1", "/?x=1");
    check("/?", "/?");
    check("/%7e/%7E/~", "/%7e/%7E/~");
    check("/a/../b/./c//d", "/a/../b/./c//d");
    check("/x?a=%20&b=+&c[]='", "/x?a=%20&b=+&c[]='");
    check("/ü", "/%C3%BC");
}

#[test]
fn every_attempt_has_a_new_nonce_and_the_same_body() {
    let receiver = Receiver::with_response(OK);
    let sender = create_sender(ALLOW_ALL);
    for body in [BODY, b"", b"\r\n", b"\xff\0", &[b'x'; 100_000]] {
        let requests: Vec<_> = (0..5)
            .map(|_| {
                assert_confirmed(&attempt_with_body(&sender, &receiver.url(), body));
                receiver.requests.recv().unwrap()
            })
            .collect();
        let nonces: HashSet<_> =
            requests.iter().map(|request| request.header("x-service-nonce").unwrap()).collect();
        assert_eq!(nonces.len(), 5);
        assert!(requests.iter().all(|request| request.body == body && is_verified(request, &receiver.url())));
    }
}

#[test]
fn during_a_grace_period_the_old_secret_signs_and_both_sign_the_standard_header() {
    let receiver = Receiver::with_response(OK);
    let mut provider = provider_with_url(Some(&receiver.url()));
    let former = |valid_until| Some(FormerSecret { secret: SECRET.bytes().rev().collect(), valid_until });
    provider.encrypted_shared_secret = NEW_SECRET.bytes().rev().collect();
    let check = |provider: &Provider, secret: &str, standard_signature: &str| {
        let delivery = DeliveryRequest { provider, event: event_id(), body: BODY };
        assert_confirmed(&create_sender(ALLOW_ALL).attempt_delivery(&delivery));
        let request = receiver.requests.recv().unwrap();
        assert!(is_verified_with(secret, &request, &receiver.url()));
        assert_eq!(request.header("webhook-signature"), Some(standard_signature));
    };
    let (old, new) = (
        "v1,o1BqBTgGxxBCw04xjOOh3TR/0rOiie8i5o+IW9ldTVQ=",
        "v1,R3IwVHluBClpuxacOM/Dq4kUgo0z3l7Ejmq+jzXij4w=",
    );
    provider.former_shared_secret = former(NOW.saturating_add(Duration::from_micros(1)));
    check(&provider, SECRET, &format!("{new} {old}"));
    provider.former_shared_secret = former(NOW);
    check(&provider, NEW_SECRET, new);
}

#[test]
fn a_connection_is_reused_for_the_next_attempt() {
    let receiver = Receiver::with_response("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let sender = create_sender(ALLOW_ALL);
    for _ in 0..10 {
        assert_eq!(attempt_delivery(&sender, &receiver.url()).response_body, b"ok");
    }
    assert_eq!(receiver.connection_count(), 1);
}

#[test]
fn a_pooled_connection_that_the_receiver_closed_is_not_used() {
    let receiver = Receiver::responding_with(|stream| {
        std::io::Write::write_all(stream, OK.as_bytes())?;
        stream.shutdown(std::net::Shutdown::Both)
    });
    let mut parts = sender_parts(ALLOW_ALL);
    // Idle connections are not reused here, because the sender might send the next request before it learns that the
    // receiver has closed the connection.
    parts.limits.idle_connection_timeout = Duration::ZERO;
    let sender = HttpSender::new(parts).unwrap();
    for _ in 0..5 {
        assert_confirmed(&attempt_delivery(&sender, &receiver.url()));
    }
    assert_eq!(receiver.connection_count(), 5);
}
