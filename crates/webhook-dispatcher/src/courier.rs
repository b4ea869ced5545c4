//! One attempt, as the dispatcher sees it.

use std::time::Duration;

use guerdon_domain::ports::Timestamp;
use guerdon_domain::providers::Provider;
use guerdon_domain::values::EventId;
use zeroize::Zeroizing;

/// What is to be delivered, and to whom.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The receiver, as of the event's claim.
    pub provider: &'a Provider,
    pub event: EventId,
    /// The bytes to send.
    pub body: &'a [u8],
}

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// When it began; the timestamp that was signed.
    pub started_at: Timestamp,
    /// When it ended; a retry's wait counts from here (behaviour 23.8).
    pub ended_at: Timestamp,
    /// How long it took, by a clock that nobody sets.
    pub duration: Duration,
    /// The HTTP status, where one was received.
    pub status: Option<u16>,
    /// Why it failed, in a few words for the operator; none for a confirmed one.
    pub cause: Option<String>,
    /// The first bytes of the answer's body, at most 1 KiB.
    pub answer: Vec<u8>,
}

/// Makes attempts.
pub trait Courier: Send + Sync {
    /// Makes one, and returns within the attempt's time limit, whatever the receiver does. A failed attempt is a
    /// result like another.
    fn attempt(&self, order: &Order<'_>) -> Outcome;
}

/// Opens the shared secrets, which the database keeps sealed.
pub trait OpenSecret: Send + Sync {
    /// The provider's shared secret, as it was given to the provider.
    ///
    /// # Errors
    ///
    /// Where it was sealed under another master key, or is damaged.
    fn open(&self, provider: &Provider) -> Result<Zeroizing<String>, UnreadableSecret>;
}

/// The shared secret cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the shared secret cannot be opened with this master key")]
pub struct UnreadableSecret;
