//! The dispatcher's port to the store: three transactions.

use std::time::Duration;

use guerdon_domain::ports::{ClaimRequest, ClaimedBatch, Settlement, StoreError, Timestamp};
use guerdon_domain::values::ProviderId;

/// The result of reading the outbox.
#[derive(Debug, Clone, Default)]
pub struct ClaimResult {
    /// The providers that had due events before the claims.
    pub due_providers: Vec<ProviderId>,
    /// The claimed events.
    pub claimed: Vec<ClaimedBatch>,
    /// When the next event is due, if none was due.
    pub next_due: Option<Timestamp>,
}

/// The outbox, as the dispatcher sees it. Several dispatchers may share it.
pub trait DeliveryStore: Send + Sync {
    /// Claims due events in one transaction. `plan` receives the providers with an event due at `now` and returns the
    /// claims to make. It is called again if the transaction is retried.
    ///
    /// # Errors
    ///
    /// If the store is unavailable. Then either nothing is claimed, or the events stay claimed until the lease ends.
    fn claim_due_events(
        &self,
        now: Timestamp,
        plan: &mut dyn FnMut(&[ProviderId]) -> Vec<ClaimRequest>,
    ) -> Result<ClaimResult, StoreError>;

    /// Writes settlements in one transaction and returns once they are durable.
    ///
    /// # Errors
    ///
    /// If the store is unavailable. It is then unknown whether the settlements were written; writing them again is
    /// safe.
    fn record_settlements(&self, settlements: &[Settlement]) -> Result<(), StoreError>;

    /// Reschedules, in one transaction, events whose due time is later than it can be, and returns their number. See
    /// [`Deliveries::reschedule_after_clock_change`](guerdon_domain::ports::Deliveries::reschedule_after_clock_change).
    ///
    /// # Errors
    ///
    /// If the store is unavailable. Then nothing is rescheduled.
    fn reschedule_after_clock_change(
        &self,
        now: Timestamp,
        waits: &[Duration],
        lease: Duration,
    ) -> Result<usize, StoreError>;
}
