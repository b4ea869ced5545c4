//! Locks on rows.

use diesel::prelude::*;
use guerdon_domain::ports::{LockableRow, Locks, StoreError};
use guerdon_domain::values::CompanyId;

use super::{Unit, lock_company_provider, lock_row, lock_row_in_journal_order};
use crate::engine::LockMode;
use crate::rows::schema::companies;
use crate::rows::{DbTimestamp, Id};

impl Locks for Unit<'_> {
    fn lock_row(&mut self, row: LockableRow) -> Result<(), StoreError> {
        let locked = self.query(|conn| match row {
            LockableRow::Provider(id) => lock_row_in_journal_order(conn, "providers", Id(id)),
            LockableRow::Schedule(id) => lock_row_in_journal_order(conn, "schedules", Id(id)),
            LockableRow::Corporation(id) => lock_row(conn, "corporations", Id(id)),
            LockableRow::Company(id) => lock_row_in_journal_order(conn, "companies", Id(id)),
            LockableRow::Occasion(id) => lock_row_in_journal_order(conn, "occasions", Id(id)),
            LockableRow::Recognition(id) => lock_row_in_journal_order(conn, "recognitions", Id(id)),
            LockableRow::User(id) => lock_row(conn, "users", Id(id)),
        });
        match row {
            LockableRow::Company(id) => locked.and_then(|()| self.require_open_company(id)),
            _ => locked,
        }
    }

    fn lock_provider_shared(&mut self, company: CompanyId) -> Result<(), StoreError> {
        self.query(|conn| lock_company_provider(conn, company, LockMode::Shared))?;
        self.require_open_company(company)
    }

    fn lock_provider_exclusive(&mut self, company: CompanyId) -> Result<(), StoreError> {
        self.query(|conn| lock_company_provider(conn, company, LockMode::Exclusive))
    }

    fn abort_for_retry(&mut self) -> StoreError {
        self.failure.get_or_insert(StoreError::Busy).clone()
    }
}

impl Unit<'_> {
    /// Fails if the company was handed over. The caller holds a lock that excludes a hand-over.
    fn require_open_company(&mut self, id: CompanyId) -> Result<(), StoreError> {
        let found: Option<Option<DbTimestamp>> = self.query(|conn| {
            companies::table.find(Id(id)).select(companies::handed_over_at).get_result(conn).optional()
        })?;
        self.record_failure(match found.flatten() {
            None => Ok(()),
            Some(_) => Err(StoreError::CompanyHandedOver),
        })
    }
}
