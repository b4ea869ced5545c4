//! The single writing connection, and its open group: units of work that share one commit. A batch of commands is one
//! unit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use guerdon_domain::ports::{Notifiers, StoreError, Tx, Verdict};

use super::checkpoint_thread::{CHECKPOINT, CheckpointRequest};
use super::error_classes::classify_commit_error;
use super::repo::Unit;
use super::{Conn, Db, UnitLimits, classify_error, lock_mutex};
use crate::failpoint::{failpoint, is_mutant};
use crate::queued_messages::QueuedMessages;
use crate::statement::statement;

/// The maximum number of units in one commit.
pub(super) const UNITS_MAX: usize = 64;
/// How long a group accepts more units. This limits how long the first unit waits for the others.
const GROUP_DURATION_MAX: Duration = Duration::from_millis(20);

statement! {
    /// Starts a unit.
    Savepoint -> Bool {} "SAVEPOINT unit"
}

statement! {
    /// Ends a unit and keeps its changes.
    Release -> Bool {} "RELEASE unit"
}

/// The result of a group, for all units in it.
#[derive(Default)]
pub(super) struct GroupResult {
    result: Mutex<Option<Result<(), StoreError>>>,
    result_ready: Condvar,
}

impl GroupResult {
    fn publish_result(&self, result: Result<(), StoreError>) {
        *lock_mutex(&self.result) = Some(result);
        self.result_ready.notify_all();
    }

    pub(super) fn wait_for_result(&self) -> Result<(), StoreError> {
        let mut slot = lock_mutex(&self.result);
        loop {
            match &*slot {
                Some(result) => return result.clone(),
                None => slot = self.result_ready.wait(slot).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// The open group of units.
struct OpenGroup {
    result: Arc<GroupResult>,
    units: usize,
    opened_at: Instant,
    queued: QueuedMessages,
}

pub(super) struct Writer {
    conn: SqliteConnection,
    group: Option<OpenGroup>,
    /// The last `PRAGMA temp_store` that was executed: savepoints keep their undo pages in memory, or in a file for a
    /// large unit.
    temp_store_pragma: &'static str,
    notifiers: Notifiers,
    checkpoint_request: CheckpointRequest,
}

/// How one unit ended, before its group was committed.
pub(super) enum UnitEnd {
    /// The savepoint of the unit was released or rolled back; the group continues.
    Finished(Result<(), StoreError>),
    /// The unit panicked and was rolled back; the group continues.
    Panicked(Box<dyn std::any::Any + Send>),
    /// The savepoint of the unit is lost, and with it the group.
    GroupLost(StoreError),
}

impl Writer {
    pub(super) fn new(conn: SqliteConnection, notifiers: Notifiers) -> Self {
        Self {
            conn,
            group: None,
            temp_store_pragma: "",
            notifiers,
            checkpoint_request: CheckpointRequest::default(),
        }
    }

    /// Leaves checkpoints to another thread, except those that `request` asks for.
    pub(super) fn delegate_checkpoints(&mut self, request: CheckpointRequest) -> Result<(), StoreError> {
        self.checkpoint_request = request;
        self.execute_sql("PRAGMA wal_autocheckpoint = 0")
    }

    pub(super) fn execute_sql(&mut self, sql: &str) -> Result<(), StoreError> {
        self.conn.batch_execute(sql).map_err(|e| classify_error(&e))
    }

    /// Joins the open group, or opens one. The undo pages of a large unit are stored in a file instead of in
    /// memory.
    pub(super) fn join_group(&mut self, is_large: bool) -> Result<Arc<GroupResult>, StoreError> {
        if let Some(group) = &mut self.group {
            group.units += 1;
            return Ok(Arc::clone(&group.result));
        }
        let pragma = if is_large { "PRAGMA temp_store = FILE" } else { "PRAGMA temp_store = MEMORY" };
        if self.temp_store_pragma != pragma {
            self.execute_sql(pragma)?;
            self.temp_store_pragma = pragma;
        }
        failpoint("sqlite.begin")?;
        self.execute_sql("BEGIN IMMEDIATE")?;
        let result = Arc::new(GroupResult::default());
        self.group = Some(OpenGroup {
            result: Arc::clone(&result),
            units: 1,
            opened_at: Instant::now(),
            queued: QueuedMessages::default(),
        });
        Ok(result)
    }

    pub(super) fn run_unit(
        &mut self,
        limits: &mut UnitLimits,
        work: &mut dyn FnMut(&mut dyn Tx) -> Verdict,
    ) -> UnitEnd {
        // The first unit of a group needs no savepoint, which would copy each page that it changes.
        let is_first = self.group.as_ref().is_none_or(|group| group.units <= 1);
        if !is_first && let Err(e) = self.set_savepoint() {
            return UnitEnd::GroupLost(classify_error(&e));
        }
        let mut unit = Unit::new(&mut self.conn, limits);
        let verdict = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
        let keep = matches!(verdict, Ok(Verdict::Commit)) && unit.ensure_active().is_ok();
        let (failure, queued) = unit.into_outcome();
        if let Some(group) = self.group.as_mut().filter(|_| keep) {
            group.queued |= queued;
        }
        let end = match (keep, is_first) {
            (true, true) => Ok(()),
            (true, false) => self.release_savepoint().map_err(|e| classify_error(&e)),
            (false, true) => self.roll_back_unit("ROLLBACK; BEGIN IMMEDIATE"),
            (false, false) => self.roll_back_unit("ROLLBACK TO unit; RELEASE unit"),
        };
        match (end, verdict) {
            // A full disk rolls back the whole transaction, and the savepoint with it. Then the failure of the unit is
            // the cause, and that of its rollback a consequence.
            (Err(e), _) => UnitEnd::GroupLost(match failure {
                Some(cause @ StoreError::Unavailable(_)) => cause,
                _ => e,
            }),
            (Ok(()), Err(panic)) => UnitEnd::Panicked(panic),
            (Ok(()), Ok(_)) => UnitEnd::Finished(failure.map_or(Ok(()), Err)),
        }
    }

    fn set_savepoint(&mut self) -> QueryResult<()> {
        failpoint("sqlite.savepoint")?;
        (Savepoint {}).execute(&mut self.conn).map(drop)
    }

    fn release_savepoint(&mut self) -> QueryResult<()> {
        failpoint("sqlite.release")?;
        (Release {}).execute(&mut self.conn).map(drop)
    }

    fn roll_back_unit(&mut self, sql: &str) -> Result<(), StoreError> {
        failpoint("sqlite.rollback")?;
        self.execute_sql(if is_mutant("commit_aborted") { "SELECT 1" } else { sql })
    }

    fn commit_transaction(&mut self) -> Result<(), StoreError> {
        failpoint("sqlite.commit")?;
        let sql = if is_mutant("lose_commit") { "ROLLBACK" } else { "COMMIT" };
        let committed = self.conn.batch_execute(sql);
        let acknowledged = committed.and_then(|()| failpoint("sqlite.committed").map_err(Into::into));
        acknowledged.map_err(|e| classify_commit_error(&e))
    }

    pub(super) fn commit_group(&mut self) {
        let Some(group) = self.group.take() else { return };
        let commits = self.notifiers.commits.clone();
        let commit = || commits.run(|| self.commit_transaction());
        let result = catch_unwind(AssertUnwindSafe(commit)).unwrap_or_else(|_panic| {
            Err(StoreError::OutcomeUnknown("the commit panicked".to_owned())) // the other units of the group wait for a result
        });
        if result.is_err() {
            self.execute_sql("ROLLBACK").unwrap_or_default(); // fails if the failed commit has already rolled back
        }
        let committed = result.is_ok();
        group.result.publish_result(result.map_err(as_unavailable));
        if committed {
            group.queued.notify_senders(&self.notifiers);
            if self.checkpoint_request.take_request() {
                self.execute_sql(CHECKPOINT).unwrap_or_default(); // the next checkpoint compensates for one that fails
            }
        }
    }

    pub(super) fn abandon_group(&mut self, cause: &StoreError) {
        let Some(group) = self.group.take() else { return };
        self.execute_sql("ROLLBACK").unwrap_or_default(); // fails if no transaction is open any more
        group.result.publish_result(Err(as_unavailable(cause.clone())));
    }

    pub(super) fn has_one_unit(&self) -> bool {
        self.group.as_ref().is_some_and(|group| group.units == 1)
    }

    pub(super) fn is_full(&self) -> bool {
        self.group
            .as_ref()
            .is_some_and(|group| group.units >= UNITS_MAX || group.opened_at.elapsed() >= GROUP_DURATION_MAX)
    }
}

/// The error for a group that failed: none of its units is the cause.
fn as_unavailable(cause: StoreError) -> StoreError {
    match cause {
        StoreError::Unavailable(_)
        | StoreError::Busy
        | StoreError::WouldBlock
        | StoreError::DeadlineExceeded
        | StoreError::CompanyHandedOver
        | StoreError::OutcomeUnknown(_) => cause,
        StoreError::Corrupt { .. } | StoreError::Broken(_) => StoreError::Unavailable(cause.to_string()),
    }
}
