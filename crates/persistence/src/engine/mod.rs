//! The engine executes commands that move points in batches, so that many commands share the cost of one
//! commit.
//!
//! Commands wait in one queue. Each worker takes a batch from it, loads what the commands need, decides them
//! one after the other, writes the results, commits, and sends the responses.
//!
//! *Fast* workers never wait for a lock. They skip rows that another transaction has locked, and hand the
//! commands that depend on those rows to a *patient* worker. Patient workers wait for locks in the lock order
//! and batch the commands that want the same accounts. So a locked row delays only the commands that need it.
//! Patient workers also take large commands, each in a separate batch.
//!
//! If a command is refused or panics, only that command is rolled back. If a batch fails before its commit,
//! each of its commands is tried alone. If the acknowledgement of a commit is lost, nothing is tried again:
//! the commands fail with an unknown outcome, and a retry with the same idempotency key returns what
//! happened.

mod batch;
mod queue;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use guerdon_domain::commands::{CommandQueue, Outcome, Refusal, Submission};
use guerdon_domain::ports::{LedgerAccess, StoreError, Verdict};

use self::batch::Fate;
use self::queue::{Job, Lane, Queue, SECOND_BATCH_WAIT, TakenJobs};

/// The number of tries after which a command counts as contended.
const TRIES_MAX: u32 = 6;
/// How often workers look for commands whose time is over.
const LATE_COMMANDS_LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// How a transaction treats rows that another transaction has locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Locking {
    #[default]
    Wait,
    /// Locked rows are skipped: they are not loaded.
    Skip,
}

/// Which commands a worker takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worker {
    /// Takes commands that do not have to wait for locks.
    Fast,
    /// Takes commands that wait for locks. Only one worker takes large commands: so they never occupy all
    /// patient workers, and their memory is needed only once.
    Patient { takes_large: bool },
}

impl Worker {
    fn locking(self) -> Locking {
        match self {
            Self::Fast => Locking::Skip,
            Self::Patient { .. } => Locking::Wait,
        }
    }
}

/// Why a transaction did not commit.
pub(crate) enum BatchError {
    /// It lost a race and was rolled back. Another try may succeed.
    Contended,
    /// It was rolled back. One of the commands may be the cause.
    Failed(StoreError),
    /// None of the commands is the cause. Whether the transaction committed may be unknown.
    Unavailable(StoreError),
}

/// A database on which the engine runs.
pub(crate) trait Backend: Send + Sync + 'static {
    /// Whether other transactions can lock rows. If not, fast and patient workers would not differ.
    const HAS_LOCKS: bool;

    /// Runs `work` once in one transaction, which does not commit later than `within` from now.
    fn transact(
        &self,
        locking: Locking,
        within: Duration,
        changes_much: bool,
        work: &mut dyn FnMut(&mut dyn LedgerAccess) -> Verdict,
    ) -> Result<(), BatchError>;
}

/// The queue and its workers. Dropping it executes the waiting commands and then stops the workers.
pub(crate) struct Engine {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

struct Shared {
    queue: Mutex<Queue>,
    /// Notified when a fast worker may find a command.
    for_fast: Condvar,
    /// Notified when a patient worker may find a command.
    for_patient: Condvar,
}

impl Engine {
    /// Starts the workers. A database without locks has no patient workers.
    pub(crate) fn start<B: Backend>(backend: B, fast: usize, patient: usize) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue::new(B::HAS_LOCKS)),
            for_fast: Condvar::new(),
            for_patient: Condvar::new(),
        });
        let backend = Arc::new(backend);
        let mut engine = Self { shared, workers: Vec::new() };
        let fast = std::iter::repeat_n(Worker::Fast, fast);
        let patient = (0..patient).map(|number| Worker::Patient { takes_large: number == 0 });
        for (number, kind) in (1..).zip(fast.chain(patient)) {
            let (shared, backend) = (Arc::clone(&engine.shared), Arc::clone(&backend));
            let thread = Builder::new().name(format!("ledger-{number}"));
            engine.workers.push(thread.spawn(move || shared.work(&*backend, kind))?);
        }
        Ok(engine)
    }
}

impl CommandQueue for Engine {
    fn submit(&self, submission: Submission) {
        let job = Job::new(submission);
        let pushed = {
            let mut queue = self.shared.lock();
            let pushed = queue.push(job);
            queue.tell();
            pushed
        };
        match pushed {
            Ok(Lane::Fast) => self.shared.for_fast.notify_one(),
            Ok(Lane::Patient) => self.shared.for_patient.notify_all(), // not every patient worker takes every command
            Err(job) => job.end(failed(StoreError::Busy)),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shared.lock().close();
        self.shared.notify_all();
        for worker in self.workers.drain(..) {
            // The current thread may be one of the workers, if a response that it has just ended was the last
            // owner of the engine. It cannot join itself.
            if worker.thread().id() != std::thread::current().id() {
                worker.join().unwrap_or_default(); // the worker catches panics
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner) // nothing that can panic runs under this lock
    }

    fn notify_all(&self) {
        self.for_fast.notify_all();
        self.for_patient.notify_all();
    }

    /// Executes batches until the queue is closed and empty.
    fn work<B: Backend>(&self, backend: &B, worker: Worker) {
        while let Some(batch) = self.take(worker) {
            // After a panic the outcome of the batch's commands is unknown. Dropping their responses ends
            // them.
            if catch_unwind(AssertUnwindSafe(|| self.execute(backend, batch, worker))).is_err() {
                log::error!("a batch of commands panicked");
            }
        }
    }

    /// Waits for the next batch; `None` once the queue is closed and no more can come.
    fn take(&self, worker: Worker) -> Option<TakenJobs> {
        let mut queue = self.lock();
        loop {
            let late = queue.take_late(Instant::now());
            if !late.is_empty() {
                drop(queue);
                for job in late {
                    let cause = job.lateness(Instant::now());
                    job.end(failed(cause));
                }
                queue = self.lock();
                continue;
            }
            if let Some(batch) = queue.take(worker) {
                return Some(batch);
            }
            if queue.is_done() {
                self.notify_all(); // the other workers end as well
                return None;
            }
            let changed = if worker == Worker::Fast { &self.for_fast } else { &self.for_patient };
            let at_most =
                if queue.is_held_back(worker) { SECOND_BATCH_WAIT } else { LATE_COMMANDS_LOOK_INTERVAL };
            let waited = changed.wait_timeout(queue, at_most);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn execute<B: Backend>(&self, backend: &B, batch: TakenJobs, worker: Worker) {
        let TakenJobs { jobs, accounts } = batch;
        let busy = Busy { shared: self, worker, accounts: &accounts };
        let mut ended = Vec::with_capacity(jobs.len());
        let mut again = Vec::new();
        let mut left = vec![jobs];
        while let Some(mut jobs) = left.pop() {
            let (committed, fates) = batch::run(backend, &mut jobs, worker.locking());
            if matches!(committed, Err(BatchError::Failed(_))) && jobs.len() > 1 {
                log::debug!("a batch of {} commands failed: each is tried alone", jobs.len());
                left.extend(jobs.into_iter().rev().map(|job| vec![job]));
                continue;
            }
            let is_alone = worker.locking() == Locking::Wait;
            for (mut job, fate) in jobs.into_iter().zip(fates) {
                job.is_alone |= is_alone && matches!(fate, Fate::NotLoaded);
                match batch::outcome(&committed, fate) {
                    Some(outcome) => ended.push((job, outcome)),
                    None if job.tries < TRIES_MAX && !job.is_over(Instant::now()) => {
                        job.tries += 1;
                        again.push(job);
                    }
                    None => {
                        let cause = job.lateness(Instant::now());
                        ended.push((job, failed(cause)));
                    }
                }
            }
        }
        self.lock().push_again(again);
        drop(busy); // other workers may continue before the responses are sent
        for (job, outcome) in ended {
            job.end(outcome);
        }
    }
}

fn failed(cause: StoreError) -> Outcome {
    Outcome::Refused(Refusal::Store(cause))
}

/// The busy accounts of a batch in progress. Dropping it frees them for other workers.
struct Busy<'a> {
    shared: &'a Shared,
    worker: Worker,
    accounts: &'a [guerdon_domain::wallets::Account],
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let waits = {
            let mut queue = self.shared.lock();
            queue.free(self.worker, self.accounts);
            queue.waits()
        };
        if waits.0 {
            self.shared.for_fast.notify_one();
        }
        if waits.1 {
            self.shared.for_patient.notify_all();
        }
    }
}

#[cfg(test)]
mod tests;
