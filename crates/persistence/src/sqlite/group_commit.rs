//! The store over one SQLite writer. Units of work that meet share one commit.
//!
//! The writer stands in a mutex with the open batch. Each caller runs its own unit on its own thread while it holds
//! the mutex, inside a savepoint; whoever finds nobody waiting, or is the batch's last, commits and tells all. So a
//! caller alone waits for nobody, and callers that queue for the disk share its one fsync. Everyone, the refused
//! too, waits for that commit: a refusal may rest on what an earlier unit of the batch wrote.
//!
//! Units that write much take turns, each with a commit of its own: whoever writes little waits for one of them at most
//! before its own turn comes.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use guerdon_domain::ports::{Reads, Store, StoreError, Tx, Verdict, Wakes};

use super::catalog;
use super::checkpoints::Checkpoints;
use super::reading::{read_at_once, read_on};
use super::repo::Unit;
use super::{Terms, classify};
use crate::pool::Pool;
use crate::pool::waits::waited;
use crate::queued::Queued;

/// How many units one commit covers at most.
const BATCH: usize = 64;
/// For how long a batch takes more units in: whoever wrote little does not wait for the commit of many who write much.
const OPEN_FOR: Duration = Duration::from_millis(20);

/// What became of a batch, for all who took part.
#[derive(Default)]
struct Fate {
    settled: Mutex<Option<Result<(), StoreError>>>,
    told: Condvar,
}

impl Fate {
    fn settle(&self, result: Result<(), StoreError>) {
        *lock(&self.settled) = Some(result);
        self.told.notify_all();
    }

    fn wait(&self) -> Result<(), StoreError> {
        let mut settled = lock(&self.settled);
        loop {
            match &*settled {
                Some(result) => return result.clone(),
                None => settled = self.told.wait(settled).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// The open batch.
struct Batch {
    fate: Arc<Fate>,
    units: usize,
    since: Instant,
    queued: Queued,
}

struct Writer {
    conn: SqliteConnection,
    batch: Option<Batch>,
    wakes: Wakes,
}

/// How one unit ended, before its batch was committed.
enum SavepointEnd {
    /// Its savepoint is released or rolled back; the batch goes on.
    Cleanly(Result<(), StoreError>),
    /// It panicked and was rolled back; the batch goes on.
    Panicked(Box<dyn std::any::Any + Send>),
    /// Its savepoint is gone, and with it the batch.
    BatchLost(StoreError),
}

/// One writer, a few readers, and the lock that keeps other processes away.
pub(crate) struct GroupCommit {
    writer: Mutex<Writer>,
    waiting: AtomicUsize,
    /// Held by the one unit that may write much.
    turn: Mutex<()>,
    /// How long a unit may take; none where nobody waits for it.
    within: Option<Duration>,
    readers: Pool<SqliteConnection>,
    checkpoints: Option<Checkpoints>,
    _lock: File,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner) // every panic of a unit is caught while the lock is held
}

impl GroupCommit {
    pub(crate) fn new(
        writer: SqliteConnection,
        readers: Pool<SqliteConnection>,
        lock: File,
        wakes: Wakes,
    ) -> Self {
        let writer = Mutex::new(Writer { conn: writer, batch: None, wakes });
        Self {
            writer,
            waiting: AtomicUsize::new(0),
            turn: Mutex::default(),
            within: None,
            readers,
            checkpoints: None,
            _lock: lock,
        }
    }

    /// The same for a service: somebody waits so long for a unit, and another thread makes the checkpoints.
    pub(crate) fn for_requests(mut self, within: Duration, checkpoints: Checkpoints) -> Self {
        self.within = Some(within);
        self.checkpoints = Some(checkpoints);
        self
    }

    fn take_baton(&self) -> MutexGuard<'_, Writer> {
        let since = Instant::now();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let writer = lock(&self.writer);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        waited(since.elapsed());
        writer
    }

    fn run_within(
        &self,
        within: Option<Duration>,
        work: &mut dyn FnMut(&mut dyn Tx) -> Verdict,
    ) -> Result<(), StoreError> {
        let mut terms = Terms::new(within);
        let done = self.attempt(&mut terms, work);
        if !terms.lacks_turn() {
            return done;
        }
        let _turn = lock(&self.turn);
        terms.give_turn();
        self.attempt(&mut terms, work)
    }

    fn attempt(
        &self,
        terms: &mut Terms,
        work: &mut dyn FnMut(&mut dyn Tx) -> Verdict,
    ) -> Result<(), StoreError> {
        let mut writer = self.take_baton();
        if terms.has_turn() {
            writer.commit(); // who wrote little before does not wait for this one
        }
        let fate = writer.join()?;
        let ended = writer.run_unit(terms, work);
        if let SavepointEnd::BatchLost(cause) = &ended {
            writer.abandon(cause);
        } else if self.waiting.load(Ordering::SeqCst) == 0 || terms.has_turn() || writer.is_full() {
            writer.commit();
        }
        drop(writer);
        let settled = fate.wait();
        match ended {
            SavepointEnd::Panicked(panic) => resume_unwind(panic),
            SavepointEnd::Cleanly(result) => settled.and(result),
            SavepointEnd::BatchLost(cause) => Err(cause),
        }
    }
}

impl Writer {
    fn execute(&mut self, sql: &str) -> Result<(), StoreError> {
        self.conn.batch_execute(sql).map_err(|e| classify(&e))
    }

    /// Joins the open batch, or opens one.
    fn join(&mut self) -> Result<Arc<Fate>, StoreError> {
        if let Some(batch) = &mut self.batch {
            batch.units += 1;
            return Ok(Arc::clone(&batch.fate));
        }
        self.execute("BEGIN IMMEDIATE")?;
        let fate = Arc::new(Fate::default());
        self.batch = Some(Batch {
            fate: Arc::clone(&fate),
            units: 1,
            since: Instant::now(),
            queued: Queued::default(),
        });
        Ok(fate)
    }

    fn run_unit(&mut self, terms: &mut Terms, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> SavepointEnd {
        if let Err(e) = self.execute("SAVEPOINT unit") {
            return SavepointEnd::BatchLost(e);
        }
        let mut unit = Unit::new(&mut self.conn, terms);
        let verdict = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
        let keep = matches!(verdict, Ok(Verdict::Commit)) && unit.go_on().is_ok();
        let (fault, queued) = unit.end();
        if let Some(batch) = self.batch.as_mut().filter(|_| keep) {
            batch.queued |= queued;
        }
        let end = if keep { "RELEASE unit" } else { "ROLLBACK TO unit; RELEASE unit" };
        match (self.execute(end), verdict) {
            // A full disk rolls the whole transaction back by itself; then the savepoint is gone.
            (Err(e), _) => SavepointEnd::BatchLost(fault.unwrap_or(e)),
            (Ok(()), Err(panic)) => SavepointEnd::Panicked(panic),
            (Ok(()), Ok(_)) => SavepointEnd::Cleanly(fault.map_or(Ok(()), Err)),
        }
    }

    fn commit(&mut self) {
        let Some(batch) = self.batch.take() else { return };
        let result = self.execute("COMMIT");
        if result.is_err() {
            self.execute("ROLLBACK").unwrap_or_default(); // refused where the failed commit already rolled back
        }
        let committed = result.is_ok();
        batch.fate.settle(result.map_err(unavailable));
        if committed {
            batch.queued.tell(&self.wakes);
        }
    }

    fn abandon(&mut self, cause: &StoreError) {
        let Some(batch) = self.batch.take() else { return };
        self.execute("ROLLBACK").unwrap_or_default(); // refused where nothing is open any more
        batch.fate.settle(Err(unavailable(cause.clone())));
    }

    fn is_full(&self) -> bool {
        self.batch.as_ref().is_some_and(|it| it.units >= BATCH || it.since.elapsed() >= OPEN_FOR)
    }
}

/// A batch that failed is nobody's fault in it.
fn unavailable(cause: StoreError) -> StoreError {
    match cause {
        StoreError::Unavailable(_) | StoreError::Contended => cause,
        StoreError::Corrupt { .. } | StoreError::Broken(_) => StoreError::Unavailable(cause.to_string()),
    }
}

impl Store for GroupCommit {
    fn check_schema(&self) -> Result<Vec<String>, StoreError> {
        let mut link = self.readers.get().map_err(|e| StoreError::Unavailable(e.to_string()))?;
        catalog::check(&mut link.conn)
            .map_err(|cause| StoreError::Broken(format!("the schema cannot be judged: {cause}")))
    }

    fn run(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError> {
        self.run_within(self.within, work)
    }

    fn read(&self, work: &mut dyn FnMut(&mut dyn Reads)) -> Result<(), StoreError> {
        read_on(&self.readers, work)
    }

    fn glance_at_once(&self, work: &mut dyn FnMut(&mut dyn Reads)) -> Option<Result<(), StoreError>> {
        read_at_once(&self.readers, work)
    }
}

/// The same database with other readers, so that whoever reads here waits for nobody who reads there.
pub(crate) struct Beside {
    pub(crate) store: Arc<GroupCommit>,
    pub(crate) readers: Pool<SqliteConnection>,
}

impl Store for Beside {
    fn check_schema(&self) -> Result<Vec<String>, StoreError> {
        self.store.check_schema()
    }

    fn run(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError> {
        self.store.run_within(None, work)
    }

    fn read(&self, work: &mut dyn FnMut(&mut dyn Reads)) -> Result<(), StoreError> {
        read_on(&self.readers, work)
    }
}

impl Drop for GroupCommit {
    fn drop(&mut self) {
        drop(self.checkpoints.take());
        let mut writer = lock(&self.writer);
        if let Err(e) = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)") {
            log::warn!("the database was closed without a checkpoint: {e}");
        }
    }
}
