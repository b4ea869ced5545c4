//! How the sender treats responses.

use std::io::Write;
use std::time::Duration;

use guerdon_domain::providers::{FormerSecret, Provider};
use guerdon_webhook_dispatcher::{DeliveryRequest, EventSender};

use super::fixture::{
    ALLOW_ALL, NOW, assert_confirmed, attempt_delivery, create_sender, event_id, provider_with_url,
};
use super::receiver::{ForbiddenPort, Receiver, write_endlessly};

fn receiver_with_status(status: u16, more: &str) -> Receiver {
    Receiver::with_response(format!("HTTP/1.1 {status} Whatever\r\n{more}Content-Length: 5\r\n\r\nhello"))
}

#[test]
fn only_status_200_confirms() {
    for status in [201, 202, 203, 206, 300, 400, 401, 404, 410, 429, 500, 503, 599] {
        let receiver = receiver_with_status(status, "");
        let outcome = attempt_delivery(&create_sender(ALLOW_ALL), &receiver.url());
        assert_eq!(outcome.status, Some(status));
        assert_eq!(outcome.failure, Some(format!("returned status {status}")));
        assert_eq!(outcome.response_body, b"hello");
    }
    assert_confirmed(&attempt_delivery(&create_sender(ALLOW_ALL), &receiver_with_status(200, "").url()));
    let nothing = Receiver::with_response("HTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!(attempt_delivery(&create_sender(ALLOW_ALL), &nothing.url()).status, Some(204));
    let switched = Receiver::with_response(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    );
    assert_ne!(attempt_delivery(&create_sender(ALLOW_ALL), &switched.url()).failure, None);
}

#[test]
fn no_redirect_is_followed() {
    let trap = ForbiddenPort::new();
    for status in [301, 302, 303, 307, 308] {
        let receiver = receiver_with_status(status, &format!("Location: http://{}/\r\n", trap.address()));
        let outcome = attempt_delivery(&create_sender(ALLOW_ALL), &receiver.url());
        assert_eq!(outcome.status, Some(status));
        assert_eq!(outcome.failure, Some(format!("returned status {status}")));
    }
    let refreshing = receiver_with_status(200, &format!("Refresh: 0; url=http://{}/\r\n", trap.address()));
    assert_confirmed(&attempt_delivery(&create_sender(ALLOW_ALL), &refreshing.url()));
    trap.assert_untouched();
}

#[test]
fn characters_of_several_bytes_are_stored_whole() {
    let body = "é\u{1f389}".repeat(1_000);
    let head = format!("HTTP/1.1 500 Oh\r\nContent-Length: {}\r\n\r\n", body.len());
    let receiver = Receiver::with_response(format!("{head}{body}"));
    let outcome = attempt_delivery(&create_sender(ALLOW_ALL), &receiver.url());
    assert_eq!(String::from_utf8(outcome.response_body).unwrap(), "é\u{1f389}".repeat(512));
}

#[test]
fn the_first_characters_of_the_body_are_stored() {
    let body: String = (b'a'..=b'z').cycle().take(5_000).map(char::from).collect();
    let receiver = Receiver::with_response(format!("HTTP/1.1 500 Oh\r\nContent-Length: 5000\r\n\r\n{body}"));
    let sender = create_sender(ALLOW_ALL);
    for _ in 0..2 {
        assert_eq!(attempt_delivery(&sender, &receiver.url()).response_body, &body.as_bytes()[..1024]);
    }
    assert_eq!(
        receiver.connection_count(),
        1,
        "the body was read to its end, so the connection is kept open"
    );
}

#[test]
fn the_headers_of_a_failed_attempt_are_stored_without_cookies() {
    let long = "x".repeat(900);
    let check = |status: u16, headers: &str, expected: Option<&str>| {
        let receiver = receiver_with_status(status, headers);
        let outcome = attempt_delivery(&create_sender(ALLOW_ALL), &receiver.url());
        let stored = outcome.response_headers.map(|headers| {
            headers.lines().filter(|line| !line.starts_with("content-length")).collect::<Vec<_>>().join("|")
        });
        assert_eq!(stored.as_deref(), expected, "{status}");
    };
    check(503, "Server: nginx\r\nRetry-After: 5\r\n", Some("server: nginx|retry-after: 5"));
    check(401, "Set-Cookie: id=secret\r\n", Some("set-cookie: …"));
    check(500, &format!("A: 1\r\nB: {long}\r\nC: {long}\r\n"), Some(&format!("a: 1|b: {long}")));
    check(200, "Server: nginx\r\n", None);
}

#[test]
fn an_endless_body_after_200_confirms() {
    for head in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n"] {
        let receiver = Receiver::responding_with(move |stream| {
            stream.write_all(head.as_bytes())?;
            write_endlessly(stream, &[b'x'; 1000])
        });
        let outcome = attempt_delivery(&create_sender(ALLOW_ALL), &receiver.url());
        assert_confirmed(&outcome);
        assert_eq!(outcome.response_body, [b'x'; 1024]);
    }
}

#[test]
fn a_body_that_never_ends_after_200_confirms_within_a_second() {
    for head in [
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
    ] {
        let receiver = Receiver::with_response(head);
        let outcome = attempt_delivery(&create_sender(ALLOW_ALL), &receiver.url());
        assert_confirmed(&outcome);
        assert!(outcome.duration >= Duration::from_millis(900), "{:?}", outcome.duration);
        assert!(outcome.duration < Duration::from_secs(10), "{:?}", outcome.duration);
    }
}

#[test]
fn a_broken_body_after_200_confirms() {
    for response in [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Encoding: gzip\r\n\r\nabc",
        "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc",
    ] {
        assert_confirmed(&attempt_delivery(
            &create_sender(ALLOW_ALL),
            &Receiver::with_response(response).url(),
        ));
    }
}

#[test]
fn informational_responses_are_skipped() {
    let receiver = Receiver::with_response(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
         HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    );
    assert_confirmed(&attempt_delivery(&create_sender(ALLOW_ALL), &receiver.url()));
}

#[test]
fn an_unsendable_request_is_a_failed_attempt() {
    let sender = create_sender(ALLOW_ALL);
    let check = |provider: &Provider, cause: &str| {
        let outcome = sender.attempt_delivery(&DeliveryRequest { provider, event: event_id(), body: b"{}" });
        assert_eq!((outcome.status, outcome.failure.as_deref()), (None, Some(cause)));
    };
    check(&provider_with_url(None), "there is no callback URL");
    check(&provider_with_url(Some("https://e.com/#x")), "callback_url must have no fragment");
    let mut sealed = provider_with_url(Some("http://127.0.0.1:1/"));
    sealed.encrypted_shared_secret = vec![0xff];
    check(&sealed, "the shared secret cannot be decrypted with this master key");
    let mut former = provider_with_url(Some("http://127.0.0.1:1/"));
    let valid_until = NOW.saturating_add(Duration::from_secs(1));
    former.former_shared_secret = Some(FormerSecret { secret: vec![0xff], valid_until });
    check(&former, "the shared secret cannot be decrypted with this master key");
}
