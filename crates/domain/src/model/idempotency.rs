//! Idempotency keys, and the records stored under them.

use uuid::Uuid;

use crate::values::{CompanyId, Timestamp};

/// An idempotency key in its scope: a provider's id, or the nil UUID for the operator's commands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey {
    /// The provider, or nil.
    pub scope: Uuid,
    /// The caller's key, 1 to 255 visible ASCII characters.
    pub key: String,
}

impl IdempotencyKey {
    /// Whether a string is a valid key: 1 to 255 visible ASCII characters.
    pub fn is_valid_key(text: &str) -> bool {
        (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
    }
}

/// The response to the first request with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The key and its scope.
    pub key: IdempotencyKey,
    /// The company that the request concerned; `None` if it concerned none or several.
    pub company_id: Option<CompanyId>,
    /// A digest of the whole request.
    pub request_hash: Vec<u8>,
    /// The HTTP status of the response.
    pub status: u16,
    /// The body of the response, byte for byte.
    pub body: Vec<u8>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it expires. From then on the key counts as unused.
    pub expires_at: Timestamp,
}
