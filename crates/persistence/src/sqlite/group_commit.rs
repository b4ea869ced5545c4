//! The store over one SQLite writer. Units of work that meet share one commit.
//!
//! The writer stands in a mutex with the open batch. Each caller runs its own unit on its own thread while it holds
//! the mutex, inside a savepoint; whoever finds nobody waiting, or is the batch's last, commits and tells all. So a
//! caller alone waits for nobody, and callers that queue for the disk share its one fsync. Everyone, the refused
//! too, waits for that commit: a refusal may rest on what an earlier unit of the batch wrote.
//!
//! Units that write much take turns, each with a commit of its own: whoever writes little waits for one of them at most
//! before its own turn comes.
//!
//! Postings that were handed over (`postings`) are run by one thread, as many as wait for it in one go, under the same rules.

use std::fs::File;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use diesel::SqliteConnection;
use guerdon_domain::ports::{Posting, PostingEnd, Reads, Store, StoreError, Tx, Verdict, Wakes};

use super::catalog;
use super::checkpoints::Checkpoints;
use super::reading::{glance_on, read_at_once, read_on};
use super::writer::{SavepointEnd, Writer};
use super::{Terms, lock};
use crate::pool::Pool;
use crate::pool::waits::waited;
use crate::postings::{Facts, panicked};

/// A posting that waits for the writer, and what it is held to.
pub(super) struct Waiting {
    pub(super) posting: Posting,
    pub(super) terms: Terms,
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

    /// The same for a service: somebody waits so long for a unit, and another thread makes the checkpoints.
    pub(crate) fn for_requests(
        mut self,
        within: Duration,
        checkpoints: Checkpoints,
    ) -> Result<Self, StoreError> {
        lock(&self.writer).leave_checkpoints(checkpoints.due())?;
        self.within = Some(within);
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

    /// What a request's unit is held to.
    pub(super) fn terms(&self) -> Terms {
        Terms::new(self.within)
    }

    /// Runs these units one after the other, commits them, and tells how each ended.
    pub(super) fn run_together(&self, units: Vec<Waiting>) {
        let mut writer = self.take_baton();
        let mut ended = Vec::with_capacity(units.len());
        let mut facts = Facts::default(); // of this batch: nobody else writes meanwhile, and postings change none of them
        for mut unit in units {
            let fate = match writer.join(false) {
                Ok(fate) => fate,
                Err(cause) => {
                    ended.push((unit.posting.told, None, Some(SavepointEnd::Cleanly(Err(cause)))));
                    continue;
                }
            };
            unit.terms.lend(facts);
            let end = writer.run_unit(&mut unit.terms, &mut unit.posting.work);
            facts = unit.terms.take_back();
            if let SavepointEnd::BatchLost(cause) = &end {
                writer.abandon(cause);
                facts = Facts::default(); // what whoever opened the batch had changed is undone
            } else if writer.is_full() {
                writer.commit();
                facts = Facts::default();
            }
            let end = if unit.terms.lacks_turn() { None } else { Some(end) };
            ended.push((unit.posting.told, Some(fate), end));
        }
        if self.waiting.load(Ordering::SeqCst) == 0 {
            writer.commit();
        }
        drop(writer);
        for (told, fate, end) in ended {
            let settled = fate.map_or(Ok(()), |it| it.wait());
            told(match end {
                None => PostingEnd::Alone(Box::new(())),
                Some(SavepointEnd::Cleanly(result)) => PostingEnd::Ended(settled.and(result)),
                Some(SavepointEnd::BatchLost(cause)) => PostingEnd::Ended(Err(cause)),
                Some(SavepointEnd::Panicked(panic)) => PostingEnd::Ended(Err(panicked(&*panic))),
            });
        }
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
        let fate = writer.join(terms.has_turn())?;
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

    fn glance(&self, work: &mut dyn FnMut(&mut dyn Reads)) -> Result<(), StoreError> {
        glance_on(&self.readers, work)
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
