//! A store in memory, for tools and tests that need the ledger and no database (feature `memory`).
//!
//! It serves the use cases over companies, users, occasions, recognitions, redemptions, wallets and reserves: all that
//! [`Ledger`] names. It refuses what the databases refuse, and passes the same contract. A file for each kind of thing
//! that `ports` speaks of; `pay.rs` alone changes balances.
//!
//! A unit of work gets a copy of everything and puts it in the place of the old when it ends well: simple, all or
//! nothing, and as slow as there is much in it. One unit is at work at a time, so that locks have nothing to do.

mod accounts;
mod causes;
mod companies;
mod corporations;
mod data;
mod locks;
mod movements;
mod occasions;
mod pay;
mod providers;
mod queues;
mod recognitions;
mod surroundings;
mod transfers;
mod users;

use std::sync::{Mutex, PoisonError};

use crate::ports::{Ledger, NewEvent, NewMail, StoreError};
use data::Data;

pub use surroundings::{CountedIds, NamedBodies, StillClock};

/// Everything there is, in memory; empty at first.
#[derive(Default)]
pub struct Memory {
    data: Mutex<Data>,
}

/// One unit of work. It remembers the first failure, so that a swallowed error still undoes the whole; after one it
/// does nothing more.
pub struct Unit {
    data: Data,
    fault: Option<StoreError>,
}

impl Memory {
    /// One unit of work: `Ok` keeps what it wrote, `Err` and a panic undo it. Another unit inside of `work` would wait
    /// for ever.
    pub fn transaction<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut Unit) -> Result<T, E>,
    ) -> Result<T, E> {
        // What a unit writes is put in place whole, so that a panic in one leaves nothing broken.
        let mut data = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unit = Unit { data: data.clone(), fault: None };
        let done = work(&mut unit)?;
        match unit.fault {
            Some(fault) => Err(fault.into()),
            None => {
                *data = unit.data;
                Ok(done)
            }
        }
    }

    /// The events that were queued, in their order.
    pub fn events(&self) -> Vec<NewEvent> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner).events.clone()
    }

    /// The mails that were queued, in their order.
    pub fn mails(&self) -> Vec<NewMail> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner).mails.clone()
    }
}

impl Unit {
    /// Does one thing, unless something failed before; remembers its failure.
    fn run<T>(&mut self, work: impl FnOnce(&mut Data) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        work(&mut self.data).inspect_err(|fault| self.fault = Some(fault.clone()))
    }

    /// Reads one thing.
    fn read<T>(&mut self, work: impl FnOnce(&Data) -> T) -> Result<T, StoreError> {
        self.run(|data| Ok(work(data)))
    }
}

impl Ledger for Unit {}
