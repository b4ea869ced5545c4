//! Reads the outbox once and claims due events.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use guerdon_domain::ports::{IdGenerator, StoreError, Timestamp};

use super::core::{ClockReading, Core};
use super::delivery_store::DeliveryStore;

/// When to read the outbox next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextRead {
    /// No event was due. The next one is due at this time, if known.
    At(Option<Timestamp>),
    /// Events were due, and more may be due.
    Backlog,
}

/// One read of the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutboxRead {
    pub(super) next: NextRead,
    /// How long it took to find the providers with due events, without the claims.
    pub(super) duration: Duration,
}

/// Claims due events for the providers that may hold more events.
pub(super) fn claim_once(
    core: &impl CoreAccess,
    store: &dyn DeliveryStore,
    ids: &dyn IdGenerator,
    clock: &dyn Fn() -> ClockReading,
) -> Result<OutboxRead, StoreError> {
    let before = clock();
    let mut claims = Vec::new();
    let mut found_at = None;
    let claim_result = catch_panic(|| {
        store.claim_due_events(before.wall, &mut |due| {
            found_at = Some(clock().monotonic);
            claims = core.with_core(|core| core.plan_claims(due, before, ids));
            claims.clone()
        })
    })?;
    let next = if claim_result.due_providers.is_empty() {
        NextRead::At(claim_result.next_due)
    } else {
        NextRead::Backlog
    };
    let now = clock();
    core.with_core(|core| core.accept_claimed(claim_result, &claims, before, now));
    let duration = found_at.unwrap_or(now.monotonic).saturating_sub(before.monotonic);
    Ok(OutboxRead { next, duration })
}

/// Gives exclusive access to a core.
pub(super) trait CoreAccess {
    fn with_core<T>(&self, work: impl FnOnce(&mut Core) -> T) -> T;
}

/// Converts a panic to an error of the store. Otherwise a panic would end the thread and stop all deliveries.
pub(super) fn catch_panic<T>(work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_panic| Err(StoreError::Broken("a unit of work panicked".to_owned())))
}
