//! What unauthenticated clients can do, and how it affects other clients (behaviour 2.8, 20.2).

use std::io::Read as _;
use std::net::TcpStream;

use serde_json::json;

use crate::support::service::{Provider, Service, basic};
use crate::support::wire::Dialer;
use crate::support::{Sample, on_each, on_each_with, until};

const ADDRESS_MAX: usize = 20;

fn get(path: &str, authorization: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\r\n")
}

fn refused_connections(service: &Service) -> u64 {
    let text = ureq::get(format!("{}/metrics", service.running.operator)).call().unwrap();
    let text = text.into_body().read_to_string().unwrap();
    let line = "guerdon_http_connections_refused_total{cause=\"address\"} ";
    text.lines().find_map(|metric| metric.strip_prefix(line)?.parse().ok()).unwrap()
}

#[test]
fn connections_per_address_are_limited_and_others_are_served() {
    let most = ADDRESS_MAX.to_string();
    on_each_with(&[("GUERDON_HTTP__MAX_CONNECTIONS_PER_ADDRESS", &most)], |service| {
        let authorization = basic(&Sample::make(service, 0).provider);
        let address = service.running.api.split("://").nth(1).unwrap().to_owned();
        let idle: Vec<_> = (0..10 * ADDRESS_MAX).map(|_| TcpStream::connect(&address).unwrap()).collect();
        let dialer = Dialer::new(service);
        assert!(dialer.dial().is_none(), "exceeds the limit per address");
        let mut other = dialer.dial_from([127, 0, 0, 2].into()).unwrap();
        let answer = other.ask(get("/v1/companies", &authorization).as_bytes()).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!((service.running.health("/healthz"), service.running.health("/readyz")), (200, 200));
        assert!(refused_connections(service) >= 9 * u64::try_from(ADDRESS_MAX).unwrap());
        drop(idle);
        while dialer.dial().is_none() {} // once the service has seen them go
    });
}

#[test]
fn total_connections_are_limited() {
    on_each_with(&[("GUERDON_HTTP__MAX_CONNECTIONS", "3")], |service| {
        let dialer = Dialer::new(service);
        let wires: Vec<_> =
            (1..=3).map(|number| dialer.dial_from([127, 0, 0, number].into()).unwrap()).collect();
        assert!(dialer.dial_from([127, 0, 0, 4].into()).is_none());
        assert_eq!(service.running.health("/healthz"), 200);
        drop(wires);
        while dialer.dial_from([127, 0, 0, 4].into()).is_none() {}
    });
}

#[test]
fn a_refused_request_with_a_small_body_keeps_its_connection() {
    on_each(|service| {
        let sample = Sample::make(service, 0);
        let right = basic(&sample.provider);
        let wrong = basic(&Provider { api_secret: "wrong".to_owned(), ..sample.provider.clone() });
        let dialer = Dialer::new(service);
        for (line, authorization, status) in [
            ("POST /v1/users", wrong.as_str(), 401),
            ("POST /v1/nothing", &right, 404),
            ("PATCH /v1/users", &right, 405),
            ("POST /v1/users", &right, 400),
            ("DELETE /v1/users/00000000-0000-7000-8000-000000000000", &right, 404),
            ("GET /v1/companies", &right, 200),
        ] {
            for (size, stays) in [(1, true), (64 << 10, true), ((64 << 10) + 1, false)] {
                // The only one of these requests whose body is read.
                let stays = stays || status == 400;
                let body = "x".repeat(size);
                let request = format!(
                    "{line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\nContent-Length: {size}\r\n\r\n{body}"
                );
                let mut wire = dialer.dial().unwrap();
                let answer = wire.ask(request.as_bytes()).unwrap();
                assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{line} {size}: {answer}");
                assert_eq!(answer.contains("\r\nconnection: close"), !stays, "{line} {size}: {answer}");
                let next = wire.ask(get("/v1/companies", &right).as_bytes());
                assert_eq!(
                    next.is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")),
                    stays,
                    "{line} {size}"
                );
            }
        }
        for authorization in [&wrong, &right] {
            let mut wire = dialer.dial().unwrap();
            let at_once = format!(
                "POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\nContent-Length: 3\r\n\
                 Expect: 100-continue\r\n\r\nabc"
            );
            let answer = wire.ask(at_once.as_bytes()).unwrap();
            assert!(answer.starts_with("HTTP/1.1 40") && !answer.contains("connection: close"), "{answer}");
            let next = wire.ask(get("/v1/companies", &right).as_bytes()).unwrap();
            assert!(next.starts_with("HTTP/1.1 200"), "{next}");
        }
        let chunked = format!(
            "POST /v1/users HTTP/1.1\r\nHost: localhost\r\nAuthorization: {wrong}\r\nTransfer-Encoding: chunked\r\n\r\n\
             3\r\nabc\r\n0\r\n\r\n"
        );
        let mut wire = dialer.dial().unwrap();
        assert!(wire.ask(chunked.as_bytes()).unwrap().starts_with("HTTP/1.1 401"));
        let next = wire.ask(get("/v1/companies", &right).as_bytes()).unwrap();
        assert!(next.starts_with("HTTP/1.1 200"), "{next}");
    });
}

#[test]
fn large_responses_are_compressed_on_request() {
    on_each(|service| {
        let sample = Sample::make(service, 5);
        let path = format!("/v1/companies/{}/users/balances", sample.company);
        let authorization = basic(&sample.provider);
        let ask = |path: &str, encoding: &str| {
            let headers = [("Authorization", authorization.as_str()), ("Accept-Encoding", encoding)];
            service.running.raw(path, &headers)
        };
        let (plain, none) = ask(&path, "identity");
        assert!(plain.len() > 1_024 && none.is_none());
        let (gzip, encoding) = ask(&path, "gzip");
        assert_eq!(encoding.as_deref(), Some("gzip"));
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(gzip.as_slice()).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, plain);
        assert!(gzip.len() < plain.len() / 2);
        let (zstd, encoding) = ask(&path, "br, zstd");
        assert_eq!((encoding.as_deref(), &zstd[..4]), (Some("zstd"), &[0x28, 0xb5, 0x2f, 0xfd][..]));
        let small = format!("/v1/companies/{}", sample.company);
        assert!(ask(&small, "gzip").1.is_none(), "too small to compress");
        assert!(ask("/v1/nothing", "gzip").1.is_none());
    });
}

#[test]
fn valid_credentials_work_despite_failed_logins_from_the_address() {
    on_each_with(&[("GUERDON_RATE_LIMIT__FAILED_LOGINS_PER_MINUTE", "2")], |service| {
        let known = Sample::make(service, 0).provider;
        let stranger = service.provider("stranger", false);
        let ask = |provider: &Provider| service.get(provider, "/v1/companies").status;
        let guess = |key: &str| {
            ask(&Provider { api_key: key.to_owned(), api_secret: "wrong".to_owned(), ..known.clone() })
        };
        assert_eq!([(); 3].map(|()| guess(&known.api_key)), [401, 401, 429]);
        assert_eq!(ask(&known), 200, "while others guess at the same key");
        let others: Vec<u16> = (0..9).map(|number| guess(&format!("key-{number}"))).collect();
        assert_eq!(others, [401, 401, 401, 401, 401, 401, 401, 401, 429]);
        assert_eq!(ask(&stranger), 200, "first request of this provider");
        assert_eq!(ask(&known), 200, "while others fail from the same address");
        let id = known.id.as_str();
        let rotated = service.json(&["provider", "rotate", id, "--api-secret"]);
        let until_seen = || (0..10_000).map(|_| ask(&known)).find(|status| *status != 200);
        assert_eq!(until_seen(), Some(429), "a withdrawn secret is wrong");
        assert_eq!(rotated["api_key"], json!(known.api_key));
        let refused = format!("were refused (API key: {})", known.api_key);
        until("refused credentials should be logged with their key", || {
            (service.running.says(&refused) >= 2).then_some(())
        });
        assert!(service.running.says("were refused (API key: none of ours)") >= 8);
        assert_eq!(service.running.says("only right credentials pass there"), 1, "once a minute");
    });
}
