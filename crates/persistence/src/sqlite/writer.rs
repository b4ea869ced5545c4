//! The single writing connection, and its open batch: units of work that share one commit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use guerdon_domain::ports::{StoreError, Tx, Verdict, Wakes};

use super::checkpoints::{CHECKPOINT, Due};
use super::repo::Unit;
use super::{Conn, Db, UnitLimits, classify, lock};
use crate::queued::Queued;
use crate::statement::statement;

/// The maximum number of units in one commit.
pub(super) const UNITS_MAX: usize = 64;
/// How long a batch accepts more units: a unit that writes little does not wait for the commit of many units
/// that write much.
const BATCH_TIME: Duration = Duration::from_millis(20);

statement! {
    /// Starts a unit.
    Savepoint -> Bool {} "SAVEPOINT unit"
}

statement! {
    /// Ends a unit and keeps its changes.
    Release -> Bool {} "RELEASE unit"
}

/// The result of a batch, for all units in it.
#[derive(Default)]
pub(super) struct Fate {
    settled: Mutex<Option<Result<(), StoreError>>>,
    told: Condvar,
}

impl Fate {
    fn settle(&self, result: Result<(), StoreError>) {
        *lock(&self.settled) = Some(result);
        self.told.notify_all();
    }

    pub(super) fn wait(&self) -> Result<(), StoreError> {
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

pub(super) struct Writer {
    conn: SqliteConnection,
    batch: Option<Batch>,
    /// Where the undo pages of savepoints are stored: in memory, unless there are very many.
    undo: &'static str,
    wakes: Wakes,
    checkpoint: Due,
}

/// How one unit ended, before its batch was committed.
pub(super) enum SavepointEnd {
    /// Its savepoint was released or rolled back; the batch continues.
    Cleanly(Result<(), StoreError>),
    /// It panicked and was rolled back; the batch continues.
    Panicked(Box<dyn std::any::Any + Send>),
    /// Its savepoint is lost, and with it the batch.
    BatchLost(StoreError),
}

impl Writer {
    pub(super) fn new(conn: SqliteConnection, wakes: Wakes) -> Self {
        Self { conn, batch: None, undo: "", wakes, checkpoint: Due::default() }
    }

    /// Leaves checkpoints to another thread, except those that `due` requests.
    pub(super) fn leave_checkpoints(&mut self, due: Due) -> Result<(), StoreError> {
        self.checkpoint = due;
        self.execute("PRAGMA wal_autocheckpoint = 0")
    }

    pub(super) fn execute(&mut self, sql: &str) -> Result<(), StoreError> {
        self.conn.batch_execute(sql).map_err(|e| classify(&e))
    }

    /// Joins the open batch, or opens one, for a unit that writes much or little.
    pub(super) fn join(&mut self, writes_much: bool) -> Result<Arc<Fate>, StoreError> {
        if let Some(batch) = &mut self.batch {
            batch.units += 1;
            return Ok(Arc::clone(&batch.fate));
        }
        let undo = if writes_much { "PRAGMA temp_store = FILE" } else { "PRAGMA temp_store = MEMORY" };
        if self.undo != undo {
            self.execute(undo)?;
            self.undo = undo;
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

    pub(super) fn run_unit(
        &mut self,
        limits: &mut UnitLimits,
        work: &mut dyn FnMut(&mut dyn Tx) -> Verdict,
    ) -> SavepointEnd {
        // The first unit of a batch needs no savepoint, which would copy each page that it changes.
        let is_first = self.batch.as_ref().is_none_or(|batch| batch.units <= 1);
        if !is_first && let Err(e) = (Savepoint {}).execute(&mut self.conn) {
            return SavepointEnd::BatchLost(classify(&e));
        }
        let mut unit = Unit::new(&mut self.conn, limits);
        let verdict = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
        let keep = matches!(verdict, Ok(Verdict::Commit)) && unit.go_on().is_ok();
        let (fault, queued) = unit.end();
        if let Some(batch) = self.batch.as_mut().filter(|_| keep) {
            batch.queued |= queued;
        }
        let end = match (keep, is_first) {
            (true, true) => Ok(()),
            (true, false) => (Release {}).execute(&mut self.conn).map(drop).map_err(|e| classify(&e)),
            (false, true) => self.execute("ROLLBACK; BEGIN IMMEDIATE"),
            (false, false) => self.execute("ROLLBACK TO unit; RELEASE unit"),
        };
        match (end, verdict) {
            // A full disk rolls back the whole transaction, and the savepoint with it.
            (Err(e), _) => SavepointEnd::BatchLost(fault.unwrap_or(e)),
            (Ok(()), Err(panic)) => SavepointEnd::Panicked(panic),
            (Ok(()), Ok(_)) => SavepointEnd::Cleanly(fault.map_or(Ok(()), Err)),
        }
    }

    pub(super) fn commit(&mut self) {
        let Some(batch) = self.batch.take() else { return };
        let result = self.execute("COMMIT");
        if result.is_err() {
            self.execute("ROLLBACK").unwrap_or_default(); // fails if the failed commit has already rolled back
        }
        let committed = result.is_ok();
        batch.fate.settle(result.map_err(unavailable));
        if committed {
            batch.queued.tell(&self.wakes);
            if self.checkpoint.take() {
                self.execute(CHECKPOINT).unwrap_or_default(); // the next checkpoint compensates for one that fails
            }
        }
    }

    pub(super) fn abandon(&mut self, cause: &StoreError) {
        let Some(batch) = self.batch.take() else { return };
        self.execute("ROLLBACK").unwrap_or_default(); // fails if no transaction is open any more
        batch.fate.settle(Err(unavailable(cause.clone())));
    }

    pub(super) fn is_full(&self) -> bool {
        self.batch
            .as_ref()
            .is_some_and(|batch| batch.units >= UNITS_MAX || batch.since.elapsed() >= BATCH_TIME)
    }
}

/// The error for a batch that failed: none of its units is the cause.
fn unavailable(cause: StoreError) -> StoreError {
    match cause {
        StoreError::Unavailable(_)
        | StoreError::Busy
        | StoreError::WouldBlock
        | StoreError::DeadlineExceeded
        | StoreError::OutcomeUnknown(_) => cause,
        StoreError::Corrupt { .. } | StoreError::Broken(_) => StoreError::Unavailable(cause.to_string()),
    }
}
