//! Locks do nothing, because units of work run one at a time.

use super::MemoryTx;
use crate::ports::{LockableRow, Locks, StoreError};
use crate::values::CompanyId;

impl Locks for MemoryTx {
    fn lock_row(&mut self, _row: LockableRow) -> Result<(), StoreError> {
        self.query(|_| ())
    }

    fn lock_provider_shared(&mut self, _company: CompanyId) -> Result<(), StoreError> {
        self.query(|_| ())
    }

    fn lock_provider_exclusive(&mut self, _company: CompanyId) -> Result<(), StoreError> {
        self.query(|_| ())
    }

    fn lost_race(&mut self) -> StoreError {
        self.failure.get_or_insert(StoreError::Busy).clone()
    }
}
