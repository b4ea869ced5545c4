//! A store in memory, for tools and tests that need the ledger without a database (feature `memory`).
//!
//! The store supports the use cases for companies, users, occasions, recognitions, redemptions, wallets and
//! reserves: everything in [`LedgerTx`]. It rejects what the databases reject and passes the same contract
//! tests. Files that implement a port have its name; `queues.rs` implements the outbox and the audit log.
//!
//! A unit of work changes a copy of all data, which replaces the original on commit. This makes a unit
//! atomic, but its duration grows with the amount of data. Units run one at a time, so locks do nothing.
//!
//! The documentation of the crate has an example.

mod accounts;
mod companies;
mod context_parts;
mod corporations;
mod data;
mod journal_entries;
mod ledger;
mod locks;
mod occasions;
mod providers;
mod queues;
mod recognitions;
mod users;

use std::sync::{Mutex, PoisonError};

use crate::ports::{LedgerTx, NewEvent, NewNotification, StoreError};
use data::StoreData;

pub use context_parts::{FixedClock, PlainBodies, SequentialIds};

/// A store in memory, initially empty.
#[derive(Default)]
pub struct MemoryStore {
    data: Mutex<StoreData>,
}

/// One unit of work. It stores the first failure, so that an error that the caller ignores still rolls the
/// unit back; after a failure it does nothing more.
pub struct MemoryTx {
    data: StoreData,
    failure: Option<StoreError>,
}

impl MemoryStore {
    /// Runs one unit of work: `Ok` commits; `Err` and a panic roll back. Starting another unit inside `work`
    /// deadlocks.
    pub fn transaction<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut MemoryTx) -> Result<T, E>,
    ) -> Result<T, E> {
        // A unit works on a copy that replaces the data on commit, so a panic leaves the data intact.
        let mut data = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unit = MemoryTx { data: data.clone(), failure: None };
        unit.data.book.set_savepoint();
        let done = work(&mut unit)?;
        match unit.failure {
            Some(failure) => Err(failure.into()),
            None => {
                *data = unit.data;
                Ok(done)
            }
        }
    }

    /// The queued events, in their order.
    pub fn queued_events(&self) -> Vec<NewEvent> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner).events.clone()
    }

    /// The queued notifications, in their order.
    pub fn queued_notifications(&self) -> Vec<NewNotification> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner).notifications.clone()
    }
}

impl MemoryTx {
    /// Runs one operation, unless an earlier one failed. Stores its failure.
    fn execute<T>(
        &mut self,
        work: impl FnOnce(&mut StoreData) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        work(&mut self.data).inspect_err(|failure| self.failure = Some(failure.clone()))
    }

    /// Runs one operation that only reads.
    fn query<T>(&mut self, work: impl FnOnce(&StoreData) -> T) -> Result<T, StoreError> {
        self.execute(|data| Ok(work(data)))
    }
}

impl LedgerTx for MemoryTx {}
