//! Invalid bodies, on every endpoint that takes a body (behaviour 2.2).

use guerdon_test_harness::{HttpResponse, HttpsClient};
use serde_json::{Value, json};

use super::endpoints::{Endpoint, append_member};
use super::{InputFixture, for_each_input_fixture};

/// Sends bytes as a body on a new connection and returns the response. The connection must close.
fn send_body(
    fixture: &InputFixture<'_>,
    connector: &HttpsClient,
    endpoint: &Endpoint,
    body: &[u8],
) -> HttpResponse {
    let mut bytes =
        request_head(fixture, endpoint, &format!("Connection: close\r\nContent-Length: {}", body.len()));
    bytes.extend_from_slice(body);
    send_and_expect_one(connector, &bytes)
}

fn request_head(fixture: &InputFixture<'_>, endpoint: &Endpoint, lines: &str) -> Vec<u8> {
    let (method, path, authorization) = (endpoint.method, &endpoint.path, &fixture.authorization);
    let first = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}");
    format!("{first}\r\nContent-Type: application/json\r\n{lines}\r\n\r\n").into_bytes()
}

/// Sends bytes and returns the response. There must be exactly one response, after which the connection closes.
fn send_and_expect_one(connector: &HttpsClient, bytes: &[u8]) -> HttpResponse {
    let mut responses = connector.connect().unwrap().send_and_read_to_end(bytes).unwrap();
    assert_eq!(responses.len(), 1, "{responses:?}");
    responses.remove(0)
}

fn assert_is_refused(said: &HttpResponse, what: &str) {
    assert_eq!(said.status, 400, "{what}: {said}");
    let error: Value = serde_json::from_slice(&said.body).unwrap();
    assert_eq!(error["error"]["status"], 400, "{what}");
    assert!(error["error"]["message"].as_str().unwrap().contains("body"), "{what}: {said}");
    assert!(said.head.contains("content-type: application/json"), "{}", said.head);
}

fn encode_utf_16(text: &str, little: bool, mark: bool) -> Vec<u8> {
    let units = mark.then_some(0xfeff).into_iter().chain(text.encode_utf16());
    units.flat_map(|unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect()
}

/// Invalid variants of a valid body.
#[expect(clippy::too_many_lines, reason = "a table of texts")]
fn malformed_bodies(good: &str) -> Vec<Vec<u8>> {
    let inside = &good[1..good.len() - 1];
    let comma = if inside.is_empty() { "" } else { "," };
    let texts = [
        String::new(),
        " ".into(),
        "\r\n".into(),
        "{".into(),
        "}".into(),
        "[]".into(),
        "[{}]".into(),
        format!("[{good}]"),
        "null".into(),
        "1".into(),
        "-1.5e3".into(),
        "true".into(),
        "\"\"".into(),
        json_string(good),
        "x".into(),
        good[..good.len() - 1].into(),
        format!("{good}}}"),
        format!("{good}{good}"),
        format!("{good} {good}"),
        format!("{good}\n{good}"),
        format!("{good},"),
        format!("{good}x"),
        format!("{good}\0"),
        format!("{good}null"),
        format!("\u{feff}{good}"),
        format!("{good}\u{feff}"),
        format!("\u{a0}{good}"),
        format!("// x\n{good}"),
        format!("{good}/* x */"),
        format!("{{{inside},}}"),
        format!("{{,{inside}}}"),
        format!("{{{inside}{comma}\"x\"}}"),
        format!("{{{inside}{comma}\"x\":}}"),
        format!("{{{inside}{comma}x:1}}"),
        format!("{{{inside}{comma}'x':1}}"),
        format!("{{{inside}{comma}1:1}}"),
        format!("{{{inside}{comma}null:1}}"),
        format!("{{{inside}{comma}\"x\":1,\"x\":1}}"),
        format!("{{{inside}{comma}\"x\":1,\"\\u0078\":1}}"),
        format!("{{{inside}{comma}\"x\":{{\"y\":1,\"y\":1}}}}"),
        format!("{{{inside}{comma}\"x\":[[{{\"y\":1,\"z\":1,\"y\":2}}]]}}"),
        format!("{{{inside}{comma}\"\":1,\"\":1}}"),
        format!("{{{inside}{comma}\"\\ud800\":1}}"),
        format!("{{{inside}{comma}\"x\":\"\\ud800\"}}"),
        format!("{{{inside}{comma}\"x\":\"\u{1}\"}}"),
        format!("{{{inside}{comma}\"x\":{}}}", nested_arrays(128)),
        format!("{{{inside}{comma}\"x\":{}}}", nested_arrays(100_000)),
        format!("{{{inside}{comma}\"x\":{}", "[".repeat(1_000_000)),
        format!("{{{inside}{comma}{}", "\"x\":{".repeat(100_000)),
        format!("%7B%7D{good}"),
        "a=1&b=2".into(),
        "<x/>".into(),
        "---\na: 1".into(),
    ];
    let mut all: Vec<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
    for (little, mark) in [(true, true), (false, true), (true, false), (false, false)] {
        all.push(encode_utf_16(good, little, mark));
    }
    for bad in
        [b"\xff".as_slice(), b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82", b"\xf0\x9f"]
    {
        for (before, after) in [("\"x\":\"", "\""), ("\"", "\":1")] {
            all.push([format!("{{{inside}{comma}{before}").as_bytes(), bad, after.as_bytes(), b"}"].concat());
        }
        all.push([good.as_bytes(), bad].concat());
    }
    all.push([b"\x1f\x8b\x08\x00".as_slice(), good.as_bytes()].concat());
    all
}

fn json_string(value: &str) -> String {
    json!(value).to_string()
}

/// `depth` nested arrays.
fn nested_arrays(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn a_body_that_is_not_a_json_object_in_utf_8_is_400() {
    for_each_input_fixture(|fixture| {
        let connector = fixture.service.running.https();
        fixture.assert_nothing_changes(|| {
            for endpoint in fixture.endpoints() {
                for body in malformed_bodies(&endpoint.valid_body().to_string()) {
                    let start = String::from_utf8_lossy(&body[..body.len().min(300)]).into_owned();
                    assert_is_refused(
                        &send_body(fixture, connector, &endpoint, &body),
                        &format!("{} {start}", endpoint.path),
                    );
                }
            }
        });
    });
}

#[test]
fn more_than_a_mebibyte_is_400_and_closes_the_connection() {
    for_each_input_fixture(|fixture| {
        let connector = fixture.service.running.https();
        let whole = |endpoint: &Endpoint, length: usize| {
            let body = endpoint.valid_body();
            append_member(
                &body,
                &format!("\"x\":\"{}\"", "x".repeat(length - append_member(&body, "\"x\":\"\"").len())),
            )
        };
        let endpoints = fixture.endpoints();
        fixture.assert_nothing_changes(|| {
            for endpoint in &endpoints {
                let declared = request_head(fixture, endpoint, "Content-Length: 1048577");
                let vast = request_head(fixture, endpoint, "Content-Length: 9223372036854775807");
                for bytes in [declared, vast] {
                    let response = send_and_expect_one(connector, &bytes);
                    assert_is_refused(&response, &endpoint.path);
                    assert!(response.head.contains("connection: close"), "{}", response.head);
                }
                let body = whole(endpoint, (1 << 20) + 1);
                let mut bytes = request_head(fixture, endpoint, "Transfer-Encoding: chunked");
                for chunk in body.as_bytes().chunks(60_000) {
                    bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                    bytes.extend_from_slice(chunk);
                    bytes.extend_from_slice(b"\r\n");
                }
                let response = send_and_expect_one(connector, &bytes);
                assert_is_refused(&response, &endpoint.path);
                assert!(response.head.contains("connection: close"), "{}", response.head);
            }
        });
        for endpoint in &endpoints {
            let response = fixture.send_to_endpoint(endpoint, &whole(endpoint, 1 << 20));
            assert_eq!(response.status, endpoint.success_status(), "{}: {}", endpoint.path, response.body);
        }
    });
}

#[test]
fn depth_of_127_and_a_hundred_thousand_names_are_accepted() {
    for_each_input_fixture(|fixture| {
        let many: Vec<String> = (0..90_000).map(|number| format!("\"{number}\":1")).collect();
        for endpoint in fixture.endpoints() {
            let deep = append_member(&endpoint.valid_body(), &format!("\"deep\":{}", nested_arrays(126)));
            let response = fixture.send_to_endpoint(&endpoint, &deep);
            assert_eq!(response.status, endpoint.success_status(), "{}: {}", endpoint.path, response.body);
            assert_eq!(response.header("x-ignored-fields"), Some("deep"));
            let wide =
                fixture.send_to_endpoint(&endpoint, &append_member(&endpoint.valid_body(), &many.join(",")));
            assert_eq!(wide.status, endpoint.success_status(), "{}: {}", endpoint.path, wide.body);
            assert_eq!(wide.header("x-ignored-fields").unwrap().split(", ").count(), 20);
        }
    });
}

#[test]
fn unknown_fields_are_ignored_and_listed_if_their_names_are_plain() {
    for_each_input_fixture(|fixture| {
        let long = "x".repeat(64);
        let names = ["id", "created_at", "b.c", "x-y_Z", "0", &long];
        let unnamed = ["a b", "", "ü", "a\r\nb: c", "a,b", &"x".repeat(65), "a:b", "a\"b"];
        for endpoint in fixture.endpoints() {
            let more: Vec<String> = names
                .iter()
                .chain(unnamed.iter())
                .map(|name| format!("{}:{{\"any\":[null,\"x\"]}}", json_string(name)))
                .collect();
            let response =
                fixture.send_to_endpoint(&endpoint, &append_member(&endpoint.valid_body(), &more.join(",")));
            assert_eq!(response.status, endpoint.success_status(), "{}: {}", endpoint.path, response.body);
            let mut ignored: Vec<&str> = response.header("x-ignored-fields").unwrap().split(", ").collect();
            ignored.sort_unstable();
            let mut expected = names;
            expected.sort_unstable();
            assert_eq!(ignored, expected, "{} {}", endpoint.method, endpoint.path);
            let plain = fixture.send_to_endpoint(&endpoint, &endpoint.valid_body().to_string());
            assert_eq!((plain.status, plain.header("x-ignored-fields")), (endpoint.success_status(), None));
        }
    });
}

#[test]
fn an_unknown_field_must_not_contain_nul() {
    for_each_input_fixture(|fixture| {
        fixture.assert_nothing_changes(|| {
            for endpoint in fixture.endpoints() {
                for (unknown, names) in [
                    (r#""x":"\u0000""#, ": x"),
                    (r#""x":"a\u0000b""#, ": x"),
                    (r#""x":[{"y":["\u0000"]}]"#, ": x"),
                    (r#""x":{"a\u0000":1}"#, ": x"),
                    (r#""a\u0000b":1"#, ""),
                ] {
                    let message = fixture
                        .send_to_endpoint(&endpoint, &append_member(&endpoint.valid_body(), unknown))
                        .expect_error(400);
                    assert_eq!(
                        message,
                        format!("unknown fields must not contain U+0000{names}"),
                        "{unknown}"
                    );
                }
            }
        });
    });
}
