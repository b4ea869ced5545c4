//! Delivery of the outbox: entries are claimed under a lease, attempted outside any transaction, and then
//! settled.

use std::time::Duration;

use uuid::Uuid;

use super::{StoreError, Timestamp};
use crate::model::Provider;
use crate::values::{CompanyId, EventId, ProviderId};

/// An event that was claimed for one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedEvent {
    /// The event's id. It is the same for all attempts and replays.
    pub id: EventId,
    /// The company in which the event occurred.
    pub company_id: CompanyId,
    /// The bytes to send.
    pub body: Vec<u8>,
    /// The number of previous attempts, over all replays.
    pub attempts: u32,
    /// The number of attempts before the last replay. The retry schedule counts only the attempts after it.
    pub attempts_before_replay: u32,
}

/// The due events of one provider that were claimed together, with their destination at that time.
#[derive(Debug, Clone)]
pub struct ClaimedBatch {
    /// The provider, including its callback URL and encrypted shared secret.
    pub provider: Provider,
    /// The events, longest due first.
    pub events: Vec<ClaimedEvent>,
}

/// A request to claim events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimRequest {
    /// The provider of the events.
    pub provider: ProviderId,
    /// The maximum number of events.
    pub limit: u16,
    /// Events that are due at this time.
    pub now: Timestamp,
    /// The end of the lease. Until then no other process may claim them.
    pub lease_until: Timestamp,
    /// The id of the lease. It must be presented to settle the events.
    pub lease: Uuid,
}

/// The record of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub id: Uuid,
    /// The company in which the event occurred.
    pub company_id: CompanyId,
    /// The number of the attempt, starting at 1, over all replays.
    pub number: u32,
    /// When it started.
    pub started_at: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// The HTTP status, if one was received.
    pub status: Option<u16>,
    /// Why it failed, for the operator; `None` for a confirmed attempt.
    pub error: Option<String>,
    /// The response headers of a failed attempt, a line each, at most 1 KiB; `None` without a response.
    pub response_headers: Option<String>,
    /// The first 1,024 characters of the response body.
    pub response_body: Vec<u8>,
}

/// The result for a claimed event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The receiver confirmed it.
    Delivered,
    /// The attempt failed; the next one is due at this time.
    RetryAt(Timestamp),
    /// The last attempt of the schedule failed.
    Exhausted,
    /// The provider has no callback URL.
    Unaddressed,
    /// No attempt was made; the event is due again at this time.
    Released(Timestamp),
}

/// The end of a claim on one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    pub event: EventId,
    /// The lease under which the event was claimed.
    pub lease: Uuid,
    /// The attempt, if one was made.
    pub attempt: Option<Attempt>,
    /// The result for the event.
    pub outcome: DeliveryOutcome,
}

impl Settlement {
    /// The outcome that ends a later claim of the event, if the attempt of this settlement was already
    /// recorded. Nothing was sent under that claim. The event becomes due again, but not before the time that
    /// this attempt determined.
    pub fn outcome_after_reclaim(&self) -> DeliveryOutcome {
        match (self.outcome, &self.attempt) {
            (DeliveryOutcome::RetryAt(at), _) => DeliveryOutcome::Released(at),
            (
                DeliveryOutcome::Delivered | DeliveryOutcome::Exhausted | DeliveryOutcome::Unaddressed,
                Some(attempt),
            ) => DeliveryOutcome::Released(attempt.started_at),
            (outcome, _) => outcome,
        }
    }
}

/// The largest tolerated difference between the clocks of two processes, and the largest tolerated correction
/// of a clock. Retries are rescheduled only if the difference is larger.
pub const CLOCK_TOLERANCE: Duration = Duration::from_secs(60);

/// Claims and settles events.
pub trait Deliveries {
    /// The providers that are not suspended and have an event due at `now`.
    fn providers_with_due_events(&mut self, now: Timestamp) -> Result<Vec<ProviderId>, StoreError>;

    /// When the next event of a provider that is not suspended is due. A claimed event is due at the end of
    /// its lease.
    fn next_event_due(&mut self) -> Result<Option<Timestamp>, StoreError>;

    /// Claims due events, and skips those that another process is claiming. `None` if the provider is unknown
    /// or suspended.
    fn claim_events(&mut self, claim: &ClaimRequest) -> Result<Option<ClaimedBatch>, StoreError>;

    /// Writes every attempt, and the outcome of every event whose lease still matches.
    ///
    /// Settling an event a second time, for example after a commit whose acknowledgement was lost, changes
    /// nothing. If the event has been claimed again in the meantime, and the second call presents the new
    /// lease, the new claim is released ([`Settlement::outcome_after_reclaim`]). So an attempt counts once,
    /// and an outcome never overwrites a replay.
    fn settle_events(&mut self, settlements: &[Settlement]) -> Result<(), StoreError>;

    /// Reschedules events whose next attempt is later than a limit by more than [`CLOCK_TOLERANCE`]. There
    /// are such events after the clock was set back. The limit is `retry_waits[n]` from `now` for an event
    /// with n failed attempts since it was created or replayed, and `lease` for a claimed event. Returns the
    /// number of rescheduled events.
    fn reschedule_after_clock_change(
        &mut self,
        now: Timestamp,
        retry_waits: &[Duration],
        lease: Duration,
    ) -> Result<usize, StoreError>;

    /// Ends all leases. For the single process that serves an embedded database, when it starts.
    fn end_leases(&mut self, now: Timestamp) -> Result<(), StoreError>;
}
