//! Responses stored for retries, written in the transaction of their effects.

use super::{StoreError, Timestamp};
use crate::model::{IdempotencyKey, IdempotencyRecord};

/// Claims keys, and stores and finds their records.
pub trait Idempotency {
    /// Claims a key until the transaction ends; `false` while another transaction of any process holds it.
    /// Never waits.
    fn claim_idempotency_key(&mut self, key: &IdempotencyKey) -> Result<bool, StoreError>;

    /// The record of a key, unless it has expired at `now`.
    fn find_idempotency_record(
        &mut self,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<IdempotencyRecord>, StoreError>;

    /// Stores a record, and replaces an expired one.
    fn store_idempotency_record(&mut self, record: &IdempotencyRecord) -> Result<(), StoreError>;

    /// Deletes up to `limit` expired records. Returns the number of deleted records.
    fn prune_idempotency_records(&mut self, now: Timestamp, limit: i64) -> Result<usize, StoreError>;
}
