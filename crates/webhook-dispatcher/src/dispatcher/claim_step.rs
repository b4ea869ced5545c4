//! Reads the outbox once and claims due events.

use std::panic::{AssertUnwindSafe, catch_unwind};

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

/// Claims due events for the providers that may hold more events.
pub(super) fn claim_once(
    core: &impl CoreAccess,
    store: &dyn DeliveryStore,
    ids: &dyn IdGenerator,
    clock: &dyn Fn() -> ClockReading,
) -> Result<NextRead, StoreError> {
    let before = clock();
    let mut claims = Vec::new();
    let claim_result = catch_panic(|| {
        store.claim_due_events(before.wall, &mut |due| {
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
    Ok(next)
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
