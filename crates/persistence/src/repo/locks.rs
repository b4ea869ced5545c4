//! Locks on rows.

use guerdon_domain::ports::{Locks, Row, StoreError};
use guerdon_domain::values::CompanyId;

use super::super::{Hold, hold_company, lock_row, lock_row_in_journal_order};
use super::Unit;
use crate::rows::types::Id;

impl Locks for Unit<'_> {
    fn hold(&mut self, row: Row) -> Result<(), StoreError> {
        self.query(|conn| match row {
            Row::Provider(id) => lock_row_in_journal_order(conn, "providers", Id(id)),
            Row::Schedule(id) => lock_row_in_journal_order(conn, "schedules", Id(id)),
            Row::Corporation(id) => lock_row(conn, "corporations", Id(id)),
            Row::Company(id) => lock_row_in_journal_order(conn, "companies", Id(id)),
            Row::Occasion(id) => lock_row_in_journal_order(conn, "occasions", Id(id)),
            Row::Recognition(id) => lock_row_in_journal_order(conn, "recognitions", Id(id)),
            Row::User(id) => lock_row(conn, "users", Id(id)),
        })
    }

    fn keep_provider(&mut self, company: CompanyId) -> Result<(), StoreError> {
        self.query(|conn| hold_company(conn, company, Hold::Shared))
    }

    fn take_company_over(&mut self, company: CompanyId) -> Result<(), StoreError> {
        self.query(|conn| hold_company(conn, company, Hold::Alone))
    }

    fn lost_race(&mut self) -> StoreError {
        self.fault.get_or_insert(StoreError::Busy).clone()
    }
}
