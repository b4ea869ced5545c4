//! The dispatcher claims due events, has them sent and settles the results (behaviour 23).
//!
//! One thread reads the outbox, one writes settlements, and between a few and [`DispatcherLimits::senders`] threads
//! send, one per attempt in progress. They share one [`Core`](core::Core) under one lock, which is never held during
//! I/O. Receivers that respond immediately are served by few threads, because a few busy threads send more than many.
//! An attempt that takes longer makes room for another, so a receiver that hangs does not delay the others.

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

/// The parts of a dispatcher.
pub struct Dispatcher {
    /// The outbox.
    pub journal: Arc<dyn Journal>,
    /// Makes the attempts.
    pub courier: Arc<dyn Courier>,
    /// The wall clock, by which events are due.
    pub clock: Arc<dyn Clock>,
    /// The ids of leases and attempts.
    pub ids: Arc<dyn Ids>,
    /// When failed attempts are retried.
    pub schedule: Schedule,
    /// The limits.
    pub limits: DispatcherLimits,
    /// Receives statistics, for metrics.
    pub observer: Arc<dyn Observer>,
    /// Wakes the dispatcher when a transaction commits events.
    pub wake: Wake,
    /// How many processes share the outbox and the limits per provider.
    pub processes: Processes,
}

impl Dispatcher {
    /// Creates a dispatcher over the store, with the default schedule and limits and without an observer.
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

    /// Starts the threads. Leases of a process that has died are not ended here. They expire, or a caller that knows
    /// that no other process is running ends them first
    /// ([`Deliveries::end_leases`](guerdon_domain::ports::Deliveries::end_leases)).
    ///
    /// # Errors
    ///
    /// If the system cannot start a thread.
    pub fn start(self) -> io::Result<Running> {
        Running::start(self)
    }
}
