//! A look at the database, several times a second: does it answer, and is maintenance on?

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use guerdon_domain::ports::{Setting, Store, StoreError, StoreExt};
use guerdon_http_api::Gate;

use crate::commands::MAINTENANCE_ON;

/// How often it looks; a maintenance that is turned on holds within a second.
pub(super) const EVERY: Duration = Duration::from_millis(250);
/// The database counts as answering for this long after it did.
const FRESH: Duration = Duration::from_millis(1500);

/// When the database last answered. Probes ask this and never the database, so they cannot pile up on it.
#[derive(Default)]
pub(super) struct Heartbeat(Mutex<Beats>);

#[derive(Default)]
struct Beats {
    answered: Option<Instant>,
    /// Since when a look has been waiting for its answer.
    asking: Option<Instant>,
}

impl Heartbeat {
    fn beats(&self) -> MutexGuard<'_, Beats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks once.
    pub(super) fn beat(&self, store: &dyn Store, gate: &Gate) -> Result<(), StoreError> {
        self.beats().asking = Some(Instant::now());
        let looked = store.snapshot(|reads| -> Result<_, StoreError> { reads.setting(Setting::Maintenance) });
        self.beats().asking = None;
        let maintenance = looked?;
        gate.set_maintenance(maintenance.as_deref() == Some(MAINTENANCE_ON));
        self.beats().answered = Some(Instant::now());
        Ok(())
    }

    /// Whether the database answered lately.
    pub(super) fn is_fresh(&self) -> bool {
        self.beats().answered.is_some_and(|it| it.elapsed() < FRESH)
    }

    /// Whether a look hangs: the database neither answers nor breaks off, and nobody else has an answer from it either.
    /// A look of a busy service may well wait for its turn.
    pub(super) fn is_hanging(&self, gate: &Gate) -> bool {
        self.beats().asking.is_some_and(|it| it.elapsed() >= FRESH) && !gate.answered_within(FRESH)
    }
}
