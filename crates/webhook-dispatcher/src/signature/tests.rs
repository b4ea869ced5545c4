use std::time::Duration;

use guerdon_domain::ports::Timestamp;
use time::macros::datetime;

use super::{Delivery, SeenNonces, VerifyError, diagnose, sign, verify, verify_within};

const NOW: Timestamp = Timestamp::new(datetime!(2026-11-20 20:01:02.345 UTC));
const SECRET: &str = "whsec_0123456789abcdef";

fn signature() -> String {
    sign(SECRET, "https://example.com/hook", "2026-11-20T20:01:02.345Z", "00ff", b"{}")
}

fn delivery(signature: &str) -> Delivery<'_> {
    Delivery {
        url: "https://example.com/hook",
        timestamp: "2026-11-20T20:01:02.345Z",
        nonce: "00ff",
        signature,
        body: b"{}",
    }
}

#[test]
fn what_was_signed_verifies() {
    let signature = signature();
    assert_eq!(signature.len(), 64);
    assert_eq!(verify(SECRET, &delivery(&signature), NOW), Ok(()));
}

#[test]
fn a_change_in_any_part_is_found() {
    let signature = signature();
    let right = delivery(&signature);
    let check = |changed: Delivery<'_>| {
        assert_eq!(verify(SECRET, &changed, NOW), Err(VerifyError::BadSignature), "{changed:?}");
    };
    check(Delivery { url: "https://example.com/hook/", ..right });
    check(Delivery { url: "https://Example.com/hook", ..right });
    check(Delivery { timestamp: "2026-11-20T20:01:02.346Z", ..right });
    check(Delivery { timestamp: "2026-11-20T20:01:02.345+00:00", ..right });
    check(Delivery { nonce: "00fe", ..right });
    check(Delivery { body: b"{} ", ..right });
    check(Delivery { body: b"", ..right });
    assert_eq!(verify("another", &right, NOW), Err(VerifyError::BadSignature));
    for at in 0..64 {
        let mut changed = signature.clone().into_bytes();
        changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
        check(delivery(std::str::from_utf8(&changed).unwrap()));
    }
}

#[test]
fn the_window_is_five_minutes_in_both_directions() {
    let signature = signature();
    let check = |now: Timestamp, expected| assert_eq!(verify(SECRET, &delivery(&signature), now), expected);
    check(NOW + Duration::from_secs(300), Ok(()));
    check(NOW - Duration::from_secs(300), Ok(()));
    check(NOW + Duration::from_micros(300_000_001), Err(VerifyError::Stale));
    check(NOW - Duration::from_micros(300_000_001), Err(VerifyError::Stale));
    let within =
        verify_within(SECRET, &delivery(&signature), NOW + Duration::from_secs(2), Duration::from_secs(1));
    assert_eq!(within, Err(VerifyError::Stale));
}

#[test]
fn what_has_not_the_form_is_malformed() {
    let signature = signature();
    let right = delivery(&signature);
    let check = |changed: Delivery<'_>, what| {
        assert_eq!(verify(SECRET, &changed, NOW), Err(VerifyError::Malformed(what)), "{changed:?}");
    };
    for text in ["", "abc", "00", &signature.to_uppercase(), &format!("{signature}00"), "é"] {
        check(delivery(text), "the signature");
    }
    for text in ["", "now", "1732132862", "2026-11-20", "2026-11-20T20:01:02.345"] {
        check(Delivery { timestamp: text, ..right }, "the timestamp");
    }
    check(Delivery { nonce: "", ..right }, "the nonce");
    check(Delivery { nonce: "00\nff", ..right }, "the nonce");
}

#[test]
fn a_nonce_is_accepted_once_in_the_window() {
    let signature = signature();
    let right = delivery(&signature);
    let mut seen = SeenNonces::default();
    assert_eq!(seen.remember(&right, NOW), Ok(()));
    assert_eq!(seen.remember(&right, NOW), Err(VerifyError::Replayed));
    assert_eq!(seen.remember(&Delivery { nonce: "01", ..right }, NOW), Ok(()));
    // As far ahead as it may be signed, a delivery is refused for its age before its nonce is forgotten.
    let last = NOW + Duration::from_secs(600);
    assert_eq!(seen.remember(&right, last), Err(VerifyError::Replayed));
    assert_eq!(verify(SECRET, &right, last), Err(VerifyError::Stale));
    assert_eq!(seen.len(), 2);
    assert_eq!(seen.remember(&Delivery { nonce: "02", ..right }, last + Duration::from_micros(1)), Ok(()));
    assert_eq!(seen.len(), 1);
}

/// What is said of a delivery in which something is wrong.
fn wrong(secret: &str, changed: Delivery<'_>, now: Timestamp, part: &str, hint: &str) {
    let told = diagnose(secret, &changed, None, now).unwrap_err();
    assert_eq!(told.part, part, "{changed:?}: {told}");
    assert!(told.hint.contains(hint), "{told}");
}

const NONCE: &str = "cbebb86099222c806dd026d4f0d16547";

#[test]
fn the_part_that_is_wrong_is_named() {
    let (url, timestamp, body) = ("https://example.com/hook", "2026-11-20T20:01:02.345Z", b"{}");
    let signature = sign(SECRET, url, timestamp, NONCE, body);
    let right = Delivery { url, timestamp, nonce: NONCE, signature: &signature, body };
    let check = |changed, part, hint| wrong(SECRET, changed, NOW, part, hint);
    assert_eq!(diagnose(SECRET, &right, None, NOW), Ok(()));
    check(Delivery { url: "https://example.com/hook/", ..right }, "url", "without the slash");
    check(Delivery { url: "https://Example.com/hook", ..right }, "url", "lower case");
    check(Delivery { url: "http://example.com/hook", ..right }, "url", "scheme");
    check(Delivery { url: "https://example.com:443/hook", ..right }, "url", "port");
    check(Delivery { url: "https://example.com/hook?a=1", ..right }, "url", "query");
    wrong(SECRET, right, NOW + Duration::from_secs(301), "timestamp", "301 s behind");
    wrong(SECRET, right, NOW - Duration::from_secs(400), "timestamp", "400 s ahead of");
    check(Delivery { timestamp: "now", ..right }, "timestamp", "no time");
    check(Delivery { timestamp: "2026-11-20T20:01:02.345+00:00", ..right }, "timestamp", "not written as");
    check(Delivery { nonce: "", ..right }, "nonce", "empty");
    let upper = NONCE.to_uppercase();
    check(Delivery { nonce: &upper, ..right }, "nonce", "32 lower-case");
    check(Delivery { nonce: &NONCE[1..], ..right }, "nonce", "32 lower-case");
    check(Delivery { signature: "AB", ..right }, "signature", "64 lower-case");
    wrong(&format!("{SECRET}\n"), right, NOW, "secret", "around it");
    wrong("gs_0123", right, NOW, "secret", "shared secret, gw_");
    wrong("another", right, NOW, "secret or body", "no usual mistake");
}

#[test]
fn what_happened_to_a_body_is_named() {
    let body = concat!(
        r#"{"type":"redemption.created","version":"1.0","data":{"user_id":"1","user_email":"grüße@a/b.example","#,
        r#""points":20,"cumulative_points_spent":70,"company_id":"x \\\" y 🎉 \\u00fc \n"}}"#
    );
    let (url, timestamp) = ("https://example.com/hook", "2026-11-20T20:01:02.345Z");
    let signature = sign(SECRET, url, timestamp, NONCE, body.as_bytes());
    let right = Delivery { url, timestamp, nonce: NONCE, signature: &signature, body: body.as_bytes() };
    let changed = |url, body: &str, part, hint| {
        let body = body.as_bytes();
        wrong(SECRET, Delivery { url, body, ..right }, NOW, part, hint);
    };
    let check = |body: &str, hint| changed(url, body, "body", hint);
    let spaced = body.replace("\":", "\": ").replace(",\"", ",\n  \"");
    let escaped =
        |it: &str| it.replace('ü', "\\u00fc").replace('ß', "\\u00DF").replace('🎉', "\\ud83c\\udf89");
    let (data, rest) =
        body.strip_prefix(r#"{"type":"redemption.created","version":"1.0","data":"#).unwrap().split_at(1);
    let (first, others) = rest.split_once(',').unwrap();
    let others = others.strip_suffix("}}").unwrap();
    let sorted =
        format!(r#"{{"data":{data}{others},{first}}},"type":"redemption.created","version":"1.0"}}"#);
    check(&format!("{body}\n"), "line breaks were added");
    check(&format!("\u{feff}{body}"), "byte order mark");
    check(&serde_json::to_string(body).unwrap(), "as a JSON text");
    check(&spaced, "with blanks");
    check(&escaped(body), "escaped");
    check(&body.replace('/', "\\/"), "slashes escaped");
    check(&sorted, "another order");
    check(&format!("\u{feff}{}\n", escaped(&spaced)), "with blanks");
    changed("https://example.com/hook/", &escaped(&sorted), "url and body", "without the slash");
    changed(
        "http://example.com/hook",
        &spaced,
        "url and body",
        "and the body: it was read and written again",
    );
    check_nothing_is_made_up(&right);
}

fn check_nothing_is_made_up(right: &Delivery<'_>) {
    for body in [&b"\"\\ud800\""[..], b"null", b"{\"type\":1}", &[0xff, b'"', 0xfe]] {
        wrong(SECRET, Delivery { body, ..*right }, NOW, "secret or body", "no usual mistake");
    }
}

#[test]
fn a_value_that_was_copied_wrongly_is_named() {
    let (secret, url) = ("gw_0123456789abcdef", "http://127.0.0.1:8080/hook");
    let (timestamp, body) = ("2026-11-20T20:01:02.345Z", br#"{"type":"redemption.created"}"#);
    let signature = sign(secret, url, timestamp, NONCE, body);
    let right = Delivery { url, timestamp, nonce: NONCE, signature: &signature, body };
    let check = |changed, part, hint| wrong(secret, changed, NOW, part, hint);
    check(Delivery { url: "'http://127.0.0.1:8080/hook'", ..right }, "url", "without quotes");
    check(Delivery { url: "http://localhost:8080/hook", ..right }, "url", "with the host 127.0.0.1");
    check(Delivery { url: "http://[::1]:8080/hook", ..right }, "url", "with the host 127.0.0.1");
    let without_port = sign(secret, "http://[::1]/hook", timestamp, NONCE, body);
    check(
        Delivery { url: "http://localhost/hook", signature: &without_port, ..right },
        "url",
        "with the host [::1]",
    );
    wrong("0123456789abcdef", right, NOW, "secret", "gw_, are missing");
    wrong("\"gw_0123456789abcdef\"", right, NOW, "secret", "quotes");
    check(Delivery { body: b"", ..right }, "body", "it is empty");
    check(Delivery { body: &body[..12], ..right }, "body", "not complete after 12 bytes");
    let cut = Delivery { body: b"{}", ..right };
    let told = diagnose(secret, &cut, Some(29), NOW).unwrap_err();
    assert_eq!(told.to_string(), "body: it has 2 bytes, but the content-length header says 29");
    wrong(secret, cut, NOW, "secret or body", "no usual mistake");
}
