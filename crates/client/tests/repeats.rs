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
