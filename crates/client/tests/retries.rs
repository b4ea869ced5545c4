//! Which requests are retried, and how.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread::JoinHandle;

#[cfg(feature = "async")]
use guerdon_client::AsyncClient;
use guerdon_client::{Client, Credentials, Error};
use serde_json::{Value, json};

/// An address at which nothing listens. A port that was free a moment ago may belong to another test by now.
const CLOSED: &str = "http://127.0.0.1:1";

/// Serves one connection for each response; an empty response closes the connection. Returns the requests in lower
/// case.
fn start_server<R: AsRef<[u8]> + Sync + 'static>(
    responses: &'static [R],
) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let mut requests = Vec::new();
        for response in responses {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let is_whole = |it: &[u8]| {
                let text = String::from_utf8_lossy(it);
                text.split_once("\r\n\r\n")
                    .is_some_and(|(head, body)| !head.starts_with("POST") || body.ends_with('}'))
            };
            while !is_whole(&request) {
                let mut part = [0; 4_096];
                let length = stream.read(&mut part).unwrap();
                request.extend_from_slice(&part[..length]);
            }
            stream.write_all(response.as_ref()).unwrap();
            requests.push(String::from_utf8(request).unwrap().to_lowercase());
        }
        requests
    });
    (base, served)
}

fn test_credentials() -> Credentials {
    Credentials { api_key: "gk".to_owned(), api_secret: "gs".to_owned() }
}

fn create_client(base: &str) -> Client {
    Client::new(base, &test_credentials())
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
const UNAVAILABLE: &str =
    "HTTP/1.1 503 Service Unavailable\r\nretry-after: 0\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const MAINTENANCE: &str = "HTTP/1.1 503 Service Unavailable\r\nretry-after: 0\r\ncontent-length: 36\r\n\
                           connection: close\r\n\r\n{\"code\":\"maintenance\",\"detail\":\"no\"}";
const UNAUTHORIZED: &str = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 37\r\nconnection: close\r\n\r\n\
                            {\"code\":\"unauthorized\",\"detail\":\"no\"}";
const NOT_FOUND: &str = "HTTP/1.1 404 Not Found\r\ncontent-length: 34\r\nconnection: close\r\n\r\n\
                         {\"code\":\"not_found\",\"detail\":\"no\"}";
const KEY_REUSED: &str = "HTTP/1.1 400 Bad Request\r\ncontent-length: 47\r\nconnection: close\r\n\r\n\
                          {\"code\":\"idempotency_key_reused\",\"detail\":\"no\"}";
const PROXY_NOT_FOUND: &str =
    "HTTP/1.1 404 Not Found\r\ncontent-length: 6\r\nconnection: close\r\n\r\n<html>";
const REFUSED: &str = "HTTP/1.1 400 Bad Request\r\nx-request-id: r-1\r\ncontent-length: 95\r\nconnection: close\r\n\r\n\
                       {\"code\":\"invalid_request\",\"detail\":\"no such a\",\"errors\":[{\"field\":\"a\",\"message\":\"no such a\"}]}\n";

/// The idempotency key of a request in lower case.
fn find_key(request: &str) -> Option<&str> {
    request.lines().find_map(|line| line.strip_prefix("idempotency-key: "))
}

#[test]
fn unknown_outcome_has_the_key_that_was_sent() {
    let cases: [(&'static [&'static str], bool); 10] = [
        (&["", MAINTENANCE, MAINTENANCE, MAINTENANCE, MAINTENANCE, MAINTENANCE], true),
        (&[""; 6], true),
        (&[UNAVAILABLE; 6], true),
        (&["", UNAUTHORIZED], true),
        (&["", PROXY_NOT_FOUND], true),
        (&["", KEY_REUSED], true),
        (&["HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\n<html>"], true),
        (&[MAINTENANCE; 6], false),
        (&["", REFUSED], false),
        (&["", NOT_FOUND], false),
    ];
    std::thread::scope(|scope| {
        for (responses, is_unknown) in cases {
            scope.spawn(move || {
                let (base, served) = start_server(responses);
                let error = create_client(&base).post::<Value>("/x", &json!({})).send().unwrap_err();
                let requests = served.join().unwrap();
                let expected = if is_unknown { find_key(&requests[0]) } else { None };
                let key = match &error {
                    Error::OutcomeUnknown { idempotency_key, .. } => Some(idempotency_key.as_str()),
                    _ => None,
                };
                assert_eq!(key, expected, "{responses:?}: {error:?}");
            });
        }
    });
}

#[test]
fn errors_of_get_and_of_unsent_requests_have_no_unknown_outcome() {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (base, served) = start_server(&[""; 6]);
            let error = create_client(&base).get::<Value>("/x").send().unwrap_err();
            assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
            served.join().unwrap();
        });
        scope.spawn(|| {
            let error = create_client(CLOSED).post::<Value>("/x", &json!({})).send().unwrap_err();
            assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
        });
    });
    let client = create_client(CLOSED);
    let call = client.post::<Value>("/x", &json!({})).with_idempotency_key("line\nbreak");
    let error = call.send().unwrap_err();
    assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
}

#[test]
fn delete_succeeds_if_an_earlier_attempt_may_have_deleted_the_object() {
    let (base, served) = start_server(&["", NOT_FOUND]);
    create_client(&base).delete("/x").send().unwrap();
    assert_eq!(served.join().unwrap().len(), 2);
    let never_deleted: [&'static [&'static str]; 3] =
        [&[NOT_FOUND], &[MAINTENANCE, NOT_FOUND], &["", PROXY_NOT_FOUND]];
    for responses in never_deleted {
        let (base, _served) = start_server(responses);
        let error = create_client(&base).delete("/x").send().unwrap_err();
        assert!(matches!(error, Error::Refused { status: 404, .. }), "{responses:?}: {error:?}");
    }
}

#[test]
fn response_that_is_not_utf_8_is_a_refusal() {
    let (base, served) =
        start_server(&[b"HTTP/1.1 403 Forbidden\r\ncontent-length: 4\r\nconnection: close\r\n\r\ncaf\xe9"]);
    let error = create_client(&base).get::<Value>("/x").send().unwrap_err();
    assert!(error.to_string().starts_with("403: caf\u{fffd}"), "{error}");
    assert_eq!(served.join().unwrap().len(), 1);
}

#[test]
fn post_is_retried_under_one_key() {
    let (base, served) = start_server(&[UNAVAILABLE, "", OK]);
    assert_eq!(create_client(&base).post::<Value>("/x", &json!({"a": 1})).send().unwrap(), json!({}));
    let requests = served.join().unwrap();
    let keys: Vec<&str> = requests.iter().map(|request| find_key(request).unwrap()).collect();
    assert_eq!((keys.len(), &keys[0], &keys[0]), (3, &keys[1], &keys[2]));
    assert_eq!(keys[0].len(), 36);
}

#[test]
fn statuses_of_proxies_are_retried() {
    const BAD_GATEWAY: &str = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    const NO_TIME: &str = "HTTP/1.1 504 Gateway Timeout\r\nretry-after: Fri, 20 Nov 2026 20:01:02 GMT\r\n\
                           content-length: 0\r\nconnection: close\r\n\r\n";
    let (base, served) = start_server(&[BAD_GATEWAY, NO_TIME, OK]);
    assert_eq!(create_client(&base).get::<Value>("/x").send().unwrap(), json!({}));
    assert_eq!(served.join().unwrap().len(), 3);
}

#[test]
fn redirect_is_not_followed() {
    const MOVED: &str = "HTTP/1.1 301 Moved\r\nlocation: https://example.com/v1/x\r\ncontent-length: 0\r\n\
                         connection: close\r\n\r\n";
    for method in ["GET", "POST"] {
        let (base, served) = start_server(&[MOVED]);
        let result = match method {
            "GET" => create_client(&base).get::<Value>("/x").send(),
            _ => create_client(&base).post::<Value>("/x", &json!({})).send(),
        };
        let message = result.unwrap_err().to_string();
        assert!(message.starts_with("301: redirected to https://example.com/v1/x"), "{message}");
        assert_eq!(served.join().unwrap().len(), 1);
    }
}

#[test]
fn address_may_have_the_version_and_slashes() {
    for tail in ["", "/", "/v1", "/v1/", "//v1//"] {
        let (base, served) = start_server(&[OK]);
        let client = create_client(&format!("{base}{tail}"));
        assert_eq!(client.base_url(), base);
        client.get::<Value>("/x").send().unwrap();
        assert!(served.join().unwrap()[0].starts_with("get /v1/x http/1.1"));
    }
}

#[test]
fn error_text_is_complete() {
    use std::error::Error as _;
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    // A server that responds in clear text fails the TLS handshake, which a retry cannot change.
    let served = std::thread::spawn(move || listener.accept().unwrap().0.write_all(OK.as_bytes()));
    let error = create_client(&base).get::<Value>("/x").send().unwrap_err();
    assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
    assert!(error.source().is_none(), "{error:?}");
    served.join().unwrap().unwrap();
}

#[test]
fn bundle_of_certificates_is_read_and_empty_file_refused() {
    let credentials = test_credentials();
    let connect =
        |pem: &[u8]| Client::with_root_certificates("https://localhost:1", &credentials, pem).map(drop);
    let block = |label: &str| format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n");
    let (one, key) = (block("CERTIFICATE"), block("PRIVATE KEY"));
    for bundle in [one.clone(), format!("{one}{one}"), format!("{key}{one}")] {
        connect(bundle.as_bytes()).unwrap();
    }
    for wrong in ["", "no certificate", &key] {
        assert!(matches!(connect(wrong.as_bytes()), Err(Error::Certificate(_))), "{wrong}");
    }
}

#[test]
fn lasting_refusal_is_not_retried() {
    let (base, served) = start_server(&[REFUSED]);
    match create_client(&base).get::<Value>("/x").send() {
        Err(Error::Refused { status: 400, message, errors, request_id, .. }) => {
            assert_eq!((message.as_str(), request_id.as_str()), ("no such a", "r-1"));
            let errors: Vec<_> =
                errors.iter().map(|error| (error.field.as_str(), error.message.as_str())).collect();
            assert_eq!(errors, [("a", "no such a")]);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(served.join().unwrap().len(), 1);
}

#[test]
fn given_idempotency_key_is_sent() {
    let (base, served) = start_server(&[UNAVAILABLE, OK]);
    let call = create_client(&base).post::<Value>("/x", &json!({})).with_idempotency_key("order-1").send();
    assert_eq!(call.unwrap(), json!({}));
    assert!(served.join().unwrap().iter().all(|request| request.contains("idempotency-key: order-1\r\n")));
}

#[test]
fn filters_are_encoded() {
    const EMPTY: &str = "HTTP/1.1 200 OK\r\ncontent-length: 30\r\nconnection: close\r\n\r\n\
                         {\"total_count\":0,\"results\":[]}";
    let (base, served) = start_server(&[EMPTY]);
    let client = create_client(&base);
    let users =
        client.list_company_users(uuid::Uuid::nil()).with_email("a+b@example.com").including_deleted();
    assert_eq!(users.count(), 0);
    let expected = "get /v1/companies/00000000-0000-0000-0000-000000000000/users?email=a%2bb%40example.com\
                    &include_deleted=true&page=1&per_page=100 http/1.1";
    assert_eq!(served.join().unwrap()[0].lines().next(), Some(expected));
}

/// Compiles only if the future can run on a multi-threaded runtime.
#[cfg(feature = "async")]
fn send_between_threads<T>(future: impl Future<Output = T> + Send) -> impl Future<Output = T> + Send {
    future
}

#[cfg(feature = "async")]
#[tokio::test]
async fn async_client_retries_in_the_same_way() {
    let (base, served) = start_server(&[UNAVAILABLE, "", OK, OK, REFUSED, "", UNAUTHORIZED]);
    let client = AsyncClient::new(&base, &test_credentials()).unwrap();
    let post = || async { client.post::<Value>("/x", &json!({"a": 1})).send().await };
    assert_eq!(send_between_threads(post()).await.unwrap(), json!({}));
    assert_eq!(client.get::<Value>("/x").send().await.unwrap(), json!({}));
    let refused = client.get::<Value>("/x").send().await;
    assert!(matches!(refused, Err(Error::Refused { status: 400, .. })), "{refused:?}");
    let unknown = post().await.unwrap_err();
    let requests = served.join().unwrap();
    let keys: Vec<_> = requests.iter().map(|request| find_key(request)).collect();
    assert!(keys[0].is_some() && keys[0] == keys[1] && keys[0] == keys[2], "{keys:?}");
    assert_eq!(keys[3], None);
    let Error::OutcomeUnknown { idempotency_key, .. } = &unknown else { panic!("{unknown:?}") };
    assert!(keys[5] == Some(idempotency_key.as_str()) && keys[6] == keys[5], "{keys:?}");
}

#[cfg(feature = "async")]
#[tokio::test]
async fn async_errors_are_those_of_the_blocking_client() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || listener.accept().unwrap().0.write_all(OK.as_bytes()));
    let client = AsyncClient::new(&base, &test_credentials()).unwrap();
    let error = client.get::<Value>("/x").send().await.unwrap_err();
    assert!(matches!(error, Error::Unreachable(_)), "{error:?}");
    served.join().unwrap().unwrap();

    let (base, served) =
        start_server(&[b"HTTP/1.1 403 Forbidden\r\ncontent-length: 4\r\nconnection: close\r\n\r\ncaf\xe9"]);
    let client = AsyncClient::new(&base, &test_credentials()).unwrap();
    let error = client.get::<Value>("/x").send().await.unwrap_err();
    assert!(error.to_string().starts_with("403: caf\u{fffd}"), "{error}");
    served.join().unwrap();

    let (base, _served) = start_server(&[OK]);
    let client = AsyncClient::new(&base, &test_credentials()).unwrap().with_response_max_bytes(1);
    let error = client.get::<Value>("/x").send().await.unwrap_err();
    assert!(matches!(error, Error::TooLarge(1)), "{error:?}");
    let empty = AsyncClient::with_root_certificates(&base, &test_credentials(), b"").map(drop);
    assert!(matches!(empty, Err(Error::Certificate(_))));
}
