//! The repositories: written once against [`super::Conn`], compiled once for each database. A file for each kind of
//! thing that the domain's `ports` speak of. What only one database can say stands in `super` under the same name on
//! both sides.

mod accounts;
mod audit;
mod audit_log;
mod causes;
mod companies;
mod corporations;
mod deliveries;
mod erasure;
mod events;
mod feed;
mod figures;
mod idempotency;
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
mod slices;
mod steps;
mod users;

use diesel::result::QueryResult;
use guerdon_domain::ports::{Ledger, Payment, Reads, StoreError, Tx};

use super::{Conn, Terms};
use crate::postings::{Facts, Part, Set};
use crate::queued::Queued;

/// One unit of work on one connection. It remembers the first failure of the database, so that a swallowed error
/// still rolls the unit back; after one it runs no statement more.
pub(crate) struct Unit<'a> {
    /// None for a posting that is asked what it will need, or in a set.
    conn: Option<&'a mut Conn>,
    terms: &'a mut Terms,
    fault: Option<StoreError>,
    queued: Queued,
}

impl<'a> Unit<'a> {
    /// A unit on a connection; or on none, which is given up where it asks for what was not read before it.
    pub(crate) fn new(conn: impl Into<Option<&'a mut Conn>>, terms: &'a mut Terms) -> Self {
        Self { conn: conn.into(), terms, fault: None, queued: Queued::default() }
    }

    /// The set in which this unit has its turn, if there is one.
    fn set(&mut self) -> Option<&mut Set> {
        match self.terms.part()? {
            Part::InSet(set) => Some(set),
            Part::Ahead(_) => None,
        }
    }

    /// What is known without a question: to the set in which this unit has its turn, or of those before it in its batch.
    fn facts(&mut self) -> Option<&mut Facts> {
        self.terms.facts()
    }

    /// What a set knows; what it does not know has the unit run alone.
    fn known<T>(&mut self, fact: Option<T>) -> Result<T, StoreError> {
        self.keep(fact.ok_or(StoreError::Contended))
    }

    /// The first failure, if there was one, and what was queued for sending.
    pub(crate) fn end(self) -> (Option<StoreError>, Queued) {
        (self.fault, self.queued)
    }

    /// Whether there may be another statement, or a commit: not after a failure, nor when the unit's time is over.
    pub(crate) fn go_on(&mut self) -> Result<(), StoreError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let Some(conn) = self.conn.as_deref_mut() else { return Ok(()) };
        let result = self.terms.go_on(conn);
        self.keep(result)
    }

    /// To be called before the first account of a payment is locked: where too many units are in the database with one
    /// already, this one gives up, and is run again when there is room.
    fn enter(&mut self, payment: &Payment<'_>) -> Result<(), StoreError> {
        self.go_on()?;
        let result = self.terms.enter(payment);
        self.keep(result)
    }

    /// Runs a query; remembers its failure.
    fn query<T>(&mut self, query: impl FnOnce(&mut Conn) -> QueryResult<T>) -> Result<T, StoreError> {
        self.go_on()?;
        let result = match self.conn.as_deref_mut() {
            Some(conn) => query(conn).map_err(|e| super::classify(&e)),
            None => Err(StoreError::Contended),
        };
        self.keep(result)
    }

    /// Remembers the failure of a result, such as that of reading a row.
    fn keep<T>(&mut self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        result.inspect_err(|e| {
            self.fault.get_or_insert_with(|| e.clone());
        })
    }
}

impl Reads for Unit<'_> {}
impl Ledger for Unit<'_> {}
impl Tx for Unit<'_> {}
