//! The queue of commands. It decides which commands form a batch, so that providers are served fairly and
//! workers never share an account.
//!
//! Each provider has its own queue, and providers take turns. A batch takes only commands with accounts that
//! no other batch in progress uses. Commands that wait for locks are in a separate queue for the patient
//! workers; later commands for the same accounts stay behind them. If the queue is full, further commands are
//! refused.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use guerdon_domain::commands::{Outcome, Submission};
use guerdon_domain::decide::Decide as _;
use guerdon_domain::ledger::Needs;
use guerdon_domain::ports::{Deadlines, StoreError};
use guerdon_domain::values::ProviderId;
use guerdon_domain::wallets::Account;
use metrics::gauge;

use super::Worker;

/// Metric: the number of commands that wait for a batch.
const WAITING: &str = "guerdon_ledger_commands_waiting";
/// The maximum number of commands in a batch.
const COMMANDS_MAX: usize = 32;
/// The maximum number of waiting commands of one provider, and of all providers. Further ones are refused at
/// once.
const WAITING_MAX_OF_PROVIDER: usize = 1_024;
const WAITING_MAX: usize = 4_096;
/// While one fast worker is busy, another starts a batch only if this many commands wait, or if one has
/// waited this long: most of the cost of a batch does not depend on its size.
const SECOND_BATCH_MIN: usize = 12;
pub(super) const SECOND_BATCH_WAIT: Duration = Duration::from_millis(4);
/// A command that changes more than this is executed in a separate batch.
const SHARED_BATCH_SIZE_MAX: usize = 16;
/// On a database with a single writer, a command that changes more than this is committed separately.
const SHARED_COMMIT_SIZE_MAX: usize = 100;

/// A waiting command.
pub(super) struct Job {
    pub(super) submission: Submission,
    pub(super) needs: Needs,
    arrived: Instant,
    /// The number of previous tries.
    pub(super) tries: u32,
    /// Whether it must be executed in a separate batch, because it depends on more than the first load reads.
    pub(super) is_alone: bool,
}

impl Job {
    pub(super) fn new(submission: Submission) -> Self {
        let mut needs = submission.command.needs();
        needs.keys.extend(submission.repeatable.iter().map(|repeatable| repeatable.key.clone()));
        Self { submission, needs, arrived: Instant::now(), tries: 0, is_alone: false }
    }

    pub(super) fn end(self, outcome: Outcome) {
        self.submission.response.end(outcome);
    }

    pub(super) fn changes_much(&self) -> bool {
        self.submission.command.size() > SHARED_COMMIT_SIZE_MAX
    }

    fn is_large(&self) -> bool {
        self.submission.command.size() > SHARED_BATCH_SIZE_MAX
    }

    /// Whether it must be executed in a separate batch. A command that was tried often must.
    fn must_be_alone(&self) -> bool {
        self.is_alone || self.is_large() || self.tries >= 3
    }

    /// Whether it locks rows that a fast worker would have to wait for, or enough rows that some of them may
    /// be locked.
    fn must_wait_for_locks(&self) -> bool {
        let Needs { locked_users, schedules, distributions, .. } = &self.needs;
        self.is_large() || !(locked_users.is_empty() && schedules.is_empty() && distributions.is_empty())
    }

    /// How much of its time is left.
    pub(super) fn left(&self, now: Instant) -> Duration {
        (self.arrived + Deadlines::REQUEST.commit).saturating_duration_since(now)
    }

    /// Whether too little time is left for another try.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.left(now) < Deadlines::REQUEST.retry_min
    }

    /// The error for a command that is not tried, or not tried again.
    pub(super) fn lateness(&self, now: Instant) -> StoreError {
        if self.is_over(now) { StoreError::DeadlineExceeded } else { StoreError::Busy }
    }

    fn is_late(&self, now: Instant) -> bool {
        let waits = now.saturating_duration_since(self.arrived);
        (self.tries == 0 && waits > Deadlines::REQUEST.begin) || self.is_over(now)
    }
}

/// The kind of worker that a command waits for.
pub(super) enum Lane {
    Fast,
    Patient,
}

/// Commands that were taken, and their accounts, which are busy until they are freed.
pub(super) struct TakenJobs {
    pub(super) jobs: Vec<Job>,
    pub(super) accounts: Vec<Account>,
}

pub(super) struct Queue {
    /// The waiting commands of each provider, in order of arrival.
    waiting: HashMap<ProviderId, VecDeque<Job>>,
    /// The providers in the order of their turns.
    turns: VecDeque<ProviderId>,
    /// The number of commands in `waiting`.
    count: usize,
    /// Commands that wait for a patient worker. Commands that want the same accounts queue after them.
    patient: VecDeque<Job>,
    /// The provider of the last command that a patient worker took. Another provider is next.
    last_patient: Option<ProviderId>,
    /// The accounts of the batches in progress.
    busy: HashSet<Account>,
    /// The number of busy fast workers.
    fast_at_work: usize,
    /// Whether patient workers exist.
    has_locks: bool,
    is_closed: bool,
}

impl Queue {
    pub(super) fn new(has_locks: bool) -> Self {
        gauge!(WAITING).set(0.0);
        Self {
            waiting: HashMap::new(),
            turns: VecDeque::new(),
            count: 0,
            patient: VecDeque::new(),
            last_patient: None,
            busy: HashSet::new(),
            fast_at_work: 0,
            has_locks,
            is_closed: false,
        }
    }

    /// Adds a command. Returns it if the queue is full.
    pub(super) fn push(&mut self, job: Job) -> Result<Lane, Box<Job>> {
        let provider = job.submission.provider;
        let own = self.waiting.get(&provider).map_or(0, VecDeque::len)
            + self.patient.iter().filter(|job| job.submission.provider == provider).count();
        let is_full = own >= WAITING_MAX_OF_PROVIDER || self.count + self.patient.len() >= WAITING_MAX;
        if self.is_closed || is_full {
            return Err(Box::new(job));
        }
        if self.has_locks && job.must_wait_for_locks() {
            self.patient.push_back(job);
            return Ok(Lane::Patient);
        }
        self.count += 1;
        let line = self.waiting.entry(provider).or_default();
        if line.is_empty() {
            self.turns.push_back(provider);
        }
        line.push_back(job);
        Ok(Lane::Fast)
    }

    /// Updates the metric of waiting commands.
    pub(super) fn tell(&self) {
        gauge!(WAITING).set(f64::from(u32::try_from(self.count + self.patient.len()).unwrap_or(u32::MAX)));
    }

    /// Whether commands wait for fast workers, and whether commands wait for patient workers.
    pub(super) fn waits(&self) -> (bool, bool) {
        (self.count > 0, !self.patient.is_empty())
    }

    /// Returns commands to the queue for another try, ahead of those that arrived later.
    pub(super) fn push_again(&mut self, jobs: Vec<Job>) {
        for job in jobs.into_iter().rev() {
            if self.has_locks {
                self.patient.push_front(job);
                continue;
            }
            self.count += 1;
            let provider = job.submission.provider;
            let line = self.waiting.entry(provider).or_default();
            if line.is_empty() {
                self.turns.push_front(provider);
            }
            line.push_front(job);
        }
    }

    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether the queue is closed, and no command waits or can return.
    pub(super) fn is_done(&self) -> bool {
        self.is_closed && self.count == 0 && self.patient.is_empty() && self.busy.is_empty()
    }

    /// Ends a worker's batch and frees its accounts.
    pub(super) fn free(&mut self, worker: Worker, accounts: &[Account]) {
        self.fast_at_work -= usize::from(worker == Worker::Fast);
        for account in accounts {
            self.busy.remove(account);
        }
    }

    /// Removes the commands whose time is over.
    pub(super) fn take_late(&mut self, now: Instant) -> Vec<Job> {
        let is_late = |job: &Job| job.is_late(now);
        let mut late = Vec::new();
        for line in self.waiting.values_mut().filter(|line| line.front().is_some_and(is_late)) {
            let (gone, kept) = std::mem::take(line).into_iter().partition::<VecDeque<_>, _>(is_late);
            self.count -= gone.len();
            late.extend(gone);
            *line = kept;
        }
        if self.patient.iter().any(is_late) {
            let (gone, kept) =
                std::mem::take(&mut self.patient).into_iter().partition::<VecDeque<_>, _>(is_late);
            late.extend(gone);
            self.patient = kept;
        }
        self.forget_empty_lines();
        late
    }

    fn forget_empty_lines(&mut self) {
        self.waiting.retain(|_, line| !line.is_empty());
        self.turns.retain(|provider| self.waiting.contains_key(provider));
    }

    /// Takes a batch that shares no account with the batches in progress.
    pub(super) fn take(&mut self, worker: Worker) -> Option<TakenJobs> {
        let jobs = match worker {
            Worker::Fast => self.take_fast(),
            Worker::Patient { takes_large } => self.take_patient(takes_large),
        };
        if jobs.is_empty() {
            return None;
        }
        let accounts: BTreeSet<Account> = jobs.iter().flat_map(|job| &job.needs.accounts).copied().collect();
        self.busy.extend(&accounts);
        self.tell();
        self.fast_at_work += usize::from(worker == Worker::Fast);
        Some(TakenJobs { jobs, accounts: accounts.into_iter().collect() })
    }

    /// Whether the waiting commands do not yet justify a second batch.
    pub(super) fn is_held_back(&self, worker: Worker) -> bool {
        let is_second = worker == Worker::Fast && self.fast_at_work > 0;
        is_second && self.count > 0 && self.count < SECOND_BATCH_MIN
    }

    fn is_free(&self, job: &Job) -> bool {
        job.needs.accounts.iter().all(|account| !self.busy.contains(account))
    }

    /// Takes commands from all providers in turns, in the order of each provider, except those with busy
    /// accounts.
    fn take_fast(&mut self) -> Vec<Job> {
        if self.is_held_back(Worker::Fast) {
            let now = Instant::now();
            let mut first = self.waiting.values().filter_map(|line| line.front());
            if !first.any(|job| now.saturating_duration_since(job.arrived) >= SECOND_BATCH_WAIT) {
                return Vec::new();
            }
        }
        let mut held = self.busy.clone();
        held.extend(self.patient.iter().flat_map(|job| &job.needs.accounts));
        let mut taken: Vec<Job> = Vec::new();
        let mut turns: VecDeque<(ProviderId, usize)> =
            self.turns.iter().map(|provider| (*provider, 0)).collect();
        while let Some((provider, from)) = turns.pop_front().filter(|_| taken.len() < COMMANDS_MAX) {
            let Some(line) = self.waiting.get_mut(&provider) else { continue };
            let fits = |job: &Job| {
                job.needs.accounts.iter().all(|account| !held.contains(account))
                    && (taken.is_empty() || !job.is_large())
            };
            let Some(at) = (from..line.len()).find(|at| line.get(*at).is_some_and(fits)) else { continue };
            taken.extend(line.remove(at));
            self.count -= 1;
            if taken.last().is_some_and(Job::is_large) {
                break;
            }
            turns.push_back((provider, at));
        }
        if let Some(first) = self.turns.pop_front() {
            self.turns.push_back(first);
        }
        self.forget_empty_lines();
        taken
    }

    /// Takes the first command that waits for a lock, and others that want one of its accounts.
    fn take_patient(&mut self, takes_large: bool) -> Vec<Job> {
        let fits = |job: &Job| self.is_free(job) && (takes_large || !job.is_large());
        let is_turn = |job: &Job| Some(job.submission.provider) != self.last_patient && fits(job);
        let found = self.patient.iter().position(is_turn).or_else(|| self.patient.iter().position(fits));
        let Some(at) = found else { return Vec::new() };
        self.last_patient = self.patient.get(at).map(|job| job.submission.provider);
        let mut taken: Vec<Job> = self.patient.remove(at).into_iter().collect();
        if taken.iter().any(Job::must_be_alone) {
            return taken;
        }
        let wanted: HashSet<Account> = taken.iter().flat_map(|job| &job.needs.accounts).copied().collect();
        let mut left = VecDeque::with_capacity(self.patient.len());
        while let Some(job) = self.patient.pop_front() {
            let shares = job.needs.accounts.iter().any(|account| wanted.contains(account));
            if shares && !job.must_be_alone() && taken.len() < COMMANDS_MAX && self.is_free(&job) {
                taken.push(job);
            } else {
                left.push_back(job);
            }
        }
        self.patient = left;
        taken
    }
}

#[cfg(test)]
mod tests;
