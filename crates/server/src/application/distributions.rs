//! Runs scheduled distributions when they are due, and continues distributions in steps that were interrupted.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use guerdon_domain::commands::{BlockingCommandQueue, CommandQueue};
use guerdon_domain::ports::{Store, StoreError};
use guerdon_domain::scheduler::{
    DateOutcome, DistributionTurns, DueDateError, FailedDistribution, PausedSchedules, ProcessedDate,
    finish_distributions, run_next_due_date,
};
use guerdon_domain::values::{JournalEntryId, ScheduleId};

use crate::platform::context_sources;
use crate::settings::Settings;

/// How often the service looks for dates that are due.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long one run may last: less than the time that background work has to end before the process exits.
const RUN_TIME_MAX: Duration = Duration::from_secs(4);
/// How much of it may be spent on dates that are due. The rest is for unfinished distributions.
const DUE_DATES_TIME_MAX: Duration = Duration::from_secs(2);

/// How long a command continues distributions that another process may be working on.
const SHARED_RECOVERY_TIME_MAX: Duration = Duration::from_secs(10);
/// How long a starting service continues distributions before it opens its listeners. It continues longer ones
/// afterwards.
const START_RECOVERY_TIME_MAX: Duration = Duration::from_secs(1);

/// Pays scheduled distributions when they are due.
pub(super) struct DueDistributions {
    store: Arc<dyn Store>,
    commands: BlockingCommandQueue,
    /// Whether the previous run failed, so that an outage is logged only once, however long it lasts.
    has_failed: bool,
    paused_schedules: PausedSchedules,
    distribution_turns: DistributionTurns,
    /// The schedules that have been logged because their last attempt failed.
    failed_schedules: BTreeSet<ScheduleId>,
    /// The distributions for which a warning was logged; true if the warning was that the distribution can never be
    /// finished.
    reported: BTreeSet<(JournalEntryId, bool)>,
}

impl DueDistributions {
    pub(super) fn new(store: Arc<dyn Store>, queue: Arc<dyn CommandQueue>) -> Self {
        let commands = BlockingCommandQueue { queue, context_sources: context_sources() };
        Self {
            store,
            commands,
            has_failed: false,
            paused_schedules: PausedSchedules::default(),
            distribution_turns: DistributionTurns::default(),
            failed_schedules: BTreeSet::new(),
            reported: BTreeSet::new(),
        }
    }

    /// Pays the dates that are due, one after the other, and logs the outcome of each. Then continues the distributions
    /// that are not finished, which take turns. Neither many dates nor a large distribution can use all of the time.
    pub(super) fn run_all(&mut self) {
        if let Some(cause) = self.try_run_all() {
            log::warn!(cause:%; "cannot run scheduled distributions, retrying");
        }
    }

    /// Returns the failure that ended the run, unless the previous run failed as well, so that an outage is logged
    /// once. The failure of a single schedule is logged once until it works again, and does not end the run.
    fn try_run_all(&mut self) -> Option<StoreError> {
        let begun = Instant::now();
        let result = self.run_due_dates(begun).and_then(|()| self.continue_unfinished(begun));
        let failed_before = std::mem::replace(&mut self.has_failed, result.is_err());
        result.err().filter(|_| !failed_before)
    }

    /// Pays the dates that are due until their part of the run is over. `begun` is the start of the run.
    fn run_due_dates(&mut self, begun: Instant) -> Result<(), StoreError> {
        while begun.elapsed() < DUE_DATES_TIME_MAX {
            match run_next_due_date(self.store.as_ref(), &self.commands, &mut self.paused_schedules) {
                Ok(Some(ran)) => {
                    self.failed_schedules.remove(&ran.schedule);
                    log_date_outcome(&ran);
                }
                Ok(None) => break,
                Err(DueDateError { schedule: Some(schedule), cause }) => {
                    if self.failed_schedules.insert(schedule) {
                        log::warn!(
                            schedule_id:% = schedule, cause:%;
                            "cannot run a scheduled distribution, retrying every minute"
                        );
                    }
                }
                Err(DueDateError { schedule: None, cause }) => return Err(cause),
            }
        }
        Ok(())
    }

    /// Continues the unfinished distributions until the time of the run is over, but by at least one step.
    fn continue_unfinished(&mut self, begun: Instant) -> Result<(), StoreError> {
        let Self { store, commands, distribution_turns, reported, .. } = self;
        let mut continue_within_run = |_| {
            if begun.elapsed() < RUN_TIME_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let failed =
            finish_distributions(store.as_ref(), commands, distribution_turns, &mut continue_within_run)?;
        for failed in failed {
            if reported.insert((failed.entry_id, failed.is_permanent())) {
                warn_of_unfinished(&failed);
            }
        }
        Ok(())
    }
}

/// Continues interrupted distributions before the service opens its listeners, for at most a second.
pub(super) fn resume_distributions_at_start(store: &dyn Store, queue: &Arc<dyn CommandQueue>) {
    resume_distributions(store, queue, Some(START_RECOVERY_TIME_MAX));
}

/// Continues interrupted distributions before a command that writes. On an embedded database, this finishes all of
/// them, because no other process does. On PostgreSQL, it stops after a limited time, because another process may be
/// finishing them, and each `serve` checks them once a second.
pub(super) fn resume_distributions_before_command(
    settings: &Settings,
    store: &dyn Store,
    queue: &Arc<dyn CommandQueue>,
) {
    let is_embedded = settings.embedded_database().is_some();
    resume_distributions(store, queue, (!is_embedded).then_some(SHARED_RECOVERY_TIME_MAX));
}

/// Continues the distributions in steps that were interrupted when a process was killed. If a distribution cannot be
/// finished, it is logged and `guerdon verify` reports it, but the service and commands can still use the database.
fn resume_distributions(store: &dyn Store, queue: &Arc<dyn CommandQueue>, time_max: Option<Duration>) {
    let begun = Instant::now();
    let mut continue_within_limit = |_| {
        let is_over = time_max.is_some_and(|time_max| begun.elapsed() > time_max);
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let commands = BlockingCommandQueue { queue: Arc::clone(queue), context_sources: context_sources() };
    let turns = &mut DistributionTurns::default();
    match finish_distributions(store, &commands, turns, &mut continue_within_limit) {
        Ok(failed) => failed.iter().filter(|failure| failure.is_permanent()).for_each(warn_of_unfinished),
        Err(cause) => log::warn!(cause:%; "cannot continue unfinished distributions"),
    }
}

fn warn_of_unfinished(failed: &FailedDistribution) {
    let FailedDistribution { entry_id, reason, .. } = failed;
    if failed.is_permanent() {
        log::warn!(
            distribution_id:% = entry_id, reason:%;
            "a distribution cannot be finished; its points stay in transit: run `guerdon verify`"
        );
    } else {
        log::warn!(
            distribution_id:% = entry_id, reason:%;
            "cannot continue a distribution, retrying"
        );
    }
}

fn log_date_outcome(ProcessedDate { schedule, due_on, outcome }: &ProcessedDate) {
    match outcome {
        DateOutcome::Distributed { users } => {
            log::info!(schedule_id:% = schedule, due_on:%, users:%; "paid a scheduled distribution")
        }
        DateOutcome::Refused { reason, retry_at } => log::info!(
            schedule_id:% = schedule, due_on:%, reason:%, retry_at:%;
            "cannot pay a scheduled distribution, retrying"
        ),
        DateOutcome::Skipped { reason } => log::info!(
            schedule_id:% = schedule, due_on:%, reason:%;
            "skipped a scheduled distribution: to pay it, use `guerdon distribution run`"
        ),
        DateOutcome::ScheduleChanged => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unreliable_store::UnreliableStore;

    #[test]
    fn an_outage_is_reported_once() {
        let (store, commands) = UnreliableStore::create();
        let mut payments = DueDistributions::new(Arc::<UnreliableStore>::clone(&store), commands);
        for _outage in 0..2 {
            let failure = StoreError::Unavailable("connection refused".to_owned());
            *store.read_failure.lock().unwrap() = Some(failure);
            let reported: Vec<bool> = (0..3).map(|_| payments.try_run_all().is_some()).collect();
            assert_eq!(reported, [true, false, false]);
            *store.read_failure.lock().unwrap() = None;
            assert!(payments.try_run_all().is_none());
        }
    }
}
