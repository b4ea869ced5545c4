//! A look at the database, several times a second: does it answer, and is maintenance on?

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use guerdon_domain::ports::{Setting, Store, StoreError, StoreExt};
use guerdon_http_api::Gate;

use crate::commands::MAINTENANCE_ON;

/// How often it looks; a maintenance that is turned on holds within a second.
pub(super) const EVERY: Duration = Duration::from_millis(250);
/// The database counts as answering for this long after it did.
const FRESH: Duration = Duration::from_millis(1500);

/// When the database last answered. Probes ask this and never the database, so they cannot pile up on it.
pub(super) struct Heartbeat(Mutex<Option<Instant>>);

impl Heartbeat {
    pub(super) fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Looks once.
    pub(super) fn beat(&self, store: &dyn Store, gate: &Gate) -> Result<(), StoreError> {
        let maintenance =
            store.snapshot(|reads| -> Result<_, StoreError> { reads.setting(Setting::Maintenance) })?;
        gate.set_maintenance(maintenance.as_deref() == Some(MAINTENANCE_ON));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        Ok(())
    }

    /// Whether the database answered lately.
    pub(super) fn is_fresh(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|it| it.elapsed() < FRESH)
    }
}
