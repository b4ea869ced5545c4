//! A store in memory, for tools and tests that need the ledger and no database (feature `memory`).
//!
//! It serves the use cases over companies, users, occasions, recognitions, redemptions, wallets and reserves: all that
//! [`Ledger`] names. It refuses what the databases refuse, and passes the same contract. A file for each kind of thing
//! that `ports` speaks of; balances are in [`ledger`](crate::ledger), which alone changes them.
//!
//! A unit of work gets a copy of everything and puts it in the place of the old when it ends well: simple, all or
//! nothing, and as slow as there is much in it. One unit is at work at a time, so that locks have nothing to do.
//!
//! ```
//! use guerdon_domain::memory::{CountedIds, Memory, PlainBodies, StillClock};
//! # use guerdon_domain::causes::{Actor, Origin};
//! # use guerdon_domain::companies::{self, CreateCompany};
//! # use guerdon_domain::decide::carry_out;
//! # use guerdon_domain::money::{Points, PointsPerDollar, Sum};
//! # use guerdon_domain::occasions::{self, OccasionText};
//! # use guerdon_domain::ports::{Context, Ids, ReadAccounts, Timestamp};
//! # use guerdon_domain::providers::{self, CreateProvider};
//! # use guerdon_domain::recognitions::{Receivers, SendRecognition, Sender};
//! # use guerdon_domain::reserve::{ChangeReserve, ReserveChange};
//! # use guerdon_domain::values::{DomainName, EmailAddress, Line, Message, ProviderId, WebUrl};
//! let (clock, ids) = (StillClock(Timestamp::UNIX_EPOCH), CountedIds::default());
//! let origin = Origin { actor: Actor::Operator, reference: None, key: None };
//! let context = Context { clock: &clock, ids: &ids, bodies: &PlainBodies, origin };
//! let store = Memory::default();
//! let acme = Line::parse("Acme")?;
//! let sent = store.transaction(|tx| -> Result<_, Box<dyn std::error::Error>> {
//!     // A company, whose reserve holds a hundred points, of a provider who is told nothing.
//!     let provider = ProviderId::from_uuid(ids.next());
//!     providers::create(tx, CreateProvider::local(provider, acme.clone()), &context)?;
//!     let owner = (EmailAddress::parse("ada@example.com")?, Line::parse("Ada")?);
//!     let (domain, logo) = (DomainName::parse("example.com")?, WebUrl::parse("https://example.com/logo.png")?);
//!     let command = CreateCompany::named(domain, acme.clone(), owner, logo);
//!     let company = companies::create(tx, provider, &command, &context)?.company;
//!     let sum = Sum::Points(Points::new(100).ok_or("negative")?);
//!     let deposit = ChangeReserve { company_id: company.id, change: ReserveChange::Deposit, sum };
//!     carry_out(tx, provider, &deposit, &context)?;
//!     // An occasion, and a recognition for it.
//!     let default_message = Message::parse("Thank you")?;
//!     let text = OccasionText { name: acme.clone(), title: acme.clone(), default_message };
//!     let occasion = occasions::create(tx, provider, company.id, &text, true, true, &context)?;
//!     let command = SendRecognition {
//!         occasion_id: occasion.id,
//!         sender: Sender::Company(company.id),
//!         receivers: Receivers::parse(&company.owner_id.to_string())?,
//!         points_per_receiver: 25,
//!         message: None,
//!         share: true,
//!     };
//!     Ok(carry_out(tx, provider, &command, &context)?)
//! })?;
//! let wallets = store.transaction(|tx| tx.wallets(sent[0].receiver_id))?;
//! assert_eq!(wallets[0].points(PointsPerDollar::DEFAULT).get(), 25);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accounts;
mod causes;
mod companies;
mod corporations;
mod data;
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
