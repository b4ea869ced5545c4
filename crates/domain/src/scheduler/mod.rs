//! Work that no request triggers: runs the due distributions of schedules, and finishes distributions in steps.

mod due_dates;
mod finish_distributions;

pub use due_dates::{DateOutcome, DueDateError, PausedSchedules, ProcessedDate, run_next_due_date};
pub use finish_distributions::{
    DistributionStep, DistributionTurns, FailedDistribution, finish_distributions,
};

use std::collections::BTreeMap;

use time::Duration;

use crate::ports::{Store, StoreError, StoreExt as _, Timestamp};

/// How long a schedule, or an unfinished distribution, is paused at most after it failed, so that others run.
const FAILURE_PAUSE: Duration = Duration::MINUTE;

/// Fails if `cause` means that the database cannot be used now. A statement that exceeded the statement timeout fails
/// with the same error as an outage, but a small read then succeeds.
fn require_no_outage(store: &dyn Store, cause: &StoreError) -> Result<(), StoreError> {
    if matches!(cause, StoreError::Unavailable(_) | StoreError::OutcomeUnknown(_)) {
        store.read_snapshot(|reads| reads.unfinished_distributions())?;
    }
    Ok(())
}

/// Ends the pauses that are over, and those that are too long because the clock was set back.
fn end_pauses<K: Ord>(paused: &mut BTreeMap<K, Timestamp>, now: Timestamp) {
    paused.retain(|_, until| *until > now && *until <= now + FAILURE_PAUSE);
}
