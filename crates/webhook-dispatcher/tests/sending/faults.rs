//! Receivers that do not respond, or do not speak HTTP.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use guerdon_webhook_dispatcher::HttpSender;

use super::fixture::{
    ALLOW_ALL, attempt_delivery, create_sender, failure_of, impatient_sender, sender_parts,
};
use super::receiver::{Receiver, read_request, wait_for_close, write_endlessly};

fn any_local_port() -> std::net::SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

#[test]
fn a_receiver_that_never_responds_times_out() {
    let silent = Receiver::responding_with(|stream| {
        wait_for_close(stream);
        Ok(())
    });
    assert_eq!(failure_of(&attempt_delivery(&impatient_sender(), &silent.url())), "no response in time");
    let deaf = Receiver::with_handler(any_local_port(), |mut stream, _| wait_for_close(&mut stream));
    assert_eq!(failure_of(&attempt_delivery(&impatient_sender(), &deaf.url())), "no response in time");
    let not_accepting = TcpListener::bind(any_local_port()).unwrap();
    let url = format!("http://{}/", not_accepting.local_addr().unwrap());
    assert_eq!(failure_of(&attempt_delivery(&impatient_sender(), &url)), "no response in time");
}

#[test]
fn a_receiver_that_stops_within_the_head_times_out() {
    for beginning in
        ["H", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 100 Continue\r\n\r\n"]
    {
        let receiver = Receiver::with_response(beginning);
        assert_eq!(
            failure_of(&attempt_delivery(&impatient_sender(), &receiver.url())),
            "no response in time",
            "{beginning:?}"
        );
    }
}

#[test]
fn a_head_that_drips_times_out() {
    let receiver = Receiver::responding_with(|stream| {
        stream.set_read_timeout(Some(Duration::from_millis(10)))?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nX: ")?;
        loop {
            // The sender sends nothing more, so this read only waits.
            let _timeout = stream.read(&mut [0]);
            stream.write_all(b"x")?;
        }
    });
    let outcome = attempt_delivery(&impatient_sender(), &receiver.url());
    assert_eq!(failure_of(&outcome), "no response in time");
    assert!(outcome.duration < Duration::from_secs(5), "{:?}", outcome.duration);
}

#[test]
fn a_receiver_that_reads_nothing_times_out() {
    let receiver = Receiver::with_handler(any_local_port(), |stream, _| {
        let (_stay, wait) = std::sync::mpsc::channel::<()>();
        let _stream = stream;
        let _nothing_comes = wait.recv();
    });
    let provider = super::fixture::provider_with_url(Some(&receiver.url()));
    let body = vec![b'x'; 20_000_000];
    let request = guerdon_webhook_dispatcher::DeliveryRequest {
        provider: &provider,
        event: super::fixture::event_id(),
        body: &body,
    };
    let outcome = guerdon_webhook_dispatcher::EventSender::attempt_delivery(&impatient_sender(), &request);
    assert_eq!(failure_of(&outcome), "no response in time");
}

#[test]
fn a_receiver_that_closes_or_resets_is_a_failed_attempt() {
    let closing = Receiver::responding_with(|stream| stream.shutdown(std::net::Shutdown::Both));
    assert_eq!(
        failure_of(&attempt_delivery(&create_sender(ALLOW_ALL), &closing.url())),
        "connection closed without a response"
    );
    let half = Receiver::responding_with(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-")?;
        stream.shutdown(std::net::Shutdown::Both)
    });
    assert_eq!(
        failure_of(&attempt_delivery(&create_sender(ALLOW_ALL), &half.url())),
        "connection closed without a response"
    );
    // Closing a connection with unread bytes resets it.
    let resetting = Receiver::with_handler(any_local_port(), |mut stream, _| {
        let _first = stream.read(&mut [0]);
    });
    assert_eq!(
        failure_of(&attempt_delivery(&create_sender(ALLOW_ALL), &resetting.url())),
        "connection reset"
    );
}

#[test]
fn a_refused_connection_is_a_failed_attempt() {
    let url = {
        let gone = TcpListener::bind(any_local_port()).unwrap();
        format!("http://{}/", gone.local_addr().unwrap())
    };
    assert_eq!(failure_of(&attempt_delivery(&create_sender(ALLOW_ALL), &url)), "connection refused");
}

#[test]
fn an_endless_head_is_cut_off() {
    let lines = Receiver::responding_with(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
        write_endlessly(stream, b"X-More: and more\r\n")
    });
    let line = Receiver::responding_with(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nX-Long: ")?;
        write_endlessly(stream, b"xxxxxxxxxxxxxxxx")
    });
    let status = Receiver::responding_with(|stream| write_endlessly(stream, b"HTTP/1.1 200 OOOO"));
    for receiver in [lines, line, status] {
        let outcome = attempt_delivery(&create_sender(ALLOW_ALL), &receiver.url());
        let failure = failure_of(&outcome);
        assert!(
            ["the response headers are too long", "the response is not HTTP"].contains(&failure),
            "{failure}"
        );
    }
}

#[test]
fn a_flood_of_informational_responses_is_cut_off() {
    for flood in ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"] {
        let receiver = Receiver::responding_with(|stream| write_endlessly(stream, flood.as_bytes()));
        let outcome = attempt_delivery(&create_sender(ALLOW_ALL), &receiver.url());
        let failure = failure_of(&outcome);
        let causes = ["the response is too large", "the response headers are too long"];
        assert!(causes.contains(&failure), "{failure}");
    }
}

#[test]
fn a_response_that_is_not_http_is_a_failed_attempt() {
    for response in
        ["SSH-2.0-OpenSSH_9.6\r\n\r\n", "\0\0\0\0", "HTTP/2 200\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n"]
    {
        let receiver = Receiver::with_handler(any_local_port(), |mut stream, _| {
            read_request(&mut stream);
            stream.write_all(response.as_bytes()).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            wait_for_close(&mut stream);
        });
        let outcome = attempt_delivery(&create_sender(ALLOW_ALL), &receiver.url());
        assert!(!failure_of(&outcome).contains("SSH"), "the report must not contain the response");
    }
}

#[test]
fn an_unknown_name_is_a_failed_attempt() {
    assert_eq!(
        failure_of(&attempt_delivery(&create_sender(ALLOW_ALL), "http://nobody.example/")),
        "the host name is unknown"
    );
}

#[test]
fn a_name_that_is_not_resolved_in_time_is_a_failed_attempt() {
    struct Hanging(std::sync::Mutex<std::sync::mpsc::Receiver<()>>);
    impl guerdon_webhook_dispatcher::HostResolver for Hanging {
        fn resolve_host(&self, _name: &str) -> std::io::Result<Vec<std::net::IpAddr>> {
            let _nothing_comes = self.0.lock().unwrap().recv();
            Ok(Vec::new())
        }
    }
    let (_stay, never) = std::sync::mpsc::channel();
    let mut parts = sender_parts(ALLOW_ALL);
    parts.resolver = std::sync::Arc::new(Hanging(std::sync::Mutex::new(never)));
    parts.limits.resolve_timeout = Duration::from_millis(50);
    let sender = HttpSender::new(parts).unwrap();
    for _ in 0..3 {
        let outcome = attempt_delivery(&sender, "http://slow.example/");
        assert_eq!(failure_of(&outcome), "the host name was not resolved in time");
    }
}
