use std::time::{Duration, SystemTime};

use super::{Delivery, VerifyError, sign, verify, verify_now, verify_within};

const SECRET: &str = "whsec_0123456789abcdef";
const RIGHT: Delivery<'static> = Delivery {
    url: "https://example.com/hook",
    timestamp: "2026-11-20T20:01:02.345Z",
    nonce: "00ff",
    signature: "",
    body: b"{}",
};

fn signed_at() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(1_795_204_862_345)
}

fn signature() -> String {
    sign(SECRET, RIGHT.url, RIGHT.timestamp, RIGHT.nonce, RIGHT.body)
}

fn check(changed: Delivery<'_>, expected: Result<(), VerifyError>) {
    assert_eq!(verify(SECRET, &changed, signed_at()), expected, "{changed:?}");
}

#[test]
fn signed_delivery_verifies() {
    let signature = signature();
    assert_eq!(signature.len(), 64);
    check(Delivery { signature: &signature, ..RIGHT }, Ok(()));
}

#[test]
fn change_in_any_part_is_detected() {
    let signature = signature();
    let right = Delivery { signature: &signature, ..RIGHT };
    let bad = Err(VerifyError::BadSignature);
    check(Delivery { url: "https://example.com/hook/", ..right }, bad);
    check(Delivery { url: "https://Example.com/hook", ..right }, bad);
    check(Delivery { timestamp: "2026-11-20T20:01:02.346Z", ..right }, bad);
    check(Delivery { timestamp: "2026-11-20T20:01:02.345+00:00", ..right }, bad);
    check(Delivery { nonce: "00fe", ..right }, bad);
    check(Delivery { body: b"{} ", ..right }, bad);
    check(Delivery { body: b"", ..right }, bad);
    assert_eq!(verify("another", &right, signed_at()), bad);
    for at in 0..64 {
        let mut changed = signature.clone().into_bytes();
        changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
        check(Delivery { signature: std::str::from_utf8(&changed).unwrap(), ..right }, bad);
    }
}

#[test]
fn window_is_five_minutes_in_both_directions() {
    let signature = signature();
    let right = Delivery { signature: &signature, ..RIGHT };
    let check = |now, expected| assert_eq!(verify(SECRET, &right, now), expected, "{now:?}");
    let (window, more) = (Duration::from_secs(300), Duration::from_nanos(300_000_000_001));
    check(signed_at() + window, Ok(()));
    check(signed_at() - window, Ok(()));
    check(signed_at() + more, Err(VerifyError::Stale));
    check(signed_at() - more, Err(VerifyError::Stale));
    check(SystemTime::UNIX_EPOCH, Err(VerifyError::Stale));
    let within = verify_within(SECRET, &right, signed_at() + Duration::from_secs(2), Duration::from_secs(1));
    assert_eq!(within, Err(VerifyError::Stale));
    let long_ago = "0001-01-01T00:00:00Z";
    let signature = sign(SECRET, right.url, long_ago, right.nonce, right.body);
    let old = Delivery { timestamp: long_ago, signature: &signature, ..right };
    assert_eq!(verify_now(SECRET, &old), Err(VerifyError::Stale));
}

#[test]
fn malformed_values_are_named() {
    let signature = signature();
    let right = Delivery { signature: &signature, ..RIGHT };
    for text in ["", "abc", "00", &signature.to_uppercase(), &format!("{signature}00"), "é"] {
        check(Delivery { signature: text, ..right }, Err(VerifyError::MalformedSignature));
    }
    for text in ["", "now", "1732132862", "2026-11-20", "2026-11-20T20:01:02.345"] {
        check(Delivery { timestamp: text, ..right }, Err(VerifyError::MalformedTimestamp));
    }
    check(Delivery { nonce: "", ..right }, Err(VerifyError::MalformedNonce));
    check(Delivery { nonce: "00\nff", ..right }, Err(VerifyError::MalformedNonce));
}
