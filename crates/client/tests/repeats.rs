//! What is repeated, and how.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread::JoinHandle;

use guerdon_client::{Client, Credentials, Error};
use serde_json::{Value, json};

/// Answers one connection after another so, an empty answer by closing it; gives back the requests.
fn answering(answers: &'static [&'static str]) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let mut requests = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let is_whole = |it: &[u8]| {
                let text = String::from_utf8_lossy(it);
                text.split_once("\r\n\r\n")
                    .is_some_and(|(head, body)| head.starts_with("GET") || body.ends_with('}'))
            };
            while !is_whole(&request) {
                let mut part = [0; 4_096];
                let length = stream.read(&mut part).unwrap();
                request.extend_from_slice(&part[..length]);
            }
            stream.write_all(answer.as_bytes()).unwrap();
            requests.push(String::from_utf8(request).unwrap().to_lowercase());
        }
        requests
    });
    (base, served)
}

fn client(base: &str) -> Client {
    Client::new(base, &Credentials { api_key: "gk".to_owned(), api_secret: "gs".to_owned() })
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
const AWAY: &str =
    "HTTP/1.1 503 Service Unavailable\r\nretry-after: 0\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const REFUSED: &str = "HTTP/1.1 400 Bad Request\r\nx-request-id: r-1\r\ncontent-length: 46\r\nconnection: close\r\n\r\n\
                       {\"error\":{\"status\":400,\"message\":\"no such a\"}}\n";

#[test]
fn a_post_is_repeated_under_one_key() {
    let (base, served) = answering(&[AWAY, "", OK]);
    assert_eq!(client(&base).post::<Value>("/x", &json!({"a": 1})).unwrap(), json!({}));
    let requests = served.join().unwrap();
    let key = |request: &String| {
        let key = request.lines().find_map(|it| it.strip_prefix("idempotency-key: ")).map(str::to_owned);
        key.unwrap_or_else(|| panic!("{request}"))
    };
    let keys: Vec<String> = requests.iter().map(key).collect();
    assert_eq!((keys.len(), &keys[0], &keys[0]), (3, &keys[1], &keys[2]));
    assert_eq!(keys[0].len(), 36);
}

#[test]
fn what_a_proxy_says_meanwhile_is_repeated() {
    const BAD_GATEWAY: &str = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    const NO_TIME: &str = "HTTP/1.1 504 Gateway Timeout\r\nretry-after: Fri, 20 Nov 2026 20:01:02 GMT\r\n\
                           content-length: 0\r\nconnection: close\r\n\r\n";
    let (base, served) = answering(&[BAD_GATEWAY, NO_TIME, OK]);
    assert_eq!(client(&base).get::<Value>("/x").unwrap(), json!({}));
    assert_eq!(served.join().unwrap().len(), 3);
}

#[test]
fn an_answer_that_leads_elsewhere_is_a_refusal() {
    const MOVED: &str = "HTTP/1.1 301 Moved\r\nlocation: https://example.com/v1/x\r\ncontent-length: 0\r\n\
                         connection: close\r\n\r\n";
    for method in ["GET", "POST"] {
        let (base, served) = answering(&[MOVED]);
        let asked = match method {
            "GET" => client(&base).get::<Value>("/x"),
            _ => client(&base).post::<Value>("/x", &json!({})),
        };
        let told = asked.unwrap_err().to_string();
        assert!(told.starts_with("301: it leads elsewhere, to https://example.com/v1/x"), "{told}");
        assert_eq!(served.join().unwrap().len(), 1);
    }
}

#[test]
fn an_address_may_bring_the_version_and_slashes() {
    for tail in ["", "/", "/v1", "/v1/", "//v1//"] {
        let (base, served) = answering(&[OK]);
        let client = client(&format!("{base}{tail}"));
        assert_eq!(client.base(), base);
        client.get::<Value>("/x").unwrap();
        assert!(served.join().unwrap()[0].starts_with("get /v1/x http/1.1"));
    }
}

#[test]
fn a_line_says_its_cause_once() {
    use std::error::Error as _;
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    // Whoever answers in clear text fails at TLS, and would again.
    let served = std::thread::spawn(move || listener.accept().unwrap().0.write_all(OK.as_bytes()));
    let error = client(&base).get::<Value>("/x").unwrap_err();
    assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
    assert!(error.source().is_none(), "{error:?}");
    served.join().unwrap().unwrap();
}

#[test]
fn a_bundle_is_trusted_whole_and_an_empty_file_is_none() {
    let credentials = Credentials { api_key: "gk".to_owned(), api_secret: "gs".to_owned() };
    let trusting = |pem: &[u8]| Client::trusting("https://localhost:1", &credentials, pem).map(drop);
    let block = |label: &str| format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n");
    let (one, key) = (block("CERTIFICATE"), block("PRIVATE KEY"));
    for bundle in [one.clone(), format!("{one}{one}"), format!("{key}{one}")] {
        trusting(bundle.as_bytes()).unwrap();
    }
    for wrong in ["", "no certificate", &key] {
        assert!(matches!(trusting(wrong.as_bytes()), Err(Error::Certificate(_))), "{wrong}");
    }
}

#[test]
fn what_would_be_refused_again_is_asked_once() {
    let (base, served) = answering(&[REFUSED]);
    match client(&base).get::<Value>("/x") {
        Err(Error::Refused { status: 400, message, request_id }) => {
            assert_eq!((message.as_str(), request_id.as_str()), ("no such a", "r-1"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(served.join().unwrap().len(), 1);
}
