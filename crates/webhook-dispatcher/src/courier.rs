//! The interface through which the dispatcher makes an attempt.

use std::time::Duration;

use guerdon_domain::ports::Timestamp;
use guerdon_domain::providers::Provider;
use guerdon_domain::values::EventId;
use zeroize::Zeroizing;

/// The event to deliver and its receiver.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The receiver, as read when the event was claimed.
    pub provider: &'a Provider,
    pub event: EventId,
    /// The bytes to send.
    pub body: &'a [u8],
}

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// When the attempt began; also the timestamp in the signature.
    pub started_at: Timestamp,
    /// When the attempt ended. The wait before a retry counts from here (behaviour 23.8).
    pub ended_at: Timestamp,
    /// How long the attempt took, by a monotonic clock.
    pub duration: Duration,
    /// The HTTP status, if a response was received.
    pub status: Option<u16>,
    /// Why the attempt failed, in a few words for the operator; `None` if the receiver confirmed the event.
    pub cause: Option<String>,
    /// The first bytes of the response body, at most 1 KiB.
    pub answer: Vec<u8>,
}

/// Makes attempts.
pub trait Courier: Send + Sync {
    /// Makes one attempt and returns within its time limit, whatever the receiver does. A failed attempt is a normal
    /// outcome.
    fn attempt(&self, order: &Order<'_>) -> Outcome;
}

/// Decrypts shared secrets, which the database stores encrypted.
pub trait OpenSecret: Send + Sync {
    /// Returns the provider's shared secret in plain text, as the provider knows it.
    ///
    /// # Errors
    ///
    /// If the secret was encrypted under another master key, or is damaged.
    fn open(&self, provider: &Provider) -> Result<Zeroizing<String>, UnreadableSecret>;
}

/// The shared secret cannot be decrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the shared secret cannot be opened with this master key")]
pub struct UnreadableSecret;
