//! The repositories, one file for each port of the domain. They are written once against [`super::Conn`] and
//! compiled once for each database. What differs between the databases is in `super`, under the same names
//! for both.

mod accounts;
mod audit;
mod audit_log;
mod companies;
mod corporations;
mod deliveries;
mod erasure;
mod events;
mod feed;
mod figures;
mod idempotency;
mod journal_entries;
mod ledger;
mod locks;
mod mails;
mod movements;
mod occasions;
mod providers;
mod recognitions;
mod retention;
mod saml;
mod schedules;
mod settings;
mod steps;
mod users;

use diesel::result::QueryResult;
use guerdon_domain::ports::{Ledger, Reads, StoreError, Tx};

use super::{Conn, UnitLimits};
use crate::queued::Queued;

/// One unit of work on one connection. It stores the first failure of the database, so that an error that the
/// caller ignores still rolls the unit back; after a failure it executes no further statement.
pub(crate) struct Unit<'a> {
    conn: &'a mut Conn,
    limits: &'a mut UnitLimits,
    fault: Option<StoreError>,
    queued: Queued,
}

impl<'a> Unit<'a> {
    pub(crate) fn new(conn: &'a mut Conn, limits: &'a mut UnitLimits) -> Self {
        Self { conn, limits, fault: None, queued: Queued::default() }
    }

    /// The first failure, if any, and the queued events and mails.
    pub(crate) fn end(self) -> (Option<StoreError>, Queued) {
        (self.fault, self.queued)
    }

    /// Fails if the unit may not execute another statement or commit: after a failure, or when its time is
    /// over.
    pub(crate) fn go_on(&mut self) -> Result<(), StoreError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let result = self.limits.go_on(self.conn);
        self.keep(result)
    }

    /// Runs a query, and stores its failure.
    fn query<T>(&mut self, query: impl FnOnce(&mut Conn) -> QueryResult<T>) -> Result<T, StoreError> {
        self.go_on()?;
        let result = query(self.conn).map_err(|e| super::classify(&e));
        self.keep(result)
    }

    /// Stores the failure of a result, such as that of reading a row.
    fn keep<T>(&mut self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        result.inspect_err(|e| {
            self.fault.get_or_insert_with(|| e.clone());
        })
    }
}

impl Reads for Unit<'_> {}
impl Ledger for Unit<'_> {}
impl Tx for Unit<'_> {}
