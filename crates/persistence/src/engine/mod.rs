//! The engine executes commands that move points in batches, so that many commands share the cost of one
//! commit.
//!
//! Commands wait in one queue. Each worker takes a batch from it, loads what the commands need, decides them
//! one after the other, writes the results, commits, and sends the responses. SQLite, where nothing locks rows,
//! has one worker.
//!
//! *Fast* workers never wait for a lock. They skip rows that another transaction has locked, and hand the
//! commands that depend on those rows to a *patient* worker. Patient workers wait for locks in the lock order
//! and batch the commands that need the same accounts. So a locked row delays only the commands that need it.
//! One of the patient workers also takes large commands, each in a separate batch.
//!
//! If a command is refused or panics, only that command is rolled back. If a batch fails for a reason that one
//! of its commands may have caused, each of its commands is retried alone; if a batch conflicted with another
//! transaction, its commands are retried. If the database is unavailable, the commands fail: the commands of
//! one batch wait for a connection together, at most a second. If the acknowledgement of a commit is lost,
//! nothing is retried: the commands fail with an unknown outcome, and a retry with the same idempotency key
//! returns what happened.

mod batch;
mod job;
mod queue;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use guerdon_domain::commands::{CommandQueue, Outcome, Refusal, Submission};
use guerdon_domain::ports::{Deadlines, LedgerAccess, StoreError, Verdict};

use self::batch::CommandResult;
pub(crate) use self::job::AFFECTED_IN_SHARED_BATCH_MAX;
use self::job::Job;
use self::queue::{JobBatch, JobQueue, SECOND_BATCH_WAIT};
use crate::failpoint::pass_failpoint;

/// How often workers look for expired commands.
const EXPIRY_CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// How a transaction treats rows that another transaction has locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locking {
    Wait,
    /// Locked rows are skipped: they are not loaded.
    Skip,
}

/// Whether other transactions may hold the same lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LockMode {
    Shared,
    Exclusive,
}

/// Which commands a worker takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worker {
    /// Takes commands that do not have to wait for locks.
    Fast,
    /// Takes commands that wait for locks. Only one worker takes large commands, so that they never occupy
    /// all patient workers, and only one of them is in memory at a time.
    Patient { takes_large: bool },
}

impl Worker {
    fn locking_mode(self) -> Locking {
        match self {
            Self::Fast => Locking::Skip,
            Self::Patient { .. } => Locking::Wait,
        }
    }
}

/// Why a transaction did not commit.
pub(crate) enum BatchError {
    /// The transaction conflicted with another one and was rolled back. Another attempt may succeed.
    Contended,
    /// The transaction was rolled back, because a row with the same key exists. Either another transaction inserted it,
    /// and another attempt may succeed, or the database is damaged for one of the commands.
    Duplicate(StoreError),
    /// The transaction was rolled back. One of the commands may be the cause.
    Failed(StoreError),
    /// None of the commands is the cause. Whether the transaction committed may be unknown.
    Unavailable(StoreError),
    /// No transaction could be started: no connection could be opened in the time for which a request waits.
    NoConnection(StoreError),
}

/// A database on which the engine runs.
pub(crate) trait Backend: Send + Sync + 'static {
    /// Runs `work` once in one transaction, which does not commit later than `time_limit` from now.
    /// `affected_count` is the number of objects that the largest command affects.
    fn run_transaction(
        &self,
        locking: Locking,
        time_limit: Duration,
        affected_count: usize,
        work: &mut dyn FnMut(&mut dyn LedgerAccess) -> Verdict,
    ) -> Result<(), BatchError>;
}

/// The queue and its workers. Dropping it executes the waiting commands and then stops the workers.
pub(crate) struct Engine {
    state: Arc<EngineState>,
    workers: Vec<JoinHandle<()>>,
}

struct EngineState {
    queue: Mutex<JobQueue>,
    /// Notified when a fast worker may find a command.
    fast_job_ready: Condvar,
    /// Notified when a patient worker may find a command.
    patient_job_ready: Condvar,
}

impl Engine {
    /// Starts the workers. If other transactions cannot lock rows, no patient workers are needed.
    pub(crate) fn start_workers<B: Backend>(
        backend: B,
        fast: usize,
        patient: usize,
    ) -> std::io::Result<Self> {
        let backend = Arc::new(backend);
        let mut engine = Self { state: Arc::new(EngineState::new(patient > 0)), workers: Vec::new() };
        let fast = std::iter::repeat_n(Worker::Fast, fast);
        let patient = (0..patient).map(|number| Worker::Patient { takes_large: number == 0 });
        for (number, worker) in (1..).zip(fast.chain(patient)) {
            let (state, backend) = (Arc::clone(&engine.state), Arc::clone(&backend));
            let thread = Builder::new().name(format!("ledger-{number}"));
            engine.workers.push(thread.spawn(move || state.run_worker(&*backend, worker))?);
        }
        Ok(engine)
    }
}

impl CommandQueue for Engine {
    fn submit_command(&self, submission: Submission) {
        let job = Job::new(submission);
        let pushed = {
            let mut queue = self.state.lock_queue();
            let pushed = queue.push_job(job);
            queue.update_metric();
            pushed
        };
        match pushed {
            Ok(Locking::Skip) => self.state.fast_job_ready.notify_one(),
            // Not every patient worker takes every command.
            Ok(Locking::Wait) => self.state.patient_job_ready.notify_all(),
            Err(job) => job.complete_with(store_failure(StoreError::Busy)),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.state.lock_queue().close();
        self.state.notify_all();
        for worker in self.workers.drain(..) {
            // The current thread may be one of the workers, if the outcome receiver that it has just dropped
            // held the last reference to the engine. A thread cannot join itself.
            if worker.thread().id() != std::thread::current().id() {
                worker.join().unwrap_or_default(); // the worker catches panics
            }
        }
    }
}

impl EngineState {
    fn new(has_patient_workers: bool) -> Self {
        Self {
            queue: Mutex::new(JobQueue::new(has_patient_workers)),
            fast_job_ready: Condvar::new(),
            patient_job_ready: Condvar::new(),
        }
    }

    fn lock_queue(&self) -> MutexGuard<'_, JobQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner) // nothing that can panic runs under this lock
    }

    fn notify_all(&self) {
        self.fast_job_ready.notify_all();
        self.patient_job_ready.notify_all();
    }

    /// Executes batches until the queue is closed and empty.
    fn run_worker<B: Backend>(&self, backend: &B, worker: Worker) {
        while let Some(batch) = self.wait_for_batch(worker) {
            // After a panic, the outcome of the batch's commands is unknown. Their callers learn this when the
            // outcome receivers are dropped.
            if catch_unwind(AssertUnwindSafe(|| self.execute_batch(backend, batch, worker))).is_err() {
                log::error!("a batch of commands panicked");
            }
        }
    }

    /// Waits for the next batch; `None` once the queue is closed and no more commands can arrive.
    fn wait_for_batch(&self, worker: Worker) -> Option<JobBatch> {
        let mut queue = self.lock_queue();
        loop {
            let expired = queue.take_expired(Instant::now());
            if !expired.is_empty() {
                drop(queue);
                for job in expired {
                    let cause = job.give_up_error(Instant::now());
                    job.complete_with(store_failure(cause));
                }
                queue = self.lock_queue();
                continue;
            }
            if let Some(batch) = queue.take_batch(worker) {
                return Some(batch);
            }
            if queue.is_drained() {
                self.notify_all(); // the other workers end as well
                return None;
            }
            let job_ready =
                if worker == Worker::Fast { &self.fast_job_ready } else { &self.patient_job_ready };
            let wait_max = if queue.is_held_back(worker) { SECOND_BATCH_WAIT } else { EXPIRY_CHECK_INTERVAL };
            let waited = job_ready.wait_timeout(queue, wait_max);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn execute_batch<B: Backend>(&self, backend: &B, batch: JobBatch, worker: Worker) {
        let JobBatch { jobs, accounts } = batch;
        let busy = BusyAccountsGuard { state: self, worker, accounts: &accounts };
        pass_failpoint("engine.take");
        let mut finished = Vec::with_capacity(jobs.len());
        let mut retried = Vec::new();
        let mut batches = vec![jobs];
        while let Some(mut jobs) = batches.pop() {
            let (committed, results) = batch::run_batch(backend, &mut jobs, worker.locking_mode());
            if matches!(committed, Err(BatchError::Failed(_) | BatchError::Duplicate(_))) && jobs.len() > 1 {
                log::debug!(commands = jobs.len(); "a batch failed: executing its commands separately");
                batches.extend(jobs.drain(..).rev().map(|job| vec![job]));
            }
            if is_connection_lost(&committed) && !batches.is_empty() {
                // The remaining commands wait for a connection together, not one after the other.
                if let Err(cause) = check_connection(backend) {
                    let unstarted = batches.drain(..).flatten();
                    finished.extend(unstarted.map(|job| (job, store_failure(cause.clone()))));
                }
            }
            if let Err(BatchError::NoConnection(cause)) = &committed {
                // The commands that arrived in the meantime would wait for a connection as long again.
                let waiting = self.lock_queue().take_all();
                finished.extend(waiting.into_iter().map(|job| (job, store_failure(cause.clone()))));
            }
            let waits_for_locks = worker.locking_mode() == Locking::Wait;
            let is_duplicate = matches!(committed, Err(BatchError::Duplicate(_)));
            for (mut job, result) in jobs.into_iter().zip(results) {
                job.needs_own_batch |=
                    waits_for_locks && committed.is_ok() && matches!(result, CommandResult::NotLoaded);
                match batch::final_outcome(&committed, result) {
                    Some(outcome) => finished.push((job, outcome)),
                    None if job.may_retry(is_duplicate, Instant::now()) => {
                        job.count_retry(Instant::now());
                        retried.push(job);
                    }
                    None => {
                        let cause = match &committed {
                            Err(BatchError::Duplicate(cause)) => cause.clone(),
                            _ => job.give_up_error(Instant::now()),
                        };
                        finished.push((job, store_failure(cause)));
                    }
                }
            }
        }
        self.lock_queue().push_for_retry(retried);
        drop(busy); // other workers may continue before the responses are sent
        pass_failpoint("engine.respond");
        for (job, outcome) in finished {
            job.complete_with(outcome);
        }
    }
}

/// Whether the connection was lost.
fn is_connection_lost(committed: &Result<(), BatchError>) -> bool {
    let failure = match committed {
        Err(BatchError::Failed(cause) | BatchError::Unavailable(cause)) => cause,
        Ok(()) | Err(BatchError::Contended | BatchError::Duplicate(_) | BatchError::NoConnection(_)) => {
            return false;
        }
    };
    matches!(failure, StoreError::Unavailable(_) | StoreError::OutcomeUnknown(_))
}

/// Waits for a connection, as long as a request does.
fn check_connection<B: Backend>(backend: &B) -> Result<(), StoreError> {
    let time_limit = Deadlines::CONNECTION;
    match backend.run_transaction(Locking::Skip, time_limit, 0, &mut |_| Verdict::Rollback) {
        Ok(()) | Err(BatchError::Contended | BatchError::Duplicate(_)) => Ok(()),
        Err(BatchError::Failed(cause) | BatchError::Unavailable(cause) | BatchError::NoConnection(cause)) => {
            Err(cause)
        }
    }
}

fn store_failure(cause: StoreError) -> Outcome {
    Outcome::Refused(Refusal::Store(cause))
}

/// The busy accounts of a batch in progress. Dropping it frees them for other workers.
struct BusyAccountsGuard<'a> {
    state: &'a EngineState,
    worker: Worker,
    accounts: &'a [guerdon_domain::wallets::Account],
}

impl Drop for BusyAccountsGuard<'_> {
    fn drop(&mut self) {
        let waiting = {
            let mut queue = self.state.lock_queue();
            queue.release_accounts(self.worker, self.accounts);
            queue.waiting_jobs()
        };
        if waiting.for_fast {
            self.state.fast_job_ready.notify_one();
        }
        if waiting.for_patient {
            self.state.patient_job_ready.notify_all();
        }
    }
}

#[cfg(test)]
mod tests;
