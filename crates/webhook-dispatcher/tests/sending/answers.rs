//! How the sender treats responses.

use std::io::Write;
use std::time::Duration;

use guerdon_webhook_dispatcher::{Courier, Order};

use super::receiver::{Receiver, Trap, write_for_ever};
use super::setting::{OPEN, assert_confirmed, attempt, event, provider, sender};

fn saying(status: u16, more: &str) -> Receiver {
    Receiver::saying(format!("HTTP/1.1 {status} Whatever\r\n{more}Content-Length: 5\r\n\r\nhello"))
}

#[test]
fn only_status_200_confirms() {
    for status in [201, 202, 203, 206, 300, 400, 401, 404, 410, 429, 500, 503, 599] {
        let receiver = saying(status, "");
        let outcome = attempt(&sender(OPEN), &receiver.url());
        assert_eq!(outcome.status, Some(status));
        assert_eq!(outcome.cause, Some(format!("answered with status {status}")));
        assert_eq!(outcome.answer, b"hello");
    }
    assert_confirmed(&attempt(&sender(OPEN), &saying(200, "").url()));
    let nothing = Receiver::saying("HTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!(attempt(&sender(OPEN), &nothing.url()).status, Some(204));
    let switched =
        Receiver::saying("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n");
    assert_ne!(attempt(&sender(OPEN), &switched.url()).cause, None);
}

#[test]
fn no_redirect_is_followed() {
    let trap = Trap::new();
    for status in [301, 302, 303, 307, 308] {
        let receiver = saying(status, &format!("Location: http://{}/\r\n", trap.address()));
        let outcome = attempt(&sender(OPEN), &receiver.url());
        assert_eq!(outcome.status, Some(status));
        assert_eq!(outcome.cause, Some(format!("answered with status {status}")));
    }
    let refreshing = saying(200, &format!("Refresh: 0; url=http://{}/\r\n", trap.address()));
    assert_confirmed(&attempt(&sender(OPEN), &refreshing.url()));
    trap.assert_untouched();
}

#[test]
fn the_first_kibibyte_of_the_body_is_stored() {
    let body: String = (b'a'..=b'z').cycle().take(5_000).map(char::from).collect();
    let receiver = Receiver::saying(format!("HTTP/1.1 500 Oh\r\nContent-Length: 5000\r\n\r\n{body}"));
    let sender = sender(OPEN);
    for _ in 0..2 {
        assert_eq!(attempt(&sender, &receiver.url()).answer, &body.as_bytes()[..1024]);
    }
    assert_eq!(receiver.connections(), 1, "the body was read to its end, so the connection is kept open");
}

#[test]
fn an_endless_body_after_200_confirms() {
    for head in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n"] {
        let receiver = Receiver::answering(move |stream| {
            stream.write_all(head.as_bytes())?;
            write_for_ever(stream, &[b'x'; 1000])
        });
        let outcome = attempt(&sender(OPEN), &receiver.url());
        assert_confirmed(&outcome);
        assert_eq!(outcome.answer, [b'x'; 1024]);
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
        let receiver = Receiver::saying(head);
        let outcome = attempt(&sender(OPEN), &receiver.url());
        assert_confirmed(&outcome);
        assert!(outcome.duration >= Duration::from_millis(900), "{:?}", outcome.duration);
        assert!(outcome.duration < Duration::from_secs(10), "{:?}", outcome.duration);
    }
}

#[test]
fn a_broken_body_after_200_confirms() {
    for answer in [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Encoding: gzip\r\n\r\nabc",
        "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc",
    ] {
        assert_confirmed(&attempt(&sender(OPEN), &Receiver::saying(answer).url()));
    }
}

#[test]
fn informational_responses_are_skipped() {
    let receiver = Receiver::saying(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
         HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    );
    assert_confirmed(&attempt(&sender(OPEN), &receiver.url()));
}

#[test]
fn an_unsendable_request_is_a_failed_attempt() {
    let sender = sender(OPEN);
    let check = |provider: &guerdon_domain::providers::Provider, cause: &str| {
        let outcome = sender.attempt(&Order { provider, event: event(), body: b"{}" });
        assert_eq!((outcome.status, outcome.cause.as_deref()), (None, Some(cause)));
    };
    check(&provider(None), "there is no callback URL");
    check(&provider(Some("https://e.com/#x")), "callback_url must have no fragment");
    let mut sealed = provider(Some("http://127.0.0.1:1/"));
    sealed.shared_secret_sealed = vec![0xff];
    check(&sealed, "the shared secret cannot be opened with this master key");
}
