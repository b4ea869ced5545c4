use std::time::{Duration, SystemTime};

use super::diagnose;
use crate::signature::{Delivery, sign};

const SECRET: &str = "gw_0123456789abcdef";

/// 2026-11-20T20:01:02.345Z
fn delivery_time() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(1_795_204_862_345)
}

fn check_diagnosis(secret: &str, changed: Delivery<'_>, now: SystemTime, part: &str, hint: &str) {
    let diagnosis = diagnose(secret, &changed, None, now).unwrap_err();
    assert_eq!(diagnosis.part.as_str(), part, "{changed:?}: {diagnosis}");
    assert!(diagnosis.hint.contains(hint), "{diagnosis}");
}

const NONCE: &str = "cbebb86099222c806dd026d4f0d16547";

#[test]
fn wrong_part_is_named() {
    let (url, timestamp, body) = ("https://example.com/hook", "2026-11-20T20:01:02.345Z", b"{}");
    let signature = sign(SECRET, url, timestamp, NONCE, body);
    let signed = Delivery { url, timestamp, nonce: NONCE, signature: &signature, body };
    let check = |changed, part, hint| check_diagnosis(SECRET, changed, delivery_time(), part, hint);
    assert_eq!(diagnose(SECRET, &signed, None, delivery_time()), Ok(()));
    check(Delivery { url: "https://example.com/hook/", ..signed }, "url", "without the slash");
    check(Delivery { url: "https://Example.com/hook", ..signed }, "url", "lower case");
    check(Delivery { url: "http://example.com/hook", ..signed }, "url", "scheme");
    check(Delivery { url: "https://example.com:443/hook", ..signed }, "url", "port");
    check(Delivery { url: "https://example.com/hook?a=1", ..signed }, "url", "query");
    let late = delivery_time() + Duration::from_secs(301);
    check_diagnosis(SECRET, signed, late, "timestamp", "is 301 s behind this clock, more than 5 minutes");
    let early = delivery_time() - Duration::from_secs(400);
    check_diagnosis(SECRET, signed, early, "timestamp", "is 400 s ahead of this clock");
    check(Delivery { timestamp: "now", ..signed }, "timestamp", "not a time");
    for timestamp in [
        "2026-11-20T20:01:02.345+00:00",
        "2026-11-20t20:01:02.345Z",
        "2026-11-20T20:01:02.345z",
        "2026-11-20T20:01:02Z",
    ] {
        check(Delivery { timestamp, ..signed }, "timestamp", "not in the form");
    }
    check(Delivery { nonce: "", ..signed }, "nonce", "empty");
    let upper = NONCE.to_uppercase();
    check(Delivery { nonce: &upper, ..signed }, "nonce", "32 lower-case");
    check(Delivery { nonce: &NONCE[1..], ..signed }, "nonce", "32 lower-case");
    check(Delivery { signature: "AB", ..signed }, "signature", "64 lower-case");
    check_diagnosis(&format!("{SECRET}\n"), signed, delivery_time(), "secret", "around it");
    check_diagnosis("gs_0123", signed, delivery_time(), "secret", "shared secret (gw_");
    check_diagnosis("whsec_MDEy", signed, delivery_time(), "secret", "Standard Webhooks");
    check_diagnosis("another", signed, delivery_time(), "secret or body", "no common mistake");
}

#[test]
fn change_of_a_body_is_named() {
    let body = concat!(
        r#"{"type":"redemption.created","version":"1.0","data":{"user_id":"1","user_email":"grüße@a/b.example","#,
        r#""points":20,"cumulative_points_spent":70,"company_id":"x \\\" y 🎉 \\u00fc \n"}}"#
    );
    let (url, timestamp) = ("https://example.com/hook", "2026-11-20T20:01:02.345Z");
    let signature = sign(SECRET, url, timestamp, NONCE, body.as_bytes());
    let signed = Delivery { url, timestamp, nonce: NONCE, signature: &signature, body: body.as_bytes() };
    let changed = |url, body: &str, part, hint| {
        let body = body.as_bytes();
        check_diagnosis(SECRET, Delivery { url, body, ..signed }, delivery_time(), part, hint);
    };
    let check = |body: &str, hint| changed(url, body, "body", hint);
    let spaced = body.replace("\":", "\": ").replace(",\"", ",\n  \"");
    let escaped =
        |text: &str| text.replace('ü', "\\u00fc").replace('ß', "\\u00DF").replace('🎉', "\\ud83c\\udf89");
    let (data, rest) =
        body.strip_prefix(r#"{"type":"redemption.created","version":"1.0","data":"#).unwrap().split_at(1);
    let (first, others) = rest.split_once(',').unwrap();
    let others = others.strip_suffix("}}").unwrap();
    let sorted =
        format!(r#"{{"data":{data}{others},{first}}},"type":"redemption.created","version":"1.0"}}"#);
    check(&format!("{body}\n"), "line breaks were added");
    check(&format!("\u{feff}{body}"), "byte order mark");
    check(&serde_json::to_string(body).unwrap(), "as a JSON string");
    check(&spaced, "with white space");
    check(&escaped(body), "escaped");
    check(&body.replace('/', "\\/"), "escaped");
    check(&sorted, "different order");
    check(&format!("\u{feff}{}\n", escaped(&spaced)), "with white space");
    changed("https://example.com/hook/", &escaped(&sorted), "url and body", "without the slash");
    changed("http://example.com/hook", &spaced, "url and body", "; body: it was parsed and serialised again");
    check_unexplained_bodies(&signed);
}

fn check_unexplained_bodies(signed: &Delivery<'_>) {
    for body in [&b"\"\\ud800\""[..], b"null", b"{\"type\":1}", &[0xff, b'"', 0xfe]] {
        check_diagnosis(
            SECRET,
            Delivery { body, ..*signed },
            delivery_time(),
            "secret or body",
            "no common mistake",
        );
    }
}

#[test]
fn white_space_in_an_unknown_kind_of_event_is_named() {
    let (url, timestamp) = ("https://example.com/hook", "2026-11-20T20:01:02.345Z");
    let body = br#"{"type":"badge.created","data":{"path":"a \\","text":"b \\\" c","points":2}}"#;
    let signature = sign(SECRET, url, timestamp, NONCE, body);
    let changed =
        br#"{ "type": "badge.created", "data": { "path": "a \\", "text": "b \\\" c", "points": 2 } }"#;
    let delivery = Delivery { url, timestamp, nonce: NONCE, signature: &signature, body: changed };
    check_diagnosis(SECRET, delivery, delivery_time(), "body", "with white space");
}

#[test]
fn incorrectly_copied_value_is_named() {
    let (secret, url) = ("gw_0123456789abcdef", "http://127.0.0.1:8080/hook");
    let (timestamp, body) = ("2026-11-20T20:01:02.345Z", br#"{"type":"redemption.created"}"#);
    let signature = sign(secret, url, timestamp, NONCE, body);
    let signed = Delivery { url, timestamp, nonce: NONCE, signature: &signature, body };
    let check = |changed, part, hint| check_diagnosis(secret, changed, delivery_time(), part, hint);
    check(Delivery { url: "'http://127.0.0.1:8080/hook'", ..signed }, "url", "without quotes");
    check(Delivery { url: "http://localhost:8080/hook", ..signed }, "url", "with the host 127.0.0.1");
    check(Delivery { url: "http://[::1]:8080/hook", ..signed }, "url", "with the host 127.0.0.1");
    let without_port = sign(secret, "http://[::1]/hook", timestamp, NONCE, body);
    check(
        Delivery { url: "http://localhost/hook", signature: &without_port, ..signed },
        "url",
        "with the host [::1]",
    );
    let to_name = sign(secret, "http://localhost/hook", timestamp, NONCE, body);
    check(
        Delivery { url: "http://[::1]/hook", signature: &to_name, ..signed },
        "url",
        "with the host localhost",
    );
    check_diagnosis("0123456789abcdef", signed, delivery_time(), "secret", "gw_ is missing");
    check_diagnosis("\"gw_0123456789abcdef\"", signed, delivery_time(), "secret", "quotes");
    check(Delivery { body: b"", ..signed }, "body", "it is empty");
    check(Delivery { body: &body[..12], ..signed }, "body", "incomplete after 12 bytes");
    let cut = Delivery { body: b"{}", ..signed };
    let diagnosis = diagnose(secret, &cut, Some(29), delivery_time()).unwrap_err();
    assert_eq!(diagnosis.to_string(), "body: it has 2 bytes, but the content-length header says 29");
    check_diagnosis(secret, cut, delivery_time(), "secret or body", "no common mistake");
}
