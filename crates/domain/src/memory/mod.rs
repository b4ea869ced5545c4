//! A store in memory, for tools and tests that need the ledger and no database (feature `memory`).
//!
//! It serves the use cases over companies, users, occasions, recognitions, redemptions, wallets and reserves:
//! everything in [`Ledger`]. It rejects what the databases reject and passes the same contract tests. The
//! files mirror those of `ports`.
//!
//! A unit of work changes a copy of all data, which replaces the original on commit: atomic, but the time
//! grows with the amount of data. Units run one at a time, so locks do nothing.
//!
//! The crate's page has an example.

mod accounts;
mod companies;
mod corporations;
mod data;
mod journal_entries;
mod ledger;
mod locks;
mod movements;
mod occasions;
mod providers;
mod queues;
mod recognitions;
mod surroundings;
mod users;

use std::sync::{Mutex, PoisonError};

use crate::ports::{Ledger, NewEvent, NewMail, StoreError};
use data::Data;

pub use surroundings::{CountedIds, PlainBodies, StillClock};

/// A store in memory, initially empty.
#[derive(Default)]
pub struct Memory {
    data: Mutex<Data>,
}

/// One unit of work. It stores the first failure, so that an error that the caller ignores still rolls the
/// unit back; after a failure it does nothing more.
pub struct Unit {
    data: Data,
    fault: Option<StoreError>,
}

impl Memory {
    /// Runs one unit of work: `Ok` commits; `Err` and a panic roll back. Starting another unit inside `work`
    /// deadlocks.
    pub fn transaction<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut Unit) -> Result<T, E>,
    ) -> Result<T, E> {
        // A unit works on a copy that replaces the data on commit, so a panic leaves the data intact.
        let mut data = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unit = Unit { data: data.clone(), fault: None };
        unit.data.book.set_savepoint();
        let done = work(&mut unit)?;
        match unit.fault {
            Some(fault) => Err(fault.into()),
            None => {
                *data = unit.data;
                Ok(done)
            }
        }
    }

    /// The queued events, in their order.
    pub fn events(&self) -> Vec<NewEvent> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner).events.clone()
    }

    /// The queued mails, in their order.
    pub fn mails(&self) -> Vec<NewMail> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner).mails.clone()
    }
}

impl Unit {
    /// Runs one operation, unless an earlier one failed. Stores its failure.
    fn run<T>(&mut self, work: impl FnOnce(&mut Data) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        work(&mut self.data).inspect_err(|fault| self.fault = Some(fault.clone()))
    }

    /// Runs one read.
    fn read<T>(&mut self, work: impl FnOnce(&Data) -> T) -> Result<T, StoreError> {
        self.run(|data| Ok(work(data)))
    }
}

impl Ledger for Unit {}
