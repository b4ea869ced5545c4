//! Receivers that do not respond, or do not speak HTTP.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use guerdon_webhook_dispatcher::HttpCourier;

use super::receiver::{Receiver, read_request, wait_for_the_end, write_for_ever};
use super::setting::{OPEN, attempt, cause, impatient, parts, sender};

fn anywhere() -> std::net::SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

#[test]
fn a_receiver_that_never_responds_times_out() {
    let silent = Receiver::answering(|stream| {
        wait_for_the_end(stream);
        Ok(())
    });
    assert_eq!(cause(&attempt(&impatient(), &silent.url())), "no answer in time");
    let deaf = Receiver::handling(anywhere(), |mut stream, _| wait_for_the_end(&mut stream));
    assert_eq!(cause(&attempt(&impatient(), &deaf.url())), "no answer in time");
    let not_accepting = TcpListener::bind(anywhere()).unwrap();
    let url = format!("http://{}/", not_accepting.local_addr().unwrap());
    assert_eq!(cause(&attempt(&impatient(), &url)), "no answer in time");
}

#[test]
fn a_receiver_that_stops_within_the_head_times_out() {
    for beginning in
        ["H", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 100 Continue\r\n\r\n"]
    {
        let receiver = Receiver::saying(beginning);
        assert_eq!(cause(&attempt(&impatient(), &receiver.url())), "no answer in time", "{beginning:?}");
    }
}

#[test]
fn a_head_that_drips_times_out() {
    let receiver = Receiver::answering(|stream| {
        stream.set_read_timeout(Some(Duration::from_millis(10)))?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nX: ")?;
        loop {
            // The other side sends nothing more, so this read only waits.
            let _timeout = stream.read(&mut [0]);
            stream.write_all(b"x")?;
        }
    });
    let outcome = attempt(&impatient(), &receiver.url());
    assert_eq!(cause(&outcome), "no answer in time");
    assert!(outcome.duration < Duration::from_secs(5), "{:?}", outcome.duration);
}

#[test]
fn a_receiver_that_reads_nothing_times_out() {
    let receiver = Receiver::handling(anywhere(), |stream, _| {
        let (_stay, wait) = std::sync::mpsc::channel::<()>();
        let _stream = stream;
        let _nothing_comes = wait.recv();
    });
    let provider = super::setting::provider(Some(&receiver.url()));
    let body = vec![b'x'; 20_000_000];
    let order = guerdon_webhook_dispatcher::Order {
        provider: &provider,
        event: super::setting::event(),
        body: &body,
    };
    let outcome = guerdon_webhook_dispatcher::Courier::attempt(&impatient(), &order);
    assert_eq!(cause(&outcome), "no answer in time");
}

#[test]
fn a_receiver_that_closes_or_resets_is_a_failed_attempt() {
    let closing = Receiver::answering(|stream| stream.shutdown(std::net::Shutdown::Both));
    assert_eq!(cause(&attempt(&sender(OPEN), &closing.url())), "connection closed without an answer");
    let half = Receiver::answering(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-")?;
        stream.shutdown(std::net::Shutdown::Both)
    });
    assert_eq!(cause(&attempt(&sender(OPEN), &half.url())), "connection closed without an answer");
    // Closing a connection with unread bytes resets it.
    let resetting = Receiver::handling(anywhere(), |mut stream, _| {
        let _first = stream.read(&mut [0]);
    });
    assert_eq!(cause(&attempt(&sender(OPEN), &resetting.url())), "connection reset");
}

#[test]
fn a_refused_connection_is_a_failed_attempt() {
    let url = {
        let gone = TcpListener::bind(anywhere()).unwrap();
        format!("http://{}/", gone.local_addr().unwrap())
    };
    assert_eq!(cause(&attempt(&sender(OPEN), &url)), "connection refused");
}

#[test]
fn an_endless_head_is_cut_off() {
    let lines = Receiver::answering(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
        write_for_ever(stream, b"X-More: and more\r\n")
    });
    let line = Receiver::answering(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nX-Long: ")?;
        write_for_ever(stream, b"xxxxxxxxxxxxxxxx")
    });
    let status = Receiver::answering(|stream| write_for_ever(stream, b"HTTP/1.1 200 OOOO"));
    for receiver in [lines, line, status] {
        let outcome = attempt(&sender(OPEN), &receiver.url());
        let cause = cause(&outcome);
        assert!(["the head of the answer is too long", "the answer is not HTTP"].contains(&cause), "{cause}");
    }
}

#[test]
fn a_flood_of_informational_responses_is_cut_off() {
    for flood in ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"] {
        let receiver = Receiver::answering(|stream| write_for_ever(stream, flood.as_bytes()));
        let outcome = attempt(&sender(OPEN), &receiver.url());
        let cause = cause(&outcome);
        let causes = ["more was received than an answer may hold", "the head of the answer is too long"];
        assert!(causes.contains(&cause), "{cause}");
    }
}

#[test]
fn a_response_that_is_not_http_is_a_failed_attempt() {
    for answer in
        ["SSH-2.0-OpenSSH_9.6\r\n\r\n", "\0\0\0\0", "HTTP/2 200\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n"]
    {
        let receiver = Receiver::handling(anywhere(), |mut stream, _| {
            read_request(&mut stream);
            stream.write_all(answer.as_bytes()).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            wait_for_the_end(&mut stream);
        });
        let outcome = attempt(&sender(OPEN), &receiver.url());
        assert!(!cause(&outcome).contains("SSH"), "the response must not be reported");
    }
}

#[test]
fn an_unknown_name_is_a_failed_attempt() {
    assert_eq!(cause(&attempt(&sender(OPEN), "http://nobody.example/")), "the host name is unknown");
}

#[test]
fn a_name_that_is_not_resolved_in_time_is_a_failed_attempt() {
    struct Hanging(std::sync::Mutex<std::sync::mpsc::Receiver<()>>);
    impl guerdon_webhook_dispatcher::LookUp for Hanging {
        fn look_up(&self, _name: &str) -> std::io::Result<Vec<std::net::IpAddr>> {
            let _nothing_comes = self.0.lock().unwrap().recv();
            Ok(Vec::new())
        }
    }
    let (_stay, never) = std::sync::mpsc::channel();
    let mut parts = parts(OPEN);
    parts.look_up = std::sync::Arc::new(Hanging(std::sync::Mutex::new(never)));
    parts.limits.resolve_max = Duration::from_millis(50);
    let sender = HttpCourier::new(parts).unwrap();
    for _ in 0..3 {
        let outcome = attempt(&sender, "http://slow.example/");
        assert_eq!(cause(&outcome), "the host name was not resolved in time");
    }
}
