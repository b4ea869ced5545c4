//! Keys and what is kept under them.

use std::time::Duration;

use uuid::Uuid;

use crate::values::Timestamp;

/// How long a response is kept where nothing else is asked for.
pub const KEPT: Duration = Duration::from_secs(72 * 3_600);

/// Whose key, and which: a provider's id, or the nil UUID for the operator's commands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey {
    /// The provider, or nil.
    pub scope: Uuid,
    /// The caller's key, 1 to 255 visible ASCII characters.
    pub key: String,
}

impl IdempotencyKey {
    /// Whether a text can be a key: 1 to 255 visible ASCII characters.
    pub fn is_key(text: &str) -> bool {
        (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
    }
}

/// What was answered to the first request of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// Whose, and which.
    pub key: IdempotencyKey,
    /// A digest of the whole request.
    pub request_hash: Vec<u8>,
    /// The HTTP status answered.
    pub status: u16,
    /// The body answered, byte for byte.
    pub body: Vec<u8>,
    /// When it was written.
    pub created_at: Timestamp,
    /// From when on it counts as absent.
    pub expires_at: Timestamp,
}
