//! The signature of a delivery (behaviour 23.6), for the sender and for receivers.

mod diagnosis;
mod rewritten;
mod seen;

use std::time::Duration;

use guerdon_domain::ports::Timestamp;
use ring::hmac::{self, Context, HMAC_SHA256, Key};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

pub use diagnosis::{Diagnosis, diagnose};
pub use seen::SeenNonces;

use crate::hex;

/// How far a delivery's timestamp may lie from the receiver's clock, before and behind it, unless the receiver says
/// otherwise.
pub const REPLAY_WINDOW: Duration = Duration::from_secs(300);

/// What a receiver got and has to check: the header values as they came, and the body's bytes before anything
/// parsed them.
#[derive(Debug, Clone, Copy)]
pub struct Delivery<'a> {
    /// The callback URL, exactly as it was registered; not one put together again from the request.
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

/// Why a delivery is not to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// A header value does not have the form that the service sends.
    #[error("{0} is malformed")]
    Malformed(&'static str),
    /// The timestamp lies further from the receiver's clock than the window allows.
    #[error("the timestamp is outside the replay window")]
    Stale,
    /// The signature is not that of this secret over this URL, timestamp, nonce and body.
    #[error("the signature does not match")]
    BadSignature,
    /// The nonce came before, within the window.
    #[error("the nonce was used before")]
    Replayed,
}

/// Signs: lower-case hex of the HMAC with SHA-256, keyed by the shared secret, over the four values joined with a
/// line feed (behaviour 23.6). The URL is taken as the text it is; no character of it is changed.
pub fn sign(secret: impl AsRef<[u8]>, url: &str, timestamp: &str, nonce: &str, body: &[u8]) -> String {
    let mut context = Context::with_key(&Key::new(HMAC_SHA256, secret.as_ref()));
    for line in [url, timestamp, nonce] {
        context.update(line.as_bytes());
        context.update(b"\n");
    }
    context.update(body);
    hex::encode(context.sign().as_ref())
}

/// Checks a delivery as [`verify_within`] does, with the window of [`REPLAY_WINDOW`].
///
/// # Errors
///
/// As [`verify_within`].
pub fn verify(
    secret: impl AsRef<[u8]>,
    delivery: &Delivery<'_>,
    now: impl Into<Timestamp>,
) -> Result<(), VerifyError> {
    verify_within(secret, delivery, now, REPLAY_WINDOW)
}

/// Checks that a delivery was signed with this secret, and at most `window` before or after `now`, which is the
/// receiver's clock: [`SystemTime::now`](std::time::SystemTime::now) or a [`Timestamp`]. The comparison takes constant
/// time. It does not detect a replay within the window: remember the nonces for that ([`SeenNonces`]), or the event's id,
/// which is the same in every attempt.
///
/// # Errors
///
/// [`VerifyError::Malformed`], [`VerifyError::BadSignature`] or [`VerifyError::Stale`]. A delivery is reported as stale
/// only if its signature is right.
pub fn verify_within(
    secret: impl AsRef<[u8]>,
    delivery: &Delivery<'_>,
    now: impl Into<Timestamp>,
    window: Duration,
) -> Result<(), VerifyError> {
    let signed_at = signed_at(delivery)?;
    let signature = hex::decode(delivery.signature)
        .filter(|it| it.len() == HMAC_SHA256.digest_algorithm().output_len())
        .ok_or(VerifyError::Malformed("the signature"))?;
    // A line feed inside would let one field's end pass for the next one's beginning.
    if delivery.nonce.is_empty() || delivery.nonce.contains('\n') {
        return Err(VerifyError::Malformed("the nonce"));
    }
    let mut base = Vec::with_capacity(delivery.url.len() + delivery.body.len() + 100);
    for line in [delivery.url, delivery.timestamp, delivery.nonce] {
        base.extend_from_slice(line.as_bytes());
        base.push(b'\n');
    }
    base.extend_from_slice(delivery.body);
    hmac::verify(&Key::new(HMAC_SHA256, secret.as_ref()), &base, &signature)
        .map_err(|_unspecified| VerifyError::BadSignature)?;
    if (now.into() - signed_at).unsigned_abs() > window {
        return Err(VerifyError::Stale);
    }
    Ok(())
}

fn signed_at(delivery: &Delivery<'_>) -> Result<Timestamp, VerifyError> {
    OffsetDateTime::parse(delivery.timestamp, &Rfc3339)
        .map(Timestamp::new)
        .map_err(|_why| VerifyError::Malformed("the timestamp"))
}

#[cfg(test)]
mod tests;
