//! A waiting command: when it must run alone or wait for locks, and when it is retried or given up.

use std::time::{Duration, Instant};

use guerdon_domain::commands::{Outcome, Submission};
use guerdon_domain::decide::Decide as _;
use guerdon_domain::ledger::Needs;
use guerdon_domain::ports::{Deadlines, StoreError};

/// A command that affects more objects than this is executed in a separate batch.
pub(crate) const AFFECTED_IN_SHARED_BATCH_MAX: usize = 16;
/// The number of retries after which a command fails because the database is busy.
const RETRIES_MAX: u32 = 6;
/// The number of attempts in shared batches. After that, a command is executed in a separate batch.
const SHARED_ATTEMPTS_MAX: u32 = 3;
/// How long a large command pauses after a conflict with another transaction.
pub(super) const LARGE_RETRY_PAUSE: Duration = Duration::from_millis(250);

/// A waiting command.
pub(super) struct Job {
    pub(super) submission: Submission,
    pub(super) needs: Needs,
    pub(super) arrived: Instant,
    /// How often the command was retried.
    pub(super) retries: u32,
    /// The command is not attempted before this time.
    paused_until: Option<Instant>,
    /// Whether it must be executed in a separate batch, because a previous decision needed more than the first
    /// load had read.
    pub(super) needs_own_batch: bool,
}

impl Job {
    pub(super) fn new(submission: Submission) -> Self {
        let mut needs = submission.command.initial_needs();
        needs.keys.extend(submission.idempotent_request.iter().map(|request| request.key.clone()));
        Self {
            submission,
            needs,
            arrived: Instant::now(),
            retries: 0,
            paused_until: None,
            needs_own_batch: false,
        }
    }

    pub(super) fn complete_with(self, outcome: Outcome) {
        self.submission.outcome_receiver.receive_outcome(outcome);
    }

    /// The number of objects that it affects.
    pub(super) fn affected_count(&self) -> usize {
        self.submission.command.affected_count()
    }

    pub(super) fn is_large(&self) -> bool {
        self.affected_count() > AFFECTED_IN_SHARED_BATCH_MAX
    }

    /// Whether it must be executed in a separate batch.
    pub(super) fn must_run_alone(&self) -> bool {
        self.needs_own_batch || self.is_large() || self.retries >= SHARED_ATTEMPTS_MAX
    }

    /// Whether it belongs to a patient worker from the start: it locks rows of other kinds than accounts, or so
    /// many rows that another transaction has probably locked one of them.
    pub(super) fn must_wait_for_locks(&self) -> bool {
        let Needs { locked_users, schedules, distributions, .. } = &self.needs;
        self.is_large() || !(locked_users.is_empty() && schedules.is_empty() && distributions.is_empty())
    }

    /// Whether another attempt may follow one that conflicted with another transaction. A large command waits only
    /// briefly for locks, so it may try until its time is over, but not if a row with the same key exists.
    pub(super) fn may_retry(&self, is_duplicate: bool, now: Instant) -> bool {
        ((self.is_large() && !is_duplicate) || self.retries < RETRIES_MAX) && !self.is_out_of_time(now)
    }

    /// The time that is left to commit the command.
    pub(super) fn time_left(&self, now: Instant) -> Duration {
        (self.arrived + Deadlines::COMMIT).saturating_duration_since(now)
    }

    /// Counts an attempt that conflicted with another transaction. A large command then pauses for
    /// [`LARGE_RETRY_PAUSE`], so that the one worker for large commands can execute others.
    pub(super) fn count_retry(&mut self, now: Instant) {
        self.retries += 1;
        self.paused_until = self.is_large().then(|| now + LARGE_RETRY_PAUSE);
    }

    pub(super) fn is_paused(&self, now: Instant) -> bool {
        self.paused_until.is_some_and(|until| now < until)
    }

    /// Whether too little time is left for another attempt.
    pub(super) fn is_out_of_time(&self, now: Instant) -> bool {
        self.time_left(now) < Deadlines::RETRY_MIN
    }

    /// The error for a command that is not attempted, or not retried.
    pub(super) fn give_up_error(&self, now: Instant) -> StoreError {
        if self.is_out_of_time(now) { StoreError::DeadlineExceeded } else { StoreError::Busy }
    }

    pub(super) fn is_expired(&self, now: Instant) -> bool {
        let waits = now.saturating_duration_since(self.arrived);
        (self.retries == 0 && waits > Deadlines::START) || self.is_out_of_time(now)
    }
}
