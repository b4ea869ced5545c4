use std::time::{Duration, SystemTime};

use super::{Delivery, VerifyError, sign, verify, verify_now, verify_within};

const SECRET: &str = "whsec_0123456789abcdef";
const UNSIGNED_DELIVERY: Delivery<'static> = Delivery {
    url: "https://example.com/hook",
    timestamp: "2026-11-20T20:01:02.345Z",
    nonce: "00ff",
    signature: "",
    body: b"{}",
};

fn signed_at() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(1_795_204_862_345)
}

fn valid_signature() -> String {
    sign(
        SECRET,
        UNSIGNED_DELIVERY.url,
        UNSIGNED_DELIVERY.timestamp,
        UNSIGNED_DELIVERY.nonce,
        UNSIGNED_DELIVERY.body,
    )
}

fn check_verification(changed: Delivery<'_>, expected: Result<(), VerifyError>) {
    assert_eq!(verify(SECRET, &changed, signed_at()), expected, "{changed:?}");
}

#[test]
fn signed_delivery_verifies() {
    let signature = valid_signature();
    assert_eq!(signature.len(), 64);
    check_verification(Delivery { signature: &signature, ..UNSIGNED_DELIVERY }, Ok(()));
}

#[test]
fn change_in_any_part_is_detected() {
    let signature = valid_signature();
    let signed = Delivery { signature: &signature, ..UNSIGNED_DELIVERY };
    let bad = Err(VerifyError::BadSignature);
    check_verification(Delivery { url: "https://example.com/hook/", ..signed }, bad);
    check_verification(Delivery { url: "https://Example.com/hook", ..signed }, bad);
    check_verification(Delivery { timestamp: "2026-11-20T20:01:02.346Z", ..signed }, bad);
    check_verification(Delivery { timestamp: "2026-11-20T20:01:02.345+00:00", ..signed }, bad);
    check_verification(Delivery { nonce: "00fe", ..signed }, bad);
    check_verification(Delivery { body: b"{} ", ..signed }, bad);
    check_verification(Delivery { body: b"", ..signed }, bad);
    assert_eq!(verify("another", &signed, signed_at()), bad);
    for at in 0..64 {
        let mut changed = signature.clone().into_bytes();
        changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
        check_verification(Delivery { signature: std::str::from_utf8(&changed).unwrap(), ..signed }, bad);
    }
}

#[test]
fn window_is_five_minutes_in_both_directions() {
    let signature = valid_signature();
    let signed = Delivery { signature: &signature, ..UNSIGNED_DELIVERY };
    let check = |now, expected| assert_eq!(verify(SECRET, &signed, now), expected, "{now:?}");
    let (window, more) = (Duration::from_secs(300), Duration::from_nanos(300_000_000_001));
    check(signed_at() + window, Ok(()));
    check(signed_at() - window, Ok(()));
    check(signed_at() + more, Err(VerifyError::Stale));
    check(signed_at() - more, Err(VerifyError::Stale));
    check(SystemTime::UNIX_EPOCH, Err(VerifyError::Stale));
    let within = verify_within(SECRET, &signed, signed_at() + Duration::from_secs(2), Duration::from_secs(1));
    assert_eq!(within, Err(VerifyError::Stale));
    let long_ago = "0001-01-01T00:00:00Z";
    let signature = sign(SECRET, signed.url, long_ago, signed.nonce, signed.body);
    let old = Delivery { timestamp: long_ago, signature: &signature, ..signed };
    assert_eq!(verify_now(SECRET, &old), Err(VerifyError::Stale));
}

#[test]
fn a_clock_before_1970_verifies_deliveries_of_its_time() {
    let timestamp = "1969-12-31T23:00:00Z";
    let signature = sign(SECRET, UNSIGNED_DELIVERY.url, timestamp, "00ff", b"{}");
    let signed = Delivery { timestamp, signature: &signature, ..UNSIGNED_DELIVERY };
    assert_eq!(verify(SECRET, &signed, SystemTime::UNIX_EPOCH - Duration::from_secs(3_600)), Ok(()));
}

#[test]
fn malformed_values_are_named() {
    let signature = valid_signature();
    let signed = Delivery { signature: &signature, ..UNSIGNED_DELIVERY };
    for text in ["", "abc", "00", &signature.to_uppercase(), &format!("{signature}00"), "é"] {
        check_verification(Delivery { signature: text, ..signed }, Err(VerifyError::MalformedSignature));
    }
    for text in ["", "now", "1732132862", "2026-11-20", "2026-11-20T20:01:02.345"] {
        check_verification(Delivery { timestamp: text, ..signed }, Err(VerifyError::MalformedTimestamp));
    }
    check_verification(Delivery { nonce: "", ..signed }, Err(VerifyError::MalformedNonce));
    check_verification(Delivery { nonce: "00\nff", ..signed }, Err(VerifyError::MalformedNonce));
}
