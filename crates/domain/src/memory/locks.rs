//! Locks do nothing, because units of work run one at a time.

use super::Unit;
use crate::ports::{Locks, Row, StoreError};
use crate::values::CompanyId;

impl Locks for Unit {
    fn hold(&mut self, _row: Row) -> Result<(), StoreError> {
        self.read(|_| ())
    }

    fn keep_provider(&mut self, _company: CompanyId) -> Result<(), StoreError> {
        self.read(|_| ())
    }

    fn take_company_over(&mut self, _company: CompanyId) -> Result<(), StoreError> {
        self.read(|_| ())
    }

    fn lost_race(&mut self) -> StoreError {
        self.fault.get_or_insert(StoreError::Busy).clone()
    }
}
