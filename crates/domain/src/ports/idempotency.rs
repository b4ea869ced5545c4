//! Responses kept for repeats, written in the transaction of their effects.

use super::{StoreError, Timestamp};
use crate::model::{IdempotencyKey, IdempotencyRecord};

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
