//! The dispatcher: claims due events, has them sent, and settles what came of it (behaviour 23).
//!
//! One thread looks into the outbox, one writes settlements, and as many send as there are attempts under way, from
//! a few to [`DispatcherLimits::senders`]. They share one [`Core`](core::Core) under one lock, which nobody holds
//! while doing I/O. Few threads send to receivers that answer at once, since few busy threads send more than many;
//! an attempt that takes longer makes room for another there, so a receiver that hangs holds up nobody.

mod claimer;
mod core;
mod journal;
mod limits;
mod observer;
mod running;
mod senders;
mod settler;
mod shared;
mod step;
mod store_journal;

#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;

use guerdon_domain::ports::{Clock, Ids, Processes, Store, Wake};

pub use journal::{Journal, Look};
pub use limits::DispatcherLimits;
pub use observer::{AttemptResult, NoObserver, Observer};
pub use running::{Running, Stopped};
pub use store_journal::StoreJournal;

use crate::courier::Courier;
use crate::schedule::Schedule;

/// What a dispatcher is made of.
pub struct Dispatcher {
    /// The outbox.
    pub journal: Arc<dyn Journal>,
    /// Makes the attempts.
    pub courier: Arc<dyn Courier>,
    /// The wall clock, by which events are due.
    pub clock: Arc<dyn Clock>,
    /// The ids of leases and attempts.
    pub ids: Arc<dyn Ids>,
    /// When failed attempts are repeated.
    pub schedule: Schedule,
    /// How much is taken on at a time.
    pub limits: DispatcherLimits,
    /// Is told of the work.
    pub observer: Arc<dyn Observer>,
    /// The bell that whoever commits events rings.
    pub wake: Wake,
    /// How many processes share the outbox, and the limits of one provider.
    pub processes: Processes,
}

impl Dispatcher {
    /// A dispatcher over the store, with the service's schedule and limits, which nobody watches.
    pub fn new(
        store: Arc<dyn Store>,
        courier: Arc<dyn Courier>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
    ) -> Self {
        Self {
            journal: Arc::new(StoreJournal::new(store)),
            courier,
            clock,
            ids,
            schedule: Schedule::default(),
            limits: DispatcherLimits::default(),
            observer: Arc::new(NoObserver),
            wake: Wake::default(),
            processes: Processes::default(),
        }
    }

    /// Starts the threads. Leases of a process that is gone are not its concern: they end by themselves, or
    /// whoever knows that no other process is there ends them first
    /// ([`Deliveries::end_leases`](guerdon_domain::ports::Deliveries::end_leases)).
    ///
    /// # Errors
    ///
    /// Where the system gives no threads.
    pub fn start(self) -> io::Result<Running> {
        Running::start(self)
    }
}
