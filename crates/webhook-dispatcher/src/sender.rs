//! The interface through which the dispatcher makes an attempt.

use std::fmt;
use std::time::Duration;

use guerdon_domain::ports::Timestamp;
use guerdon_domain::providers::Provider;
use guerdon_domain::values::EventId;
use zeroize::Zeroizing;

/// The event to deliver and its receiver.
#[derive(Debug, Clone, Copy)]
pub struct DeliveryRequest<'a> {
    /// The receiver, as read when the event was claimed.
    pub provider: &'a Provider,
    pub event: EventId,
    /// The bytes to send.
    pub body: &'a [u8],
}

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptOutcome {
    /// When the attempt began; also the timestamp in the signature.
    pub started_at: Timestamp,
    /// When the attempt ended. The wait before a retry begins at this time (behaviour 23.8).
    pub ended_at: Timestamp,
    /// How long the attempt took, by a monotonic clock.
    pub duration: Duration,
    /// The HTTP status, if a response was received.
    pub status: Option<u16>,
    /// Why the attempt failed, in a few words for the operator; `None` if the receiver confirmed the event.
    pub failure: Option<String>,
    /// The response headers of a failed attempt, one per line, at most 1 KiB; `None` without a response.
    pub response_headers: Option<String>,
    /// The first 1,024 characters of the response body. Bytes that are not UTF-8 count as a character.
    pub response_body: Vec<u8>,
}

/// Makes attempts.
pub trait EventSender: Send + Sync {
    /// Makes one attempt and returns within its time limit, whatever the receiver does. A failed attempt is a normal
    /// outcome.
    fn attempt_delivery(&self, request: &DeliveryRequest<'_>) -> AttemptOutcome;
}

/// Decrypts shared secrets, which the database stores encrypted.
pub trait DecryptSecrets: Send + Sync {
    /// Returns the shared secrets that sign the provider's events now.
    ///
    /// # Errors
    ///
    /// If a secret was encrypted under another master key, or is damaged.
    fn decrypt_secrets(&self, provider: &Provider) -> Result<SharedSecrets, UnreadableSecret>;
}

/// The shared secrets of a provider in plain text.
pub struct SharedSecrets {
    pub current: Zeroizing<String>,
    /// The previous secret, during the grace period of a rotation.
    pub former: Option<Zeroizing<String>>,
}

impl SharedSecrets {
    /// The secret for `X-Service-Signature`, which has only one signature. During the grace period of a rotation, it is
    /// the previous secret (behaviour 23.10).
    pub(crate) fn service_secret(&self) -> &str {
        self.former.as_ref().unwrap_or(&self.current)
    }

    /// The secrets for `webhook-signature`, which has a signature for each of them (behaviour 23.12).
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.current).chain(&self.former).map(|secret| secret.as_str())
    }
}

impl fmt::Debug for SharedSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedSecrets")
    }
}

/// The shared secret cannot be decrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the shared secret cannot be decrypted with this master key")]
pub struct UnreadableSecret;
