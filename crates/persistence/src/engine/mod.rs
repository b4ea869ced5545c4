//! The engine that carries out commands: one queue, and workers that each take a batch, load what it needs, decide its
//! commands one after the other, write what they come to, commit, and respond.
//!
//! *Fast* workers wait for no lock. What another transaction holds is left out, and a command that depends on it goes to a
//! *patient* worker, which waits for locks in their order, together with the commands that want the same accounts. So a row that
//! somebody holds delays only the commands that need it. Commands that change much go there too, each in a batch of its own.
//!
//! A refusal or a panic of one command rolls back this command alone. If a batch fails before its commit, each of its
//! commands is tried alone. After a commit whose acknowledgement was lost nothing is tried again: its commands fail with an
//! unknown outcome, and an idempotency key settles a retry.

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

/// How often a command is tried before it counts as contended.
const TRIES_MAX: u32 = 6;
/// How often workers look for commands that have waited too long.
const LATE_COMMANDS_LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// How a transaction treats rows that another one has locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Locking {
    #[default]
    Wait,
    /// They are left out of what is loaded.
    Skip,
}

/// What a worker takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worker {
    /// What needs no waiting for locks.
    Fast,
    /// What waits for locks. One worker alone takes large commands: they never keep all patient workers busy, and the memory
    /// that they need is needed once.
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
    /// It lost a race: nothing was kept, and another try may succeed.
    Contended,
    /// Nothing was kept. One of the commands may be the cause.
    Failed(StoreError),
    /// None of the commands is the cause; whether they were kept may be unknown.
    Unavailable(StoreError),
}

/// A database on which the engine works.
pub(crate) trait Backend: Send + Sync + 'static {
    /// Whether rows can be locked by other transactions, so that there is a difference between fast and patient workers.
    const HAS_LOCKS: bool;

    /// Runs `work` once in one transaction, of which nothing commits after `within`.
    fn transact(
        &self,
        locking: Locking,
        within: Duration,
        changes_much: bool,
        work: &mut dyn FnMut(&mut dyn LedgerAccess) -> Verdict,
    ) -> Result<(), BatchError>;
}

/// The queue, and the workers. Dropped, it carries out what waits, and ends.
pub(crate) struct Engine {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

struct Shared {
    queue: Mutex<Queue>,
    /// There may be something for a fast worker.
    for_fast: Condvar,
    /// There may be something for a patient worker.
    for_patient: Condvar,
}

impl Engine {
    /// Starts workers; a database without locks has no patient ones.
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
            Ok(Lane::Patient) => self.shared.for_patient.notify_all(), // not each of them takes all
            Err(job) => job.end(failed(StoreError::Busy)),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shared.lock().close();
        self.shared.notify_all();
        for worker in self.workers.drain(..) {
            // The last owner of the engine may be a response that this very worker has just ended.
            if worker.thread().id() != std::thread::current().id() {
                worker.join().unwrap_or_default(); // it catches panics
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner) // nothing that can panic is done under it
    }

    fn notify_all(&self) {
        self.for_fast.notify_all();
        self.for_patient.notify_all();
    }

    /// Carries out batches until the queue is closed and empty.
    fn work<B: Backend>(&self, backend: &B, worker: Worker) {
        while let Some(batch) = self.take(worker) {
            // The outcome of the commands that a panic takes along is unknown; their responses end when they are dropped.
            if catch_unwind(AssertUnwindSafe(|| self.execute(backend, batch, worker))).is_err() {
                log::error!("a batch of commands panicked");
            }
        }
    }

    /// Waits for the next batch; none if there will be no more.
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
                self.notify_all(); // the others end, too
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
                left.extend(jobs.into_iter().rev().map(|it| vec![it]));
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
        drop(busy); // the other workers go on before anybody is told
        for (job, outcome) in ended {
            job.end(outcome);
        }
    }
}

fn failed(cause: StoreError) -> Outcome {
    Outcome::Refused(Refusal::Store(cause))
}

/// The accounts of a batch at work. Dropped, they are free for other workers.
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
