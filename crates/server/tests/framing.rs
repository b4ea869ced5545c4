//! Bytes that are not a valid request: one response, the connection is closed, and nothing is handled (behaviour 5.2).

use std::cell::Cell;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::service::{Service, basic};
use crate::support::wire::{Dialer, Said, said};
use crate::support::{Sample, on_each, on_each_with, user_body};

const CHUNKED: &str = "Transfer-Encoding: chunked";

/// Builds requests that would each create a user.
struct Maker<'a> {
    service: &'a Service,
    sample: Sample,
    authorization: String,
    made: Cell<u32>,
}

impl<'a> Maker<'a> {
    fn new(service: &'a Service) -> Self {
        let sample = Sample::make(service, 0);
        let authorization = basic(&sample.provider);
        Self { service, sample, authorization, made: Cell::new(0) }
    }

    fn body(&self) -> String {
        self.made.set(self.made.get() + 1);
        user_body(&self.sample.company, &format!("u{}", self.made.get())).to_string()
    }

    /// A request with this first line and these additional headers.
    fn request(&self, line: &str, lines: &str, body: &str) -> String {
        format!("{line}\r\nAuthorization: {}\r\n{lines}\r\n\r\n{body}", self.authorization)
    }

    fn good(&self) -> String {
        let body = self.body();
        self.with("Host: localhost", &body)
    }

    /// A request that is valid except for these lines.
    fn with(&self, lines: &str, body: &str) -> String {
        let lines = format!("{lines}\r\nContent-Length: {}", body.len());
        self.request("POST /v1/users HTTP/1.1", &lines, body)
    }

    /// A request that is valid except for these lines, which also declare its length.
    fn framed(&self, lines: &str, body: &str) -> String {
        self.request("POST /v1/users HTTP/1.1", &format!("Host: localhost\r\n{lines}"), body)
    }

    fn line(&self, line: &str) -> String {
        let body = self.body();
        self.request(line, &format!("Host: localhost\r\nContent-Length: {}", body.len()), &body)
    }

    fn users(&self) -> i64 {
        self.service.database.count("users")
    }

    fn finish(&self, bytes: &[u8]) -> Vec<Said> {
        Dialer::new(self.service).dial().unwrap().finish(bytes)
    }

    /// Sends bytes that must be rejected, alone and followed by a valid request.
    fn refuse(&self, what: &str, bytes: &str) {
        for follower in [String::new(), self.good()] {
            let before = self.users();
            let answers = self.finish(format!("{bytes}{follower}").as_bytes());
            assert_eq!(answers.len(), 1, "{what}: {answers:?}");
            is_refusal(what, &answers[0]);
            assert_eq!(self.users(), before, "{what}: nothing may be handled");
        }
    }
}

fn is_refusal(what: &str, answer: &Said) {
    assert_eq!(answer.status, 400, "{what}: {answer:?}");
    let shape: Value =
        serde_json::from_str(&answer.body).unwrap_or_else(|e| panic!("{what}: {e} {answer:?}"));
    assert_eq!(shape["error"]["status"], 400, "{what}");
    assert!(shape["error"]["message"].is_string(), "{what}");
    assert!(answer.head.contains("\r\nconnection: close"), "{what}: {answer:?}");
    assert!(answer.head.contains("\r\nx-request-id: "), "{what}: {answer:?}");
}

#[test]
fn ambiguous_lengths_are_refused() {
    on_each(|service| {
        let maker = Maker::new(service);
        let body = maker.body();
        let (size, chunk) = (body.len(), format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len()));
        let length = format!("Content-Length: {size}");
        for lines in [
            format!("{length}\r\n{length}"),
            format!("{length}\r\nContent-Length: {}", size + 1),
            format!("Content-Length: {size}, {size}"),
            format!("Content-Length: +{size}"),
            "Content-Length: -1".to_owned(),
            "Content-Length: 99999999999999999999999".to_owned(),
            format!("Content-Length : {size}"),
            format!("{length}\r\n{CHUNKED}"),
            format!("{CHUNKED}\r\n{length}"),
            format!("{CHUNKED}\r\nContent-Length: {}", chunk.len()),
            "Transfer-Encoding: identity".to_owned(),
            "Transfer-Encoding: xchunked".to_owned(),
            "Transfer-Encoding: chunked, gzip".to_owned(),
            "Transfer-Encoding: gzip, chunked".to_owned(),
            format!("{CHUNKED}\r\n{CHUNKED}"),
            "Transfer-Encoding : chunked".to_owned(),
            "Transfer-Encoding:\u{b}chunked".to_owned(),
        ] {
            let body = if lines.contains("Transfer") { &chunk } else { &body };
            maker.refuse(&lines, &maker.framed(&lines, body));
        }
        let old = maker.request("POST /v1/users HTTP/1.0", &format!("Host: localhost\r\n{CHUNKED}"), &chunk);
        maker.refuse("HTTP/1.0 in chunks", &old);
    });
}

/// Regression test: the HTTP server recycles response heads, including the HTTP version of the previous request.
#[test]
fn a_connection_stays_open_after_another_client_used_http_1_0() {
    on_each(|service| {
        let maker = Maker::new(service);
        for _each_worker in 0..8 {
            let old =
                maker.finish(maker.request("GET /v1/nothing HTTP/1.0", "Host: localhost", "").as_bytes());
            assert_eq!(old.iter().map(|answer| answer.status).collect::<Vec<_>>(), [404]);
        }
        for _each_worker in 0..8 {
            let request = maker.request("GET /v1/nothing HTTP/1.1", "Host: localhost", "");
            let responses = Dialer::new(service).dial().unwrap().send_and_shut(request.repeat(3).as_bytes());
            assert_eq!(responses.len(), 3, "{responses:?}");
            assert!(
                responses.iter().all(|response| !response.head.contains("connection: close")),
                "{responses:?}"
            );
        }
    });
}

#[test]
fn malformed_chunks_are_refused() {
    on_each(|service| {
        let maker = Maker::new(service);
        let body = maker.body();
        let size = body.len();
        for chunks in [
            format!("{size:x} \r\n{body}\r\n0\r\n\r\n"),
            format!("{size:x};x\n{body}\r\n0\r\n\r\n"),
            format!("{size:x}\n{body}\r\n0\r\n\r\n"),
            format!("{size:x}\r\n{body}\n0\r\n\r\n"),
            format!("{size:x}\r\n{body}\r\n0\r\nno trailer\r\n\r\n"),
            format!("{size:x}\r\n{body}\r\n0\r\nX-Trailer: {}\r\n\r\n", "x".repeat(9 << 10)),
            format!("{:x}\r\n{body}\r\n0\r\n\r\n", size - 1),
            format!("-{size:x}\r\n{body}\r\n0\r\n\r\n"),
            format!("0x{size:x}\r\n{body}\r\n0\r\n\r\n"),
            format!("100001\r\n{body}"),
            format!("7fffffffffffffff\r\n{body}"),
            format!("ffffffffffffffff\r\n{body}"),
            format!("1{size:016x}\r\n{body}\r\n0\r\n\r\n"),
        ] {
            maker.refuse(&chunks, &maker.framed(CHUNKED, &chunks));
        }
    });
}

#[test]
fn malformed_heads_are_refused() {
    on_each(|service| {
        let maker = Maker::new(service);
        for lines in [
            "X: 1",
            "Host: localhost\r\nHost: localhost",
            "Host: localhost\r\nHost: other",
            "Host:",
            "Host: a b",
            "Host: a/b",
            "Host: user@a",
            "Host: localhost:x",
            "Host : localhost",
            "Host: localhost\r\nX: 1\r\n 2",
            "Host: localhost\r\nX : 1",
            "Host: localhost\r\nX",
            "Host: localhost\r\nX: a\0b",
            "Host: localhost\nX: 1",
            "Host: localhost\rX: 1",
        ] {
            maker.refuse(lines, &maker.with(lines, &maker.body()));
        }
        let many = vec!["X: 1"; 97].join("\r\n");
        maker.refuse("many", &maker.with(&format!("Host: localhost\r\n{many}"), &maker.body()));
        let large = format!("Host: localhost\r\nX: {}", "x".repeat(40_000));
        maker.refuse("large", &maker.with(&large, &maker.body()));
        for line in [
            "POST http://user@localhost/v1/users HTTP/1.1".to_owned(),
            "POST ftp://localhost/v1/users HTTP/1.1".to_owned(),
            "POST * HTTP/1.1".to_owned(),
            "POST localhost:443 HTTP/1.1".to_owned(),
            "CONNECT localhost:443 HTTP/1.1".to_owned(),
            "CONNECT /v1/users HTTP/1.1".to_owned(),
            "POST /v1/users HTTP/1.2".to_owned(),
            "POST /v1/users".to_owned(),
            "POST  /v1/users HTTP/1.1".to_owned(),
            "POST /v1/<users> HTTP/1.1".to_owned(),
            format!("POST /v1/users?{} HTTP/1.1", "x".repeat(8 << 10)),
        ] {
            maker.refuse(&line, &maker.line(&line));
        }
        maker.refuse("bare line feeds", &maker.good().replace("\r\n", "\n"));
        maker.refuse("the last line", &maker.good().replacen("\r\n\r\n", "\r\n\n", 1));
        for garbage in
            ["\0", "garbage\r\n", "\r\n\r\n", "\n", "SSH-2.0-x\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
        {
            maker.refuse(garbage, garbage);
        }
    });
}

#[test]
fn a_refused_request_does_not_affect_the_valid_one_before_it() {
    on_each(|service| {
        let maker = Maker::new(service);
        let body = maker.body();
        let chunk = format!("{:x}\r\n{body}\r\nx\r\n\r\n", body.len());
        for bad in ["GARBAGE\n".to_owned(), maker.framed(CHUNKED, &chunk)] {
            let before = maker.users();
            let answers = maker.finish(format!("{}{bad}{}", maker.good(), maker.good()).as_bytes());
            assert_eq!(answers.len(), 2, "{answers:?}");
            assert_eq!(answers[0].status, 201, "{answers:?}");
            assert!(!answers[0].head.contains("connection: close"), "{answers:?}");
            is_refusal(&bad, &answers[1]);
            assert_eq!(maker.users(), before + 1);
        }
    });
}

#[test]
fn requests_from_a_proxy_are_parsed_strictly() {
    let settings = [("GUERDON_HTTP__TLS__MODE", "proxy"), ("GUERDON_HTTP__TRUSTED_PROXIES", "127.0.0.0/8")];
    on_each_with(&settings, |service| {
        let provider = service.provider("Acme", true);
        let request = |line: &str| {
            let authorization = basic(&provider);
            format!("{line}\r\nHost: a\r\nX-Forwarded-Proto: https\r\nAuthorization: {authorization}\r\n\r\n")
        };
        let sound = request("GET /v1/companies/example.com HTTP/1.1");
        let bad = request("GET ftp://a/v1/companies/example.com HTTP/1.1");
        let mut stream = TcpStream::connect(service.running.api.split("://").nth(1).unwrap()).unwrap();
        stream.write_all([&*sound, &*sound, &*bad, &*sound].concat().as_bytes()).unwrap();
        let mut all = String::new();
        stream.read_to_string(&mut all).unwrap();
        let statuses: Vec<u16> = said(&all).iter().map(|answer| answer.status).collect();
        assert_eq!(statuses, [404, 404, 400], "{all}");
    });
}

#[test]
fn valid_requests_are_served_in_any_framing() {
    on_each(|service| {
        let maker = Maker::new(service);
        let body = maker.body();
        let (front, back) = body.split_at(7);
        let chunks = format!("7\r\n{front}\r\n{:X}\r\n{back}\r\n0\r\n\r\n", back.len());
        let extra = maker.body();
        let with_extras =
            format!("{:x} ; a=\"b;c\"\r\n{extra}\r\n0;d\r\nContent-Length: 7\r\nX: y\r\n\r\n", extra.len());
        let all = [
            maker.good(),
            format!("\r\n{}", maker.good()),
            maker.framed(CHUNKED, &chunks),
            maker.framed(CHUNKED, &with_extras),
            maker.with("host:localhost:8443\r\nUpgrade: h2c", &maker.body()),
            maker.with("Host: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket", &maker.body()),
            maker.line("POST http://localhost/v1/users HTTP/1.1"),
            maker.line("POST HTTPS://other:443/v1/users HTTP/1.1"),
            maker.with("Host: [::1]:1\r\nExpect: 100-continue\r\nConnection: close", &maker.body()),
        ];
        let answers = maker.finish(all.concat().as_bytes());
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        assert_eq!(statuses, [201; 9], "{answers:?}");
        assert!(answers.iter().all(|answer| !answer.head.contains("upgrade")), "{answers:?}");
        assert_eq!(maker.users(), 1 + 9);
        let mut wire = Dialer::new(service).dial().unwrap();
        for _ in 0..3 {
            let answer = wire.ask(maker.good().as_bytes()).unwrap();
            assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
        }
        let path = format!("/v1/companies/{}", maker.sample.company);
        let lines = "Host: localhost\r\nConnection: close";
        let answers = wire.finish(maker.request(&format!("GET {path} HTTP/1.1"), lines, "").as_bytes());
        assert_eq!((answers.len(), answers[0].status), (1, 200));
    });
}

#[test]
fn expect_100_continue_is_honoured_or_refused() {
    on_each(|service| {
        let maker = Maker::new(service);
        let good = maker.with("Host: localhost\r\nExpect: 100-continue", &maker.body());
        let (head, body) = good.split_once("\r\n\r\n").unwrap();
        let head = format!("{head}\r\n\r\n");
        let mut wire = Dialer::new(service).dial().unwrap();
        let told = wire.ask(head.as_bytes()).unwrap();
        assert_eq!(told, "HTTP/1.1 100 Continue\r\n\r\n");
        let answer = wire.ask(body.as_bytes()).unwrap();
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
        let before = maker.users();
        for (head, status) in [
            (head.replace("Basic ", "Basic x"), 401),
            (head.replace("Content-Length: ", "Content-Length: 9999"), 400),
            (head.replace("/v1/users", "/v1/nothing"), 404),
            (head.replace("\r\n\r\n", "\r\nContent-Type: text/plain\r\n\r\n"), 400),
        ] {
            let answers = maker.finish(head.as_bytes());
            let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
            assert_eq!(statuses, [status], "{answers:?}");
            assert!(answers[0].head.contains("connection: close"), "the following bytes may be the body");
        }
        assert_eq!(maker.users(), before);
    });
}

#[test]
fn responses_are_not_lost_when_tcp_closes_without_a_tls_close() {
    on_each(|service| {
        let maker = Maker::new(service);
        for count in [1, 3, 1, 3] {
            let before = maker.users();
            let requests: String = (0..count).map(|_| maker.good()).collect();
            let answers = Dialer::new(service).dial().unwrap().send_and_shut(requests.as_bytes());
            let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
            assert_eq!(statuses, vec![201; count], "{answers:?}");
            assert_eq!(maker.users(), before + i64::try_from(count).unwrap());
        }
        let half = format!("{}GET / HT", maker.good());
        let answers = Dialer::new(service).dial().unwrap().send_and_shut(half.as_bytes());
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        assert_eq!(statuses, [201, 400], "{answers:?}");
    });
}

#[test]
fn a_complete_body_is_accepted_if_the_client_closes_after_it() {
    let settings = [("GUERDON_HTTP__TLS__MODE", "proxy"), ("GUERDON_HTTP__TRUSTED_PROXIES", "127.0.0.0/8")];
    on_each_with(&settings, |service| {
        for size in [140_000, 150_000, 160_000, 180_000, 200_000, 400_000] {
            // New credentials, so that they are looked up while the body arrives.
            let authorization = basic(&service.provider(&format!("p{size}"), true));
            let body = format!("{{\"ignored\": \"{}\"}}", "x".repeat(size));
            let request = format!(
                "POST /v1/users HTTP/1.1\r\nHost: a\r\nX-Forwarded-Proto: https\r\nAuthorization: {authorization}\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                body.len()
            );
            let mut stream = TcpStream::connect(service.running.api.split("://").nth(1).unwrap()).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            let mut all = String::new();
            stream.read_to_string(&mut all).unwrap();
            let answers = said(&all);
            assert_eq!(answers.len(), 1, "{size}: {all}");
            assert!(answers[0].body.contains("company_id"), "{size}: {all}");
        }
    });
}

#[test]
fn chunked_bodies_are_accepted_with_any_method() {
    on_each(|service| {
        let maker = Maker::new(service);
        let path = format!("/v1/companies/{}", maker.sample.company);
        let ask = |line: &str, body: &str| {
            let lines = format!("Host: a\r\n{CHUNKED}");
            maker.finish(
                format!(
                    "{}{}",
                    maker.request(line, &lines, body),
                    maker.request(&format!("GET {path} HTTP/1.1"), "Host: a\r\nConnection: close", "")
                )
                .as_bytes(),
            )
        };
        let statuses = |answers: &[Said]| answers.iter().map(|answer| answer.status).collect::<Vec<_>>();
        let sound = "3\r\nabc\r\n0\r\n\r\n";
        for (line, status) in [
            (format!("GET {path} HTTP/1.1"), 200),
            ("DELETE /v1/users/00000000-0000-7000-8000-000000000000 HTTP/1.1".to_owned(), 404),
            ("OPTIONS * HTTP/1.1".to_owned(), 404),
        ] {
            assert_eq!(statuses(&ask(&line, sound)), [status, 200], "{line}");
            let answers = ask(&line, "3\r\nabcd\r\n0\r\n\r\n");
            assert_eq!(statuses(&answers), [400], "{line}");
        }
    });
}

#[test]
fn slow_clients_are_disconnected() {
    on_each(|service| {
        let maker = Maker::new(service);
        let before = maker.users();
        let good = maker.good();
        let (head, _) = good.split_once("\r\n\r\n").unwrap();
        let unknown = good.replace("Basic ", "Basic x").replacen("\r\n\r\n{", "\r\n\r\n", 1);
        let endless = maker.framed(CHUNKED, "5\r\nab").replace("Basic ", "Basic x");
        let check = |first: &str, then: &str, status: u16, within: u64| {
            let mut wire = Dialer::new(service).dial().unwrap();
            if !first.is_empty() {
                assert!(wire.ask(first.as_bytes()).unwrap().starts_with("HTTP/1.1 201"));
            }
            let began = Instant::now();
            let answers = wire.finish(then.as_bytes());
            assert_eq!(answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [status], "{then:?}");
            assert!(began.elapsed() < Duration::from_secs(within), "{then:?}: {:?}", began.elapsed());
        };
        std::thread::scope(|scope| {
            scope.spawn(|| check("", "GET / HT", 400, 7));
            scope.spawn(|| check(&good, head, 400, 7));
            scope.spawn(|| check("", &format!("{head}\r\n\r\n{{"), 400, 12));
            scope.spawn(|| check("", &unknown, 401, 12));
            scope.spawn(|| check("", &endless, 401, 12));
        });
        assert_eq!(maker.users(), before + 1);
    });
}
