//! The requests that the sender sends.

use std::collections::HashSet;

use guerdon_webhook_dispatcher::HttpCourier;
use guerdon_webhooks::{Delivery, verify};

use super::receiver::{Receiver, Request};
use super::setting::{
    BODY, NOW, OPEN, SECRET, assert_confirmed, attempt, attempt_with, event, parts, sender,
};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

fn verified(request: &Request, url: &str) -> bool {
    let header = |name| request.header(name).unwrap();
    let delivery = Delivery {
        url,
        timestamp: header("X-Service-Timestamp"),
        nonce: header("X-Service-Nonce"),
        signature: header("X-Service-Signature"),
        body: &request.body,
    };
    verify(SECRET, &delivery, NOW.into()).is_ok()
}

#[test]
fn a_request_has_these_headers_and_no_others() {
    let receiver = Receiver::saying(OK);
    assert_confirmed(&attempt(&sender(OPEN), &receiver.url()));
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
    assert_eq!(request.header("x-service-event-id"), Some(event().to_string().as_str()));
    assert_eq!(request.body, BODY);
    let nonce = request.header("x-service-nonce").unwrap();
    assert!(
        nonce.len() == 32 && nonce.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
    );
    assert!(verified(&request, &receiver.url()));
}

#[test]
fn the_url_is_signed_as_registered_and_its_path_is_requested_as_registered() {
    let receiver = Receiver::saying(OK);
    let check = |tail: &str, target: &str| {
        let url = format!("http://{}{tail}", receiver.address);
        assert_confirmed(&attempt(&sender(OPEN), &url));
        let request = receiver.requests.recv().unwrap();
        assert_eq!(request.line, format!("POST {target} HTTP/1.1"));
        assert!(verified(&request, &url), "{url}");
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
    let receiver = Receiver::saying(OK);
    let sender = sender(OPEN);
    for body in [BODY, b"", b"\r\n", b"\xff\0", &[b'x'; 100_000]] {
        let requests: Vec<_> = (0..5)
            .map(|_| {
                assert_confirmed(&attempt_with(&sender, &receiver.url(), body));
                receiver.requests.recv().unwrap()
            })
            .collect();
        let nonces: HashSet<_> =
            requests.iter().map(|request| request.header("x-service-nonce").unwrap()).collect();
        assert_eq!(nonces.len(), 5);
        assert!(requests.iter().all(|request| request.body == body && verified(request, &receiver.url())));
    }
}

#[test]
fn a_connection_is_kept_for_the_next_attempt() {
    let receiver = Receiver::saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let sender = sender(OPEN);
    for _ in 0..10 {
        assert_eq!(attempt(&sender, &receiver.url()).answer, b"ok");
    }
    assert_eq!(receiver.connections(), 1);
}

#[test]
fn a_kept_connection_that_the_receiver_closed_is_not_used() {
    let receiver = Receiver::answering(|stream| {
        std::io::Write::write_all(stream, OK.as_bytes())?;
        stream.shutdown(std::net::Shutdown::Both)
    });
    let mut parts = parts(OPEN);
    // Without a short pause, the request could be sent before the sender learns that the connection is closed.
    parts.limits.keep_alive_max = std::time::Duration::ZERO;
    let sender = HttpCourier::new(parts).unwrap();
    for _ in 0..5 {
        assert_confirmed(&attempt(&sender, &receiver.url()));
    }
    assert_eq!(receiver.connections(), 5);
}
