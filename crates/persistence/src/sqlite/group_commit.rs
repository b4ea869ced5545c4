//! The store over one SQLite writer. Concurrent units of work share one commit, and with it one fsync.
//!
//! A mutex holds the writer and its open batch. Each caller takes the mutex and runs its own unit on its own
//! thread, in a savepoint if it is not the first of the batch. A caller commits the batch if no other caller is
//! waiting, or if its unit is the last of the batch, and reports the result to all units in it. So a single
//! caller waits for no other, and callers that queue for the disk share one fsync. Refused units wait for the
//! commit as well, because a refusal may depend on what an earlier unit of the batch wrote.
//!
//! Units that write much take turns, each with a separate commit: a unit that writes little waits for at
//! most one of them.
//!
//! The engine's worker runs a batch of commands as one unit, under the same rules.

use std::fs::File;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use diesel::SqliteConnection;
use guerdon_domain::ports::{
    Consistency, Deadlines, LedgerAccess, Reads, Store, StoreError, Tx, Verdict, Wakes,
};

use super::catalog;
use super::checkpoints::Checkpoints;
use super::reading::read_on;
use super::writer::{SavepointEnd, Writer};
use super::{UnitLimits, lock};
use crate::engine::{Backend, BatchError, Locking};
use crate::pool::Pool;
use crate::pool::waits::waited;

/// One writer, a few readers, and the lock that excludes other processes.
pub(crate) struct GroupCommit {
    writer: Mutex<Writer>,
    waiting: AtomicUsize,
    /// Held by the single unit that may write much.
    turn: Mutex<()>,
    /// The time limit of a unit; `None` if no client waits for it.
    within: Option<Duration>,
    readers: Pool<SqliteConnection>,
    checkpoints: Option<Checkpoints>,
    _lock: File,
}

impl GroupCommit {
    pub(crate) fn new(
        writer: SqliteConnection,
        readers: Pool<SqliteConnection>,
        lock: File,
        wakes: Wakes,
    ) -> Self {
        let writer = Mutex::new(Writer::new(writer, wakes));
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

    /// For the service: units have the deadline of requests, and another thread makes the checkpoints.
    pub(crate) fn for_requests(mut self, checkpoints: Checkpoints) -> Result<Self, StoreError> {
        lock(&self.writer).leave_checkpoints(checkpoints.due())?;
        self.within = Some(Deadlines::REQUEST.commit);
        self.checkpoints = Some(checkpoints);
        Ok(self)
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
        changes_much: bool,
        work: &mut dyn FnMut(&mut dyn Tx) -> Verdict,
    ) -> Result<(), StoreError> {
        let _turn = changes_much.then(|| lock(&self.turn));
        let mut limits = UnitLimits::new(within);
        let mut writer = self.take_baton();
        if changes_much {
            writer.commit(); // units that wrote little do not wait for this one
        }
        let fate = writer.join(changes_much)?;
        let ended = writer.run_unit(&mut limits, work);
        if let SavepointEnd::BatchLost(cause) = &ended {
            writer.abandon(cause);
        } else if self.waiting.load(Ordering::SeqCst) == 0 || changes_much || writer.is_full() {
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

impl Store for GroupCommit {
    fn check_schema(&self) -> Result<Vec<String>, StoreError> {
        let mut link = self.readers.get().map_err(|e| StoreError::Unavailable(e.to_string()))?;
        catalog::check(&mut link.conn)
            .map_err(|cause| StoreError::Broken(format!("the schema cannot be judged: {cause}")))
    }

    fn run(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError> {
        self.run_within(self.within, false, work)
    }

    fn read(&self, consistency: Consistency, work: &mut dyn FnMut(&mut dyn Reads)) -> Result<(), StoreError> {
        read_on(&self.readers, consistency, work)
    }
}

/// The same database with separate readers: reads here do not wait for reads through the other store.
pub(crate) struct Beside {
    pub(crate) store: Arc<GroupCommit>,
    pub(crate) readers: Pool<SqliteConnection>,
}

impl Store for Beside {
    fn check_schema(&self) -> Result<Vec<String>, StoreError> {
        self.store.check_schema()
    }

    fn run(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError> {
        self.store.run_within(None, false, work)
    }

    fn read(&self, consistency: Consistency, work: &mut dyn FnMut(&mut dyn Reads)) -> Result<(), StoreError> {
        read_on(&self.readers, consistency, work)
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

impl Backend for Arc<GroupCommit> {
    const HAS_LOCKS: bool = false;

    fn transact(
        &self,
        _locking: Locking,
        within: Duration,
        changes_much: bool,
        work: &mut dyn FnMut(&mut dyn LedgerAccess) -> Verdict,
    ) -> Result<(), BatchError> {
        self.run_within(Some(within), changes_much, &mut |tx| work(tx)).map_err(|cause| match cause {
            StoreError::Busy | StoreError::WouldBlock | StoreError::DeadlineExceeded => BatchError::Contended,
            StoreError::Unavailable(_) | StoreError::OutcomeUnknown(_) => BatchError::Unavailable(cause),
            StoreError::Corrupt { .. } | StoreError::Broken(_) => BatchError::Failed(cause),
        })
    }
}
