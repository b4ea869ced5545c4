//! One read of the outbox.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use guerdon_domain::ports::{Ids, StoreError, Timestamp};

use super::core::{Core, Now};
use super::journal::Journal;

/// When to read the outbox next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextLook {
    /// Nothing was due; the time is when the next event is due, if known.
    At(Option<Timestamp>),
    /// Events were due, and more may be.
    Backlog,
}

/// Claims due events for the providers that may have more attempts.
pub(super) fn step(
    core: &impl Holds,
    journal: &dyn Journal,
    ids: &dyn Ids,
    clock: &dyn Fn() -> Now,
) -> Result<NextLook, StoreError> {
    let before = clock();
    let mut claims = Vec::new();
    let due = guarded(|| {
        journal.claim_due(before.wall, &mut |due| {
            claims = core.with(|core| core.plan(due, before, ids));
            claims.clone()
        })
    })?;
    let next = if due.providers.is_empty() { NextLook::At(due.next) } else { NextLook::Backlog };
    let now = clock();
    core.with(|core| core.accept(due, &claims, before, now));
    Ok(next)
}

/// Gives exclusive access to a core.
pub(super) trait Holds {
    fn with<T>(&self, work: impl FnOnce(&mut Core) -> T) -> T;
}

/// Converts a panic to an error of the store: a panic that ended the thread would stop all deliveries.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_panic| Err(StoreError::Broken("a unit of work panicked".to_owned())))
}

/// Locks a mutex and ignores poisoning: the values behind the locks of this crate are consistent between calls.
pub(super) fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
