//! One look into the outbox.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use guerdon_domain::ports::{Ids, StoreError, Timestamp};

use super::core::{Core, Now};
use super::journal::Journal;

/// What a look into the outbox says about the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextLook {
    /// Nothing was due; the next event is due then, as far as is known.
    At(Option<Timestamp>),
    /// Something was due, and more may be.
    Backlog,
}

/// Claims what is due, for the providers that may have more attempts.
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

/// Whoever holds a core, and lets one at a time use it.
pub(super) trait Holds {
    fn with<T>(&self, work: impl FnOnce(&mut Core) -> T) -> T;
}

/// Takes a panic for a failure of the store: a thread that ended by it would end all deliveries.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_panic| Err(StoreError::Broken("a unit of work panicked".to_owned())))
}

/// Locks, also after a panic: what the locks of this crate guard is whole between two calls.
pub(super) fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
