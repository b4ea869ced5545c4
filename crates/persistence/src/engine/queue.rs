//! The queue of commands. It decides which commands form a batch, so that providers are served fairly and
//! workers never share an account.
//!
//! Each provider has its own queue, and providers take turns. A batch takes only commands with accounts that
//! no other batch in progress uses. Commands that wait for locks are in a separate queue for the patient
//! workers. Between the two kinds of workers, commands for the same account keep their order of arrival. If the queue
//! is full, further commands are refused.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use guerdon_domain::values::ProviderId;
use guerdon_domain::wallets::Account;
use metrics::gauge;

use super::job::Job;
use super::{Locking, Worker};

/// Metric: the number of commands that wait for a batch.
const WAITING_COMMANDS_METRIC: &str = "guerdon_ledger_commands_waiting";
/// The maximum number of commands in a batch.
const BATCH_COMMANDS_MAX: usize = 32;
/// The maximum number of waiting commands of one provider. Further commands are refused immediately.
const WAITING_PER_PROVIDER_MAX: usize = 1_024;
/// The maximum number of waiting commands of all providers. Further commands are refused immediately.
const WAITING_IN_TOTAL_MAX: usize = 4_096;
/// While one fast worker is busy, another starts a batch only if this many commands wait, or if one has waited for
/// [`SECOND_BATCH_WAIT`]: most of the cost of a batch does not depend on its size.
const SECOND_BATCH_COMMANDS_MIN: usize = 12;
/// How long a command waits before a second batch starts for it.
pub(super) const SECOND_BATCH_WAIT: Duration = Duration::from_millis(4);

/// Whether commands wait for each kind of worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WaitingJobs {
    pub(super) for_fast: bool,
    pub(super) for_patient: bool,
}

/// Commands that were taken, and their accounts, which are busy until they are freed.
pub(super) struct JobBatch {
    pub(super) jobs: Vec<Job>,
    pub(super) accounts: Vec<Account>,
}

#[derive(Default)]
pub(super) struct JobQueue {
    /// The waiting commands of each provider, in order of arrival.
    provider_queues: HashMap<ProviderId, VecDeque<Job>>,
    /// The providers in the order of their turns.
    provider_order: VecDeque<ProviderId>,
    /// The number of commands in `provider_queues`.
    waiting_count: usize,
    /// Commands that wait for a patient worker. Later commands that need the same accounts queue behind them.
    patient_queue: VecDeque<Job>,
    /// When a patient worker last took a command of a provider, as a number that increases with each turn. The provider
    /// that was served longest ago is next.
    patient_turns: HashMap<ProviderId, u64>,
    /// The accounts of the batches in progress.
    busy_accounts: HashSet<Account>,
    /// The number of batches in progress.
    batches_in_progress: usize,
    /// The number of busy fast workers.
    busy_fast_workers: usize,
    /// Whether patient workers exist.
    has_patient_workers: bool,
    is_closed: bool,
}

impl JobQueue {
    pub(super) fn new(has_patient_workers: bool) -> Self {
        gauge!(WAITING_COMMANDS_METRIC).set(0.0);
        Self { has_patient_workers, ..Self::default() }
    }

    /// Adds a command. Returns the locking mode of the workers that it waits for, or the command if the queue is full.
    pub(super) fn push_job(&mut self, job: Job) -> Result<Locking, Box<Job>> {
        let provider = job.submission.provider;
        let own = self.provider_queues.get(&provider).map_or(0, VecDeque::len)
            + self.patient_queue.iter().filter(|job| job.submission.provider == provider).count();
        let is_full = own >= WAITING_PER_PROVIDER_MAX
            || self.waiting_count + self.patient_queue.len() >= WAITING_IN_TOTAL_MAX;
        if self.is_closed || is_full {
            return Err(Box::new(job));
        }
        if self.has_patient_workers && job.must_wait_for_locks() {
            self.patient_queue.push_back(job);
            return Ok(Locking::Wait);
        }
        self.waiting_count += 1;
        let provider_queue = self.provider_queues.entry(provider).or_default();
        if provider_queue.is_empty() {
            self.provider_order.push_back(provider);
        }
        provider_queue.push_back(job);
        Ok(Locking::Skip)
    }

    /// Updates the metric of waiting commands.
    pub(super) fn update_metric(&self) {
        gauge!(WAITING_COMMANDS_METRIC)
            .set(f64::from(u32::try_from(self.waiting_count + self.patient_queue.len()).unwrap_or(u32::MAX)));
    }

    pub(super) fn waiting_jobs(&self) -> WaitingJobs {
        WaitingJobs { for_fast: self.waiting_count > 0, for_patient: !self.patient_queue.is_empty() }
    }

    /// Returns commands to the queue for another attempt, ahead of those that arrived later.
    pub(super) fn push_for_retry(&mut self, jobs: Vec<Job>) {
        for job in jobs.into_iter().rev() {
            if self.has_patient_workers {
                self.patient_queue.push_front(job);
                continue;
            }
            self.waiting_count += 1;
            let provider = job.submission.provider;
            let provider_queue = self.provider_queues.entry(provider).or_default();
            if provider_queue.is_empty() {
                self.provider_order.push_front(provider);
            }
            provider_queue.push_front(job);
        }
    }

    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether the queue is closed, and no command waits or can return.
    pub(super) fn is_drained(&self) -> bool {
        self.is_closed
            && self.waiting_count == 0
            && self.patient_queue.is_empty()
            && self.batches_in_progress == 0
    }

    /// Ends a worker's batch and frees its accounts.
    pub(super) fn release_accounts(&mut self, worker: Worker, accounts: &[Account]) {
        self.batches_in_progress -= 1;
        self.busy_fast_workers -= usize::from(worker == Worker::Fast);
        for account in accounts {
            self.busy_accounts.remove(account);
        }
    }

    /// Removes the expired commands.
    pub(super) fn take_expired(&mut self, now: Instant) -> Vec<Job> {
        self.take_matching(|job| job.is_expired(now))
    }

    /// Removes all commands.
    pub(super) fn take_all(&mut self) -> Vec<Job> {
        self.take_matching(|_| true)
    }

    fn take_matching(&mut self, is_taken: impl Fn(&Job) -> bool) -> Vec<Job> {
        let mut taken = Vec::new();
        for provider_queue in
            self.provider_queues.values_mut().filter(|provider_queue| provider_queue.iter().any(&is_taken))
        {
            let (removed, kept) =
                std::mem::take(provider_queue).into_iter().partition::<VecDeque<_>, _>(&is_taken);
            self.waiting_count -= removed.len();
            taken.extend(removed);
            *provider_queue = kept;
        }
        if self.patient_queue.iter().any(&is_taken) {
            let (removed, kept) =
                std::mem::take(&mut self.patient_queue).into_iter().partition::<VecDeque<_>, _>(&is_taken);
            taken.extend(removed);
            self.patient_queue = kept;
        }
        self.remove_empty_queues();
        taken
    }

    fn remove_empty_queues(&mut self) {
        self.provider_queues.retain(|_, provider_queue| !provider_queue.is_empty());
        self.provider_order.retain(|provider| self.provider_queues.contains_key(provider));
    }

    /// Takes a batch that shares no account with the batches in progress.
    pub(super) fn take_batch(&mut self, worker: Worker) -> Option<JobBatch> {
        let jobs = match worker {
            Worker::Fast => self.take_fast_batch(),
            Worker::Patient { takes_large } => self.take_patient_batch(takes_large, Instant::now()),
        };
        if jobs.is_empty() {
            return None;
        }
        let accounts: BTreeSet<Account> = jobs.iter().flat_map(|job| &job.needs.accounts).copied().collect();
        self.busy_accounts.extend(&accounts);
        self.update_metric();
        self.batches_in_progress += 1;
        self.busy_fast_workers += usize::from(worker == Worker::Fast);
        Some(JobBatch { jobs, accounts: accounts.into_iter().collect() })
    }

    /// Whether the waiting commands do not yet justify a second batch.
    pub(super) fn is_held_back(&self, worker: Worker) -> bool {
        let is_second = worker == Worker::Fast && self.busy_fast_workers > 0;
        is_second && self.waiting_count > 0 && self.waiting_count < SECOND_BATCH_COMMANDS_MIN
    }

    fn has_free_accounts(&self, job: &Job) -> bool {
        job.needs.accounts.iter().all(|account| !self.busy_accounts.contains(account))
    }

    /// Takes commands from all providers in turn, in arrival order within each provider. Skips commands with busy
    /// accounts, and commands that must wait for an earlier one in the patient queue. A large command is taken only as
    /// the sole command of a batch.
    fn take_fast_batch(&mut self) -> Vec<Job> {
        if self.is_held_back(Worker::Fast) {
            let now = Instant::now();
            let mut first = self.provider_queues.values().filter_map(|provider_queue| provider_queue.front());
            if !first.any(|job| now.saturating_duration_since(job.arrived) >= SECOND_BATCH_WAIT) {
                return Vec::new();
            }
        }
        let now = Instant::now();
        let waiting_for_locks = first_arrivals(self.patient_queue.iter().filter(|job| !job.is_paused(now)));
        let mut batch: Vec<Job> = Vec::new();
        let mut served = HashSet::new();
        let mut turns: VecDeque<(ProviderId, usize)> =
            self.provider_order.iter().map(|provider| (*provider, 0)).collect();
        while batch.len() < BATCH_COMMANDS_MAX {
            let Some((provider, from)) = turns.pop_front() else { break };
            let Some(provider_queue) = self.provider_queues.get_mut(&provider) else { continue };
            let can_take = |job: &Job| {
                let accounts = &job.needs.accounts;
                accounts.iter().all(|account| !self.busy_accounts.contains(account))
                    && !must_yield(job, &waiting_for_locks, |other| other < job.arrived)
                    && (batch.is_empty() || !job.is_large())
            };
            let Some(at) =
                (from..provider_queue.len()).find(|at| provider_queue.get(*at).is_some_and(can_take))
            else {
                continue;
            };
            batch.extend(provider_queue.remove(at));
            served.insert(provider);
            self.waiting_count -= 1;
            if batch.last().is_some_and(Job::is_large) {
                break;
            }
            turns.push_back((provider, at));
        }
        self.order_turns(&served, &turns);
        self.remove_empty_queues();
        batch
    }

    /// Lets providers that were not served go first, then those whose turn was next, then those without another command
    /// that could be taken.
    fn order_turns(&mut self, served: &HashSet<ProviderId>, next_turns: &VecDeque<(ProviderId, usize)>) {
        let next: HashMap<ProviderId, usize> =
            next_turns.iter().enumerate().map(|(turn, (provider, _))| (*provider, turn)).collect();
        self.provider_order.make_contiguous().sort_by_key(|provider| {
            served.contains(provider).then(|| next.get(provider).copied().unwrap_or(usize::MAX))
        });
    }

    /// Takes the first ready command of the provider that was served longest ago, and other commands that need one of
    /// its accounts. Skips a command on its first attempt while an earlier command for one of its accounts waits for a
    /// fast worker.
    fn take_patient_batch(&mut self, takes_large: bool, now: Instant) -> Vec<Job> {
        let is_ready = |job: &Job| {
            self.has_free_accounts(job) && (takes_large || !job.is_large()) && !job.is_paused(now)
        };
        let has_new = self.patient_queue.iter().any(|job| job.retries == 0 && is_ready(job));
        let waiting_for_fast = first_arrivals(self.provider_queues.values().filter(|_| has_new).flatten());
        let can_take = |job: &Job| {
            let waits = job.retries == 0 && must_yield(job, &waiting_for_fast, |other| other <= job.arrived);
            is_ready(job) && !waits
        };
        let takeable = self.patient_queue.iter().enumerate().filter(|(_, job)| can_take(job));
        let next = takeable.min_by_key(|(_, job)| self.patient_turns.get(&job.submission.provider));
        let Some((at, provider)) = next.map(|(at, job)| (at, job.submission.provider)) else {
            return Vec::new();
        };
        let turn = self.patient_turns.values().max().map_or(0, |last| last + 1);
        self.patient_turns.insert(provider, turn);
        let mut batch: Vec<Job> = self.patient_queue.remove(at).into_iter().collect();
        if self.patient_queue.is_empty() {
            self.patient_turns.clear();
        }
        if batch.iter().any(Job::must_run_alone) {
            return batch;
        }
        let wanted: HashSet<Account> = batch.iter().flat_map(|job| &job.needs.accounts).copied().collect();
        let mut remaining = VecDeque::with_capacity(self.patient_queue.len());
        while let Some(job) = self.patient_queue.pop_front() {
            let shares_account = job.needs.accounts.iter().any(|account| wanted.contains(account));
            if shares_account
                && !job.must_run_alone()
                && batch.len() < BATCH_COMMANDS_MAX
                && self.has_free_accounts(&job)
            {
                batch.push(job);
            } else {
                remaining.push_back(job);
            }
        }
        self.patient_queue = remaining;
        batch
    }
}

/// When the first of the commands that need an account arrived, for each account.
fn first_arrivals<'j>(jobs: impl Iterator<Item = &'j Job>) -> HashMap<Account, Instant> {
    let mut first = HashMap::new();
    for job in jobs {
        for account in &job.needs.accounts {
            let arrived = first.entry(*account).or_insert(job.arrived);
            *arrived = job.arrived.min(*arrived);
        }
    }
    first
}

/// Whether the command must wait, because `goes_first` is true for the first arrival at one of its accounts.
fn must_yield(
    job: &Job,
    first_arrivals: &HashMap<Account, Instant>,
    goes_first: impl Fn(Instant) -> bool,
) -> bool {
    job.needs
        .accounts
        .iter()
        .filter_map(|account| first_arrivals.get(account))
        .any(|arrived| goes_first(*arrived))
}

#[cfg(test)]
mod tests;
