//! Bytes that are not a valid request get one response, the connection is closed, and nothing is handled
//! (behaviour 5.2).

use std::cell::Cell;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use guerdon_test_harness::{HttpResponse, parse_responses};
use serde_json::Value;

use crate::support::service::{TestService, basic_authorization};
use crate::support::{SampleCompany, for_each_database, for_each_database_with, user_body};

const CHUNKED: &str = "Transfer-Encoding: chunked";
const BEHIND_PROXY: [(&str, &str); 2] =
    [("GUERDON_HTTP__TLS__MODE", "proxy"), ("GUERDON_HTTP__TRUSTED_PROXIES", "127.0.0.0/8")];

/// Builds requests, each of which would create a user.
struct RequestBuilder<'a> {
    service: &'a TestService,
    sample: SampleCompany,
    authorization: String,
    users_created: Cell<u32>,
}

impl<'a> RequestBuilder<'a> {
    fn new(service: &'a TestService) -> Self {
        let sample = SampleCompany::create(service, 0);
        let authorization = basic_authorization(&sample.provider);
        Self { service, sample, authorization, users_created: Cell::new(0) }
    }

    fn next_body(&self) -> String {
        self.users_created.set(self.users_created.get() + 1);
        user_body(&self.sample.company, &format!("u{}", self.users_created.get())).to_string()
    }

    /// A request with this first line and these additional headers.
    fn build_request(&self, line: &str, lines: &str, body: &str) -> String {
        format!("{line}\r\nAuthorization: {}\r\n{lines}\r\n\r\n{body}", self.authorization)
    }

    fn valid_request(&self) -> String {
        let body = self.next_body();
        self.request_with_lines("Host: localhost", &body)
    }

    /// A request with these header lines, which is otherwise valid.
    fn request_with_lines(&self, lines: &str, body: &str) -> String {
        let lines = format!("{lines}\r\nContent-Length: {}", body.len());
        self.build_request("POST /v1/users HTTP/1.1", &lines, body)
    }

    /// A request with these header lines, which must declare the length of its body. It is otherwise valid.
    fn request_with_framing(&self, lines: &str, body: &str) -> String {
        self.build_request("POST /v1/users HTTP/1.1", &format!("Host: localhost\r\n{lines}"), body)
    }

    fn request_with_first_line(&self, line: &str) -> String {
        let body = self.next_body();
        self.build_request(line, &format!("Host: localhost\r\nContent-Length: {}", body.len()), &body)
    }

    fn count_users(&self) -> i64 {
        self.service.database.count_rows("users")
    }

    fn send_and_read_to_end(&self, bytes: &[u8]) -> Vec<HttpResponse> {
        self.service.running.https().connect().unwrap().send_and_read_to_end(bytes).unwrap()
    }

    /// Sends bytes that must be rejected, alone and followed by a valid request.
    fn assert_refused(&self, what: &str, bytes: &str) {
        for follower in [String::new(), self.valid_request()] {
            let before = self.count_users();
            let responses = self.send_and_read_to_end(format!("{bytes}{follower}").as_bytes());
            assert_eq!(responses.len(), 1, "{what}: {responses:?}");
            assert_is_refusal(what, &responses[0]);
            assert_eq!(self.count_users(), before, "{what}: nothing may be handled");
        }
    }
}

fn assert_is_refusal(what: &str, response: &HttpResponse) {
    assert_eq!(response.status, 400, "{what}: {response:?}");
    let shape: Value =
        serde_json::from_slice(&response.body).unwrap_or_else(|e| panic!("{what}: {e} {response:?}"));
    assert_eq!(shape["error"]["status"], 400, "{what}");
    assert!(shape["error"]["message"].is_string(), "{what}");
    assert!(response.head.contains("\r\nconnection: close"), "{what}: {response:?}");
    assert!(response.head.contains("\r\nx-request-id: "), "{what}: {response:?}");
}

#[test]
fn ambiguous_lengths_are_refused() {
    for_each_database(|service| {
        let maker = RequestBuilder::new(service);
        let body = maker.next_body();
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
            maker.assert_refused(&lines, &maker.request_with_framing(&lines, body));
        }
        let old =
            maker.build_request("POST /v1/users HTTP/1.0", &format!("Host: localhost\r\n{CHUNKED}"), &chunk);
        maker.assert_refused("HTTP/1.0 in chunks", &old);
    });
}

/// Regression test: the HTTP server recycles response heads, including the HTTP version of the previous request.
#[test]
fn a_connection_stays_open_after_another_client_used_http_1_0() {
    for_each_database(|service| {
        let maker = RequestBuilder::new(service);
        for _each_worker in 0..8 {
            let old = maker.send_and_read_to_end(
                maker.build_request("GET /v1/nothing HTTP/1.0", "Host: localhost", "").as_bytes(),
            );
            assert_eq!(old.iter().map(|response| response.status).collect::<Vec<_>>(), [404]);
        }
        for _each_worker in 0..8 {
            let request = maker.build_request("GET /v1/nothing HTTP/1.1", "Host: localhost", "");
            let responses = service
                .running
                .https()
                .connect()
                .unwrap()
                .send_and_shut_down(request.repeat(3).as_bytes())
                .unwrap();
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
    for_each_database(|service| {
        let maker = RequestBuilder::new(service);
        let body = maker.next_body();
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
            maker.assert_refused(&chunks, &maker.request_with_framing(CHUNKED, &chunks));
        }
    });
}

#[test]
fn malformed_heads_are_refused() {
    for_each_database(|service| {
        let maker = RequestBuilder::new(service);
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
            maker.assert_refused(lines, &maker.request_with_lines(lines, &maker.next_body()));
        }
        let many = vec!["X: 1"; 97].join("\r\n");
        maker.assert_refused(
            "many",
            &maker.request_with_lines(&format!("Host: localhost\r\n{many}"), &maker.next_body()),
        );
        let large = format!("Host: localhost\r\nX: {}", "x".repeat(40_000));
        maker.assert_refused("large", &maker.request_with_lines(&large, &maker.next_body()));
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
            maker.assert_refused(&line, &maker.request_with_first_line(&line));
        }
        maker.assert_refused("bare line feeds", &maker.valid_request().replace("\r\n", "\n"));
        maker.assert_refused("the last line", &maker.valid_request().replacen("\r\n\r\n", "\r\n\n", 1));
        for garbage in
            ["\0", "garbage\r\n", "\r\n\r\n", "\n", "SSH-2.0-x\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
        {
            maker.assert_refused(garbage, garbage);
        }
    });
}

#[test]
fn a_refused_request_does_not_affect_the_valid_one_before_it() {
    for_each_database(|service| {
        let maker = RequestBuilder::new(service);
        let body = maker.next_body();
        let chunk = format!("{:x}\r\n{body}\r\nx\r\n\r\n", body.len());
        for bad in ["GARBAGE\n".to_owned(), maker.request_with_framing(CHUNKED, &chunk)] {
            let before = maker.count_users();
            let responses = maker.send_and_read_to_end(
                format!("{}{bad}{}", maker.valid_request(), maker.valid_request()).as_bytes(),
            );
            assert_eq!(responses.len(), 2, "{responses:?}");
            assert_eq!(responses[0].status, 201, "{responses:?}");
            assert!(!responses[0].head.contains("connection: close"), "{responses:?}");
            assert_is_refusal(&bad, &responses[1]);
            assert_eq!(maker.count_users(), before + 1);
        }
    });
}

#[test]
fn requests_from_a_proxy_are_parsed_strictly() {
    for_each_database_with(&BEHIND_PROXY, |service| {
        let provider = service.create_provider("Acme", true);
        let request = |line: &str| {
            let authorization = basic_authorization(&provider);
            format!("{line}\r\nHost: a\r\nX-Forwarded-Proto: https\r\nAuthorization: {authorization}\r\n\r\n")
        };
        let valid_request = request("GET /v1/companies/example.com HTTP/1.1");
        let bad = request("GET ftp://a/v1/companies/example.com HTTP/1.1");
        let mut stream = TcpStream::connect(service.running.api_url.split("://").nth(1).unwrap()).unwrap();
        stream
            .write_all([&*valid_request, &*valid_request, &*bad, &*valid_request].concat().as_bytes())
            .unwrap();
        let mut all = String::new();
        stream.read_to_string(&mut all).unwrap();
        let statuses: Vec<u16> =
            parse_responses(all.as_bytes()).unwrap().iter().map(|response| response.status).collect();
        assert_eq!(statuses, [404, 404, 400], "{all}");
    });
}

#[test]
fn valid_requests_are_served_in_any_framing() {
    for_each_database(|service| {
        let maker = RequestBuilder::new(service);
        let body = maker.next_body();
        let (front, back) = body.split_at(7);
        let chunks = format!("7\r\n{front}\r\n{:X}\r\n{back}\r\n0\r\n\r\n", back.len());
        let extra = maker.next_body();
        let with_extras =
            format!("{:x} ; a=\"b;c\"\r\n{extra}\r\n0;d\r\nContent-Length: 7\r\nX: y\r\n\r\n", extra.len());
        let all = [
            maker.valid_request(),
            format!("\r\n{}", maker.valid_request()),
            maker.request_with_framing(CHUNKED, &chunks),
            maker.request_with_framing(CHUNKED, &with_extras),
            maker.request_with_lines("host:localhost:8443\r\nUpgrade: h2c", &maker.next_body()),
            maker.request_with_lines(
                "Host: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket",
                &maker.next_body(),
            ),
            maker.request_with_first_line("POST http://localhost/v1/users HTTP/1.1"),
            maker.request_with_first_line("POST HTTPS://other:443/v1/users HTTP/1.1"),
            maker.request_with_lines(
                "Host: [::1]:1\r\nExpect: 100-continue\r\nConnection: close",
                &maker.next_body(),
            ),
        ];
        let responses = maker.send_and_read_to_end(all.concat().as_bytes());
        let statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
        assert_eq!(statuses, [201; 9], "{responses:?}");
        assert!(responses.iter().all(|response| !response.head.contains("upgrade")), "{responses:?}");
        assert_eq!(maker.count_users(), 1 + 9);
        let mut connection = service.running.https().connect().unwrap();
        for _ in 0..3 {
            let response = connection.send_request(maker.valid_request().as_bytes()).unwrap().to_string();
            assert!(response.starts_with("HTTP/1.1 201"), "{response}");
        }
        let path = format!("/v1/companies/{}", maker.sample.company);
        let lines = "Host: localhost\r\nConnection: close";
        let responses = connection
            .send_and_read_to_end(maker.build_request(&format!("GET {path} HTTP/1.1"), lines, "").as_bytes())
            .unwrap();
        assert_eq!((responses.len(), responses[0].status), (1, 200));
    });
}

#[test]
fn expect_100_continue_is_honoured_or_refused() {
    for_each_database(|service| {
        let maker = RequestBuilder::new(service);
        let good = maker.request_with_lines("Host: localhost\r\nExpect: 100-continue", &maker.next_body());
        let (head, body) = good.split_once("\r\n\r\n").unwrap();
        let head = format!("{head}\r\n\r\n");
        let mut connection = service.running.https().connect().unwrap();
        let interim = connection.send_request(head.as_bytes()).unwrap().to_string();
        assert_eq!(interim, "HTTP/1.1 100 Continue\r\n\r\n");
        let response = connection.send_request(body.as_bytes()).unwrap().to_string();
        assert!(response.starts_with("HTTP/1.1 201"), "{response}");
        let before = maker.count_users();
        for (head, status) in [
            (head.replace("Basic ", "Basic x"), 401),
            (head.replace("Content-Length: ", "Content-Length: 9999"), 400),
            (head.replace("/v1/users", "/v1/nothing"), 404),
            (head.replace("\r\n\r\n", "\r\nContent-Type: text/plain\r\n\r\n"), 400),
        ] {
            let responses = maker.send_and_read_to_end(head.as_bytes());
            let statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
            assert_eq!(statuses, [status], "{responses:?}");
            assert!(responses[0].head.contains("connection: close"), "the following bytes may be the body");
        }
        assert_eq!(maker.count_users(), before);
    });
}

#[test]
fn responses_are_not_lost_when_tcp_closes_without_a_tls_close() {
    for_each_database(|service| {
        let maker = RequestBuilder::new(service);
        for count in [1, 3, 1, 3] {
            let before = maker.count_users();
            let requests: String = (0..count).map(|_| maker.valid_request()).collect();
            let responses =
                service.running.https().connect().unwrap().send_and_shut_down(requests.as_bytes()).unwrap();
            let statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
            assert_eq!(statuses, vec![201; count], "{responses:?}");
            assert_eq!(maker.count_users(), before + i64::try_from(count).unwrap());
        }
        let half = format!("{}GET / HT", maker.valid_request());
        let responses =
            service.running.https().connect().unwrap().send_and_shut_down(half.as_bytes()).unwrap();
        let statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
        assert_eq!(statuses, [201, 400], "{responses:?}");
    });
}

/// Sends a request over plain HTTP and closes the sending side. Returns everything that arrives.
fn send_and_close(service: &TestService, request: &str) -> (String, Vec<HttpResponse>) {
    let mut stream = TcpStream::connect(service.running.api_url.split("://").nth(1).unwrap()).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    (all.clone(), parse_responses(all.as_bytes()).unwrap())
}

#[test]
fn a_complete_body_is_accepted_if_the_client_closes_after_it() {
    for_each_database_with(&BEHIND_PROXY, |service| {
        for size in [140_000, 150_000, 160_000, 180_000, 200_000, 400_000] {
            // The credentials are new, so that they are looked up while the body arrives.
            let authorization = basic_authorization(&service.create_provider(&format!("p{size}"), true));
            let body = format!("{{\"ignored\": \"{}\"}}", "x".repeat(size));
            let request = format!(
                "POST /v1/users HTTP/1.1\r\nHost: a\r\nX-Forwarded-Proto: https\r\nAuthorization: {authorization}\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                body.len()
            );
            let (all, responses) = send_and_close(service, &request);
            assert_eq!(responses.len(), 1, "{size}: {all}");
            assert!(responses[0].text().contains("company_id"), "{size}: {all}");
        }
    });
}

/// A 400 for a retry would mean that no earlier attempt with its key took effect.
#[test]
fn an_incomplete_body_is_400_without_an_idempotency_key_and_503_with_one() {
    for_each_database_with(&BEHIND_PROXY, |service| {
        let authorization = basic_authorization(&service.create_provider("incomplete", true));
        for (key, status) in [("", 400), ("Idempotency-Key: k\r\n", 503)] {
            let request = format!(
                "POST /v1/users HTTP/1.1\r\nHost: a\r\nX-Forwarded-Proto: https\r\nAuthorization: {authorization}\r\n\
                 {key}Content-Length: 100\r\n\r\n{{}}"
            );
            let (all, responses) = send_and_close(service, &request);
            assert_eq!((responses.len(), responses[0].status), (1, status), "{all}");
        }
    });
}

#[test]
fn chunked_bodies_are_accepted_with_any_method() {
    for_each_database(|service| {
        let maker = RequestBuilder::new(service);
        let path = format!("/v1/companies/{}", maker.sample.company);
        let send_chunked = |line: &str, body: &str| {
            let lines = format!("Host: a\r\n{CHUNKED}");
            maker.send_and_read_to_end(
                format!(
                    "{}{}",
                    maker.build_request(line, &lines, body),
                    maker.build_request(&format!("GET {path} HTTP/1.1"), "Host: a\r\nConnection: close", "")
                )
                .as_bytes(),
            )
        };
        let statuses =
            |responses: &[HttpResponse]| responses.iter().map(|response| response.status).collect::<Vec<_>>();
        let valid_body = "3\r\nabc\r\n0\r\n\r\n";
        for (line, status) in [
            (format!("GET {path} HTTP/1.1"), 200),
            ("DELETE /v1/users/00000000-0000-7000-8000-000000000000 HTTP/1.1".to_owned(), 404),
            ("OPTIONS * HTTP/1.1".to_owned(), 404),
        ] {
            assert_eq!(statuses(&send_chunked(&line, valid_body)), [status, 200], "{line}");
            let responses = send_chunked(&line, "3\r\nabcd\r\n0\r\n\r\n");
            assert_eq!(statuses(&responses), [400], "{line}");
            let large = format!("{:x}\r\n{}\r\n0\r\n\r\n", 70_000, "x".repeat(70_000));
            let request = maker.build_request(&line, &format!("Host: a\r\n{CHUNKED}"), &large);
            let refused = if line.starts_with("OPTIONS") { status } else { 401 }; // no version in the path
            for (request, status) in [(request.replace("Basic ", "Basic x"), refused), (request, status)] {
                let mut connection = service.running.https().connect().unwrap();
                let response = connection.send_request(request.as_bytes()).unwrap();
                assert_eq!(response.status, status, "{line}: {response:?}");
                assert!(response.head.contains("\r\nconnection: close"), "{line}: {response:?}");
            }
        }
    });
}

#[test]
fn slow_clients_are_disconnected() {
    for_each_database(|service| {
        let maker = RequestBuilder::new(service);
        let before = maker.count_users();
        let good = maker.valid_request();
        let (head, _) = good.split_once("\r\n\r\n").unwrap();
        let unknown = good.replace("Basic ", "Basic x").replacen("\r\n\r\n{", "\r\n\r\n", 1);
        let endless = maker.request_with_framing(CHUNKED, "5\r\nab").replace("Basic ", "Basic x");
        let check = |first: &str, then: &str, status: u16, within: u64| {
            let mut connection = service.running.https().connect().unwrap();
            if !first.is_empty() {
                assert!(
                    connection
                        .send_request(first.as_bytes())
                        .unwrap()
                        .to_string()
                        .starts_with("HTTP/1.1 201")
                );
            }
            let started = Instant::now();
            let responses = connection.send_and_read_to_end(then.as_bytes()).unwrap();
            assert_eq!(
                responses.iter().map(|response| response.status).collect::<Vec<_>>(),
                [status],
                "{then:?}"
            );
            assert!(started.elapsed() < Duration::from_secs(within), "{then:?}: {:?}", started.elapsed());
        };
        std::thread::scope(|scope| {
            scope.spawn(|| check("", "GET / HT", 400, 7));
            scope.spawn(|| check(&good, head, 400, 7));
            scope.spawn(|| check("", &format!("{head}\r\n\r\n{{"), 400, 12));
            scope.spawn(|| check("", &unknown, 401, 12));
            scope.spawn(|| check("", &endless, 401, 12));
        });
        assert_eq!(maker.count_users(), before + 1);
    });
}
