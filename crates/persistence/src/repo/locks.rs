//! Holding rows.

use guerdon_domain::ports::{Locks, Row, StoreError};

use super::Unit;
use crate::types::Id;

impl Locks for Unit<'_> {
    fn hold(&mut self, row: Row) -> Result<(), StoreError> {
        self.query(|conn| match row {
            Row::Corporation(it) => super::super::lock_row(conn, "corporations", Id(it.as_uuid())),
            Row::Company(it) => super::super::lock_row(conn, "companies", Id(it.as_uuid())),
            Row::Occasion(it) => super::super::lock_row(conn, "occasions", Id(it.as_uuid())),
            Row::Recognition(it) => super::super::lock_row(conn, "recognitions", Id(it.as_uuid())),
            Row::Redemption(it) => super::super::lock_row(conn, "redemptions", Id(it.as_uuid())),
            Row::User(it) => super::super::lock_row(conn, "users", Id(it.as_uuid())),
            Row::Account(it) => super::super::lock_accounts(conn, it.kind().code(), &[Id(it.owner())]),
        })
    }

    fn lost_race(&mut self) -> StoreError {
        self.fault.get_or_insert(StoreError::Contended).clone()
    }
}
