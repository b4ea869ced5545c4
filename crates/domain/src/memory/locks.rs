//! Locks do nothing, because units of work run one at a time.

use super::MemoryTx;
use crate::ports::{LockableRow, Locks, StoreError};
use crate::values::CompanyId;

impl Locks for MemoryTx {
    fn lock_row(&mut self, row: LockableRow) -> Result<(), StoreError> {
        match row {
            LockableRow::Company(id) => self.require_open_company(id),
            _ => self.query(|_| ()),
        }
    }

    fn lock_provider_shared(&mut self, company: CompanyId) -> Result<(), StoreError> {
        self.require_open_company(company)
    }

    fn lock_provider_exclusive(&mut self, _company: CompanyId) -> Result<(), StoreError> {
        self.query(|_| ())
    }

    fn abort_for_retry(&mut self) -> StoreError {
        self.failure.get_or_insert(StoreError::Busy).clone()
    }
}

impl MemoryTx {
    fn require_open_company(&mut self, id: CompanyId) -> Result<(), StoreError> {
        self.execute(|data| match data.companies.get(&id).and_then(|company| company.handed_over_at) {
            None => Ok(()),
            Some(_) => Err(StoreError::CompanyHandedOver),
        })
    }
}
