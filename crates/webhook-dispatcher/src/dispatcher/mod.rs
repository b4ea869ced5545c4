//! The dispatcher claims due events, sends them and settles the results (behaviour 23).
//!
//! One thread reads the outbox, one writes settlements, and up to [`DispatcherLimits::senders`] threads send events,
//! one per attempt in progress. They share one [`Core`](core::Core) under one lock, which is never held during I/O.
//! Receivers that respond immediately are served by few threads, because a few busy threads send more than many. While
//! an attempt takes longer, another thread begins the next one, so a receiver that hangs does not delay the others.

mod claim_step;
mod claimer;
mod core;
mod delivery_store;
mod limits;
mod observer;
mod persistent_store;
mod running;
mod sender_threads;
mod settler;
mod shared;

#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;

use guerdon_domain::ports::{Clock, IdGenerator, Notifier, ProcessCount, Store};

pub use delivery_store::{ClaimResult, DeliveryStore};
pub use limits::DispatcherLimits;
pub use observer::{AttemptResult, DispatcherObserver, NoObserver};
pub use persistent_store::PersistentDeliveryStore;
pub use running::{RunningDispatcher, StopResult};

use crate::schedule::RetrySchedule;
use crate::sender::EventSender;

/// The parts from which a dispatcher is started.
pub struct Dispatcher {
    /// The outbox.
    pub store: Arc<dyn DeliveryStore>,
    /// Makes the attempts.
    pub sender: Arc<dyn EventSender>,
    /// The wall clock. Due times of events refer to it.
    pub clock: Arc<dyn Clock>,
    /// Generates the ids of leases and attempts.
    pub ids: Arc<dyn IdGenerator>,
    /// When failed attempts are retried.
    pub schedule: RetrySchedule,
    /// The limits.
    pub limits: DispatcherLimits,
    /// Receives statistics, for metrics.
    pub observer: Arc<dyn DispatcherObserver>,
    /// Wakes the dispatcher when a transaction commits events.
    pub wake: Notifier,
    /// How many processes share the outbox and the limits per provider.
    pub processes: ProcessCount,
}

impl Dispatcher {
    /// Creates a dispatcher over the store, with the default schedule and limits and without an observer.
    pub fn new(
        store: Arc<dyn Store>,
        sender: Arc<dyn EventSender>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGenerator>,
    ) -> Self {
        Self {
            store: Arc::new(PersistentDeliveryStore::new(store)),
            sender,
            clock,
            ids,
            schedule: RetrySchedule::default(),
            limits: DispatcherLimits::default(),
            observer: Arc::new(NoObserver),
            wake: Notifier::default(),
            processes: ProcessCount::default(),
        }
    }

    /// Starts the threads. This does not end the leases of a process that has died. They expire, or a caller that knows
    /// that no other process is running ends them first
    /// ([`Deliveries::end_leases`](guerdon_domain::ports::Deliveries::end_leases)).
    ///
    /// # Errors
    ///
    /// If the system cannot start a thread.
    pub fn start(self) -> io::Result<RunningDispatcher> {
        RunningDispatcher::start(self)
    }
}
