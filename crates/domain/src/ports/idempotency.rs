//! Responses kept for repeats (contract §6.1), written in the transaction of their effects.

use time::Duration;
use uuid::Uuid;

use super::{StoreError, Timestamp};

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

/// How long a response is kept.
pub const KEPT: Duration = Duration::hours(72);

/// What was answered to the first request of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// Whose, and which.
    pub key: IdempotencyKey,
    /// A digest of method, path, query and body.
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

/// Claiming keys, keeping and finding records.
pub trait Idempotency {
    /// Claims a key until the transaction ends; `false` while another transaction, here or in another process,
    /// holds it. Never waits.
    fn claim_key(&mut self, key: &IdempotencyKey) -> Result<bool, StoreError>;

    /// The record of a key that has not expired at `now`.
    fn idempotency_record(
        &mut self,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<IdempotencyRecord>, StoreError>;

    /// Keeps a record in place of an expired one.
    fn keep_idempotency_record(&mut self, record: &IdempotencyRecord) -> Result<(), StoreError>;

    /// Deletes up to `limit` expired records; answers how many went.
    fn prune_idempotency_records(&mut self, now: Timestamp, limit: i64) -> Result<usize, StoreError>;
}
