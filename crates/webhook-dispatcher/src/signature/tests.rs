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

#[test]
fn the_part_that_is_wrong_is_named() {
    let body = r#"{"a":{"b":"x \\\" y"},"c":"Grüße 🎉"}"#.as_bytes();
    let (url, timestamp) = ("https://example.com/hook", "2026-11-20T20:01:02.345Z");
    let signature = sign(SECRET, url, timestamp, "00ff", body);
    let right = Delivery { url, timestamp, nonce: "00ff", signature: &signature, body };
    let check = |secret: &str, changed: Delivery<'_>, now: Timestamp, part: &str, hint: &str| {
        let told = diagnose(secret, &changed, now).unwrap_err();
        assert_eq!(told.part, part, "{changed:?}: {told}");
        assert!(told.hint.contains(hint), "{told}");
    };
    assert_eq!(diagnose(SECRET, &right, NOW), Ok(()));
    check(SECRET, Delivery { url: "https://example.com/hook/", ..right }, NOW, "url", "without the slash");
    check(SECRET, Delivery { url: "https://Example.com/hook", ..right }, NOW, "url", "lower case");
    check(SECRET, Delivery { url: "http://example.com/hook", ..right }, NOW, "url", "scheme");
    check(SECRET, Delivery { url: "https://example.com:443/hook", ..right }, NOW, "url", "port");
    check(SECRET, Delivery { url: "https://example.com/hook?a=1", ..right }, NOW, "url", "query");
    check(SECRET, right, NOW + Duration::from_secs(301), "timestamp", "301 s behind");
    check(SECRET, right, NOW - Duration::from_secs(400), "timestamp", "400 s ahead of");
    check(SECRET, Delivery { timestamp: "now", ..right }, NOW, "timestamp", "no time");
    check(SECRET, Delivery { nonce: "", ..right }, NOW, "nonce", "empty");
    check(SECRET, Delivery { signature: "AB", ..right }, NOW, "signature", "64 lower-case");
    let again = "{\"a\": {\"b\": \"x \\\\\\\" y\"},\n \"c\": \"Grüße 🎉\"}";
    check(SECRET, Delivery { body: again.as_bytes(), ..right }, NOW, "body", "with blanks");
    let escaped = again.replace('ü', "\\u00fc").replace('ß', "\\u00df").replace('🎉', "\\ud83c\\udf89");
    check(SECRET, Delivery { body: escaped.as_bytes(), ..right }, NOW, "body", "escaped");
    let longer = [body, b"\n"].concat();
    check(SECRET, Delivery { body: &longer, ..right }, NOW, "body", "line breaks were added");
    check(&format!("{SECRET}\n"), right, NOW, "secret", "around it");
    check("another", right, NOW, "secret", "no usual mistake");
}
