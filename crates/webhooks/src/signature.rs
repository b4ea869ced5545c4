//! Signatures of deliveries, for the sender and for receivers (behaviour 23.6).

use std::time::{Duration, SystemTime};

use data_encoding::HEXLOWER;
use ring::hmac::{self, Context, HMAC_SHA256, Key};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// How far a delivery's timestamp may differ from the receiver's clock in either direction, unless the receiver chooses
/// another window.
pub const REPLAY_WINDOW: Duration = Duration::from_secs(300);

/// A delivery as it arrived: header values as received, and the body's bytes before anything parses them.
#[derive(Debug, Clone, Copy)]
pub struct Delivery<'a> {
    /// The callback URL exactly as it was registered, not one rebuilt from the request.
    pub url: &'a str,
    /// The value of `X-Service-Timestamp`.
    pub timestamp: &'a str,
    /// The value of `X-Service-Nonce`.
    pub nonce: &'a str,
    /// The value of `X-Service-Signature`.
    pub signature: &'a str,
    /// The raw body.
    pub body: &'a [u8],
}

/// Why a delivery must be rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// `X-Service-Timestamp` is not a time in RFC 3339.
    #[error("the timestamp is malformed")]
    MalformedTimestamp,
    /// `X-Service-Nonce` is empty or contains a line feed.
    #[error("the nonce is malformed")]
    MalformedNonce,
    /// `X-Service-Signature` is not 64 lower-case hexadecimal digits.
    #[error("the signature is malformed")]
    MalformedSignature,
    /// The signature is correct, but the timestamp is outside the replay window.
    #[error("the timestamp is outside the replay window")]
    Stale,
    /// The signature was not made with this secret over this URL, timestamp, nonce and body.
    #[error("the signature does not match")]
    BadSignature,
    /// A delivery with this nonce was already accepted.
    #[error("the nonce was used before")]
    Replayed,
}

/// Returns the value of `X-Service-Signature`: HMAC-SHA-256, keyed by the shared secret, over URL, timestamp, nonce and
/// body joined by line feeds, as lower-case hexadecimal digits. The URL is used as it is given, without normalisation.
pub fn sign(secret: impl AsRef<[u8]>, url: &str, timestamp: &str, nonce: &str, body: &[u8]) -> String {
    let mut context = Context::with_key(&Key::new(HMAC_SHA256, secret.as_ref()));
    for line in [url, timestamp, nonce] {
        context.update(line.as_bytes());
        context.update(b"\n");
    }
    context.update(body);
    HEXLOWER.encode(context.sign().as_ref())
}

/// Verifies a delivery at the current time of the system clock, within [`REPLAY_WINDOW`].
///
/// # Errors
///
/// See [`verify_within`].
pub fn verify_now(secret: impl AsRef<[u8]>, delivery: &Delivery<'_>) -> Result<(), VerifyError> {
    #[expect(clippy::disallowed_methods, reason = "the caller asks for the system clock")]
    let now = SystemTime::now();
    verify(secret, delivery, now)
}

/// Verifies a delivery at `now`, within [`REPLAY_WINDOW`].
///
/// # Errors
///
/// See [`verify_within`].
pub fn verify(secret: impl AsRef<[u8]>, delivery: &Delivery<'_>, now: SystemTime) -> Result<(), VerifyError> {
    verify_within(secret, delivery, now, REPLAY_WINDOW)
}

/// Verifies that a delivery was signed with this secret, at most `window` before or after `now`, the receiver's time.
/// The comparison takes constant time. An empty secret matches no signature. Replays within the window are not
/// detected: check the nonce with [`SeenNonces`](crate::SeenNonces).
///
/// # Errors
///
/// A malformed header value, [`VerifyError::BadSignature`], or [`VerifyError::Stale`], which is reported only if the
/// signature is correct.
pub fn verify_within(
    secret: impl AsRef<[u8]>,
    delivery: &Delivery<'_>,
    now: SystemTime,
    window: Duration,
) -> Result<(), VerifyError> {
    let age_nanoseconds = age_nanoseconds(delivery, now)?;
    let signature = HEXLOWER
        .decode(delivery.signature.as_bytes())
        .ok()
        .filter(|bytes| bytes.len() == HMAC_SHA256.digest_algorithm().output_len())
        .ok_or(VerifyError::MalformedSignature)?;
    // If the nonce contained a line feed, the end of one value could pass for the beginning of the next.
    if delivery.nonce.is_empty() || delivery.nonce.contains('\n') {
        return Err(VerifyError::MalformedNonce);
    }
    let secret = secret.as_ref();
    if secret.is_empty() {
        return Err(VerifyError::BadSignature); // anyone could have signed with it
    }
    let lines = [delivery.url, delivery.timestamp, delivery.nonce, ""].join("\n");
    let signed = [lines.as_bytes(), delivery.body].concat();
    hmac::verify(&Key::new(HMAC_SHA256, secret), &signed, &signature)
        .map_err(|_unspecified| VerifyError::BadSignature)?;
    if age_nanoseconds.unsigned_abs() > window.as_nanos() {
        return Err(VerifyError::Stale);
    }
    Ok(())
}

/// How long before `now` the delivery was signed; negative if its timestamp is ahead of `now`.
pub(crate) fn age_nanoseconds(delivery: &Delivery<'_>, now: SystemTime) -> Result<i128, VerifyError> {
    let signed_at = OffsetDateTime::parse(delivery.timestamp, &Rfc3339)
        .map_err(|_parse| VerifyError::MalformedTimestamp)?;
    let nanoseconds = |duration: Duration| i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX);
    // Times are not converted to `SystemTime` or `OffsetDateTime`, because the conversion panics outside their range.
    let now = match now.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => nanoseconds(after),
        Err(before) => -nanoseconds(before.duration()),
    };
    Ok(now.saturating_sub(signed_at.unix_timestamp_nanos()))
}

#[cfg(test)]
mod tests;
