//! Verification of events with this crate alone.

use std::time::{Duration, SystemTime};

use guerdon_client::{Delivery, REPLAY_WINDOW, SeenNonces, VerifyError, sign, verify, verify_within};

/// 2026-11-20T20:01:02.345Z
const SIGNED_AT: Duration = Duration::from_millis(1_795_204_862_345);

#[test]
fn a_delivery_is_verified_at_a_system_time() {
    let (secret, url, body) = ("gw_secret", "https://example.com/hook", b"{}");
    let (timestamp, nonce) = ("2026-11-20T20:01:02.345Z", "9f86d081884c7d659a2feaa0c55ad015");
    let signature = sign(secret, url, timestamp, nonce, body);
    let delivery = Delivery { url, timestamp, nonce, signature: &signature, body };
    let now = SystemTime::UNIX_EPOCH + SIGNED_AT + REPLAY_WINDOW;

    assert_eq!(verify(secret, &delivery, now), Ok(()));
    assert_eq!(verify(secret, &delivery, now + Duration::from_micros(1)), Err(VerifyError::Stale));
    assert_eq!(verify_within(secret, &delivery, now, Duration::from_secs(1)), Err(VerifyError::Stale));
    let mut seen = SeenNonces::default();
    assert_eq!(seen.remember(&delivery, now), Ok(()));
    assert_eq!(seen.remember(&delivery, now), Err(VerifyError::Replayed));
}
