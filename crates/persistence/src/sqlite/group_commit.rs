//! The store over one SQLite writer. Concurrent units of work share one commit, and with it one fsync.
//!
//! A mutex holds the writer and its open group. Each caller takes the mutex and runs its own unit on its own
//! thread, in a savepoint if it is not the first of the group. A caller commits the group if no other caller is
//! waiting, or if its unit is the last of the group, and reports the result to all units in it. So a single
//! caller waits for no other, and callers that queue for the disk share one fsync. Refused units wait for the
//! commit as well, because a refusal may depend on what an earlier unit of the group wrote.
//!
//! A large unit has a separate commit. Long transactions take turns, and so do large commands, which the engine's only
//! worker executes: a small unit waits for at most one of each.
//!
//! The engine's worker runs a batch of commands as one unit, under the same rules.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use diesel::SqliteConnection;
use guerdon_domain::audit::{AuditOptions, AuditPart, Findings};
use guerdon_domain::ports::{
    Consistency, LedgerAccess, Notifiers, ReadTx, Store, StoreCapacity, StoreError, Tx, Verdict,
};
use guerdon_domain::values::checked_cast;
use parking_lot::{Mutex, MutexGuard};

use super::UnitLimits;
use super::checkpoint_thread::CheckpointThread;
use super::read_unit::read_on;
use super::repo::audit_part;
use super::schema_check;
use super::writer::{UNITS_MAX, UnitEnd, Writer};
use crate::engine::{Backend, BatchError, Locking};
use crate::failpoint::{is_mutant, pass_failpoint};
use crate::pool::Pool;
use crate::pool::wait_metrics::record_wait;

/// A command that affects more objects than this is committed separately, so that others do not wait for it.
const AFFECTED_IN_SHARED_COMMIT_MAX: usize = 100;

/// The message for a panic outside the work of a unit, after which the savepoint of the unit may be lost.
const PANIC_MESSAGE: &str = "a unit of work panicked";

/// The one writer, and the lock that excludes other processes.
pub(crate) struct GroupCommit {
    /// Fair, unlike std's mutex: a thread that locks it again and again does not keep the others waiting.
    writer: Mutex<Writer>,
    waiting: AtomicUsize,
    /// Held by the long transaction that is in progress, if any.
    long_transaction_lock: Mutex<()>,
    checkpoint_thread: Option<CheckpointThread>,
    _lock: File,
}

impl GroupCommit {
    pub(crate) fn new(writer: SqliteConnection, lock: File, notifiers: Notifiers) -> Self {
        Self {
            writer: Mutex::new(Writer::new(writer, notifiers)),
            waiting: AtomicUsize::new(0),
            long_transaction_lock: Mutex::default(),
            checkpoint_thread: None,
            _lock: lock,
        }
    }

    /// For the service: another thread makes the checkpoints.
    pub(crate) fn with_checkpoints(mut self, checkpoints: CheckpointThread) -> Result<Self, StoreError> {
        self.writer.lock().delegate_checkpoints(checkpoints.request_flag())?;
        self.checkpoint_thread = Some(checkpoints);
        Ok(self)
    }

    fn lock_writer(&self) -> MutexGuard<'_, Writer> {
        let since = Instant::now();
        let waiting = WaitingUnit::add_to(&self.waiting);
        pass_failpoint("sqlite.wait");
        let writer = self.writer.lock();
        drop(waiting);
        record_wait(since.elapsed());
        writer
    }

    fn run_with_limits(
        &self,
        mut limits: UnitLimits,
        is_large: bool,
        work: &mut dyn FnMut(&mut dyn Tx) -> Verdict,
    ) -> Result<(), StoreError> {
        let mut writer = self.lock_writer();
        if is_large {
            writer.commit_group(); // the small units of the group do not wait for this one
        }
        let group_result = writer.join_group(is_large)?;
        let ended = catch_unwind(AssertUnwindSafe(|| writer.run_unit(&mut limits, work)));
        let ended =
            ended.unwrap_or_else(|_panic| UnitEnd::GroupLost(StoreError::Broken(PANIC_MESSAGE.to_owned())));
        if is_mutant("respond_before_commit") && writer.has_one_unit() {
            return Ok(()); // the next unit commits this one; no other unit waits for it
        }
        if let UnitEnd::GroupLost(cause) = &ended {
            writer.abandon_group(cause);
        } else if self.waiting.load(Ordering::SeqCst) == 0 || is_large || writer.is_full() {
            writer.commit_group();
        }
        drop(writer);
        let committed = group_result.wait_for_result();
        match ended {
            UnitEnd::Panicked(panic) => resume_unwind(panic),
            UnitEnd::Finished(result) => committed.and(result),
            UnitEnd::GroupLost(cause) => Err(cause),
        }
    }
}

/// Counts as a waiting unit until it is dropped.
struct WaitingUnit<'a>(&'a AtomicUsize);

impl<'a> WaitingUnit<'a> {
    fn add_to(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::SeqCst);
        Self(waiting)
    }
}

impl Drop for WaitingUnit<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The group commit together with readers. Requests and background jobs have separate readers, so that their
/// reads do not wait for each other.
pub(crate) struct SqliteStore {
    /// Closed before the group, whose lock excludes other processes.
    readers: Pool<SqliteConnection>,
    group: Arc<GroupCommit>,
    /// The time limit of a unit; `None` if no client waits for it.
    time_limit: Option<Duration>,
}

impl SqliteStore {
    pub(crate) fn new(
        group: &Arc<GroupCommit>,
        readers: Pool<SqliteConnection>,
        time_limit: Option<Duration>,
    ) -> Self {
        Self { readers, group: Arc::clone(group), time_limit }
    }
}

impl Store for SqliteStore {
    fn capacity(&self) -> StoreCapacity {
        StoreCapacity { reads: checked_cast(self.readers.max_size()), transactions: UNITS_MAX }
    }

    fn check_schema(&self) -> Result<Vec<String>, StoreError> {
        let mut connection = self.readers.get().map_err(|e| StoreError::Unavailable(e.to_string()))?;
        schema_check::find_schema_differences(&mut connection.conn)
            .map_err(|cause| StoreError::Broken(format!("the schema cannot be verified: {cause}")))
    }

    fn run_transaction(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError> {
        self.group.run_with_limits(UnitLimits::new(self.time_limit), false, work)
    }

    fn run_long_transaction(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError> {
        let limits = UnitLimits::new(self.time_limit); // includes the wait for other long transactions
        let _turn = self.group.long_transaction_lock.lock();
        self.group.run_with_limits(limits, true, work)
    }

    fn audit_part(&self, part: AuditPart, options: &AuditOptions<'_>) -> Result<Findings, StoreError> {
        audit_part(&|work| read_on(&self.readers, Consistency::Snapshot, work), part, options)
    }

    fn run_read(
        &self,
        consistency: Consistency,
        work: &mut dyn FnMut(&mut dyn ReadTx),
    ) -> Result<(), StoreError> {
        read_on(&self.readers, consistency, &mut |unit| work(unit))
    }
}

impl Drop for GroupCommit {
    fn drop(&mut self) {
        drop(self.checkpoint_thread.take());
        let mut writer = self.writer.lock();
        if let Err(e) = writer.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)") {
            log::warn!(
                cause:% = e;
                "closed the database without a checkpoint: keep its -wal file, which the next start needs"
            );
        }
    }
}

impl Backend for Arc<GroupCommit> {
    fn run_transaction(
        &self,
        _locking: Locking,
        time_limit: Duration,
        affected_count: usize,
        work: &mut dyn FnMut(&mut dyn LedgerAccess) -> Verdict,
    ) -> Result<(), BatchError> {
        let is_large = affected_count > AFFECTED_IN_SHARED_COMMIT_MAX;
        self.run_with_limits(UnitLimits::new(Some(time_limit)), is_large, &mut |tx| work(tx)).map_err(
            |cause| match cause {
                StoreError::Busy | StoreError::WouldBlock | StoreError::DeadlineExceeded => {
                    BatchError::Contended
                }
                StoreError::Unavailable(_) | StoreError::OutcomeUnknown(_) => BatchError::Unavailable(cause),
                StoreError::CompanyHandedOver | StoreError::Corrupt { .. } | StoreError::Broken(_) => {
                    BatchError::Failed(cause)
                }
            },
        )
    }
}
