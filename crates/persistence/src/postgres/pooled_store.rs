//! The store over pools of PostgreSQL connections. Each unit of work runs in one transaction, and runs again
//! if it conflicted with another one, until its deadline.

use std::hash::{BuildHasher as _, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use diesel::prelude::*;
use guerdon_domain::audit::{AuditOptions, AuditPart, Findings};
use guerdon_domain::ports::{
    Consistency, Deadlines, LedgerAccess, Notifiers, ReadTx, Store, StoreCapacity, StoreError, Tx, Verdict,
};
use guerdon_domain::values::checked_cast;

use super::error_classes::is_unique_violation;
use super::limits::UnitLimits;
use super::repo::{Unit, audit_part};
use super::schema_check;
use super::transaction::{
    UnitOutcome, begin_transaction, commit_transaction, rollback_transaction, take_connection,
};
use crate::engine::{AFFECTED_IN_SHARED_BATCH_MAX, Backend, BatchError, Locking};
use crate::failpoint::is_mutant;
use crate::pool::Pool;
use crate::write_form::WriteForm;

/// The number of attempts after which a unit of work fails as busy.
const UNIT_ATTEMPTS_MAX: u32 = 6;

/// The numbers of the service's connections, and the time limit of its requests.
pub(crate) struct StoreLimits {
    pub(crate) writes: u32,
    pub(crate) reads: u32,
    /// The number of connections for background jobs and the operator's pages. If more run at once, the others wait up
    /// to a second for a connection. The health check has a separate connection.
    pub(crate) background: u32,
    pub(crate) time_limit: Duration,
    /// `None` selects the form that the server needs.
    pub(crate) write_form: Option<WriteForm>,
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self { writes: 12, reads: 16, background: 7, time_limit: Deadlines::COMMIT, write_form: None }
    }
}

pub(crate) struct PooledStore {
    writes: Pool<PgConnection>,
    reads: Pool<PgConnection>,
    /// The time limit of a unit; `None` if no client waits for it.
    time_limit: Option<Duration>,
    notifiers: Notifiers,
    write_form: WriteForm,
}

impl PooledStore {
    pub(crate) fn new(
        writes: Pool<PgConnection>,
        reads: Pool<PgConnection>,
        time_limit: Option<Duration>,
        notifiers: Notifiers,
        write_form: WriteForm,
    ) -> Self {
        Self { writes, reads, time_limit, notifiers, write_form }
    }

    fn run_with_retries(
        &self,
        work: &mut dyn FnMut(&mut dyn Tx) -> Verdict,
        mut limits: UnitLimits,
    ) -> Result<(), StoreError> {
        let mut attempts = 0;
        loop {
            let conflict = match self.try_unit(work, &mut limits)? {
                UnitOutcome::Done => return Ok(()),
                UnitOutcome::Conflicted => StoreError::Busy,
                UnitOutcome::Failed(failure) if is_unique_violation(&failure) => failure,
                UnitOutcome::Failed(failure) | UnitOutcome::Unknown(failure) => return Err(failure),
                UnitOutcome::Panicked(panic) => resume_unwind(panic),
            };
            attempts += 1;
            if attempts == UNIT_ATTEMPTS_MAX {
                return Err(conflict);
            }
            sleep_before_retry(attempts - 1);
        }
    }

    fn try_unit(
        &self,
        work: &mut dyn FnMut(&mut dyn Tx) -> Verdict,
        limits: &mut UnitLimits,
    ) -> Result<UnitOutcome, StoreError> {
        let mut connection = begin_transaction(&self.writes, &limits.begin_write(), limits)?;
        let mut unit = Unit::new(&mut connection.conn, limits);
        let verdict = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
        let should_commit = matches!(verdict, Ok(Verdict::Commit)) && unit.ensure_active().is_ok();
        let (failure, queued) = unit.into_outcome();
        if should_commit {
            let commit = || commit_transaction(&mut connection, self.write_form);
            let ended = self.notifiers.commits.run(commit);
            if matches!(ended, UnitOutcome::Done) {
                drop(connection); // the connection is free before the result is reported
                queued.notify_senders(&self.notifiers);
            }
            return Ok(ended);
        }
        let is_over = limits.is_over();
        rollback_transaction(&mut connection);
        Ok(match (verdict, failure) {
            (Err(panic), _) => UnitOutcome::Panicked(panic),
            (Ok(_), Some(StoreError::Busy)) => UnitOutcome::Conflicted,
            // The server probably cancelled the statement, because the unit's time ended while it waited for a lock.
            (Ok(_), Some(StoreError::Unavailable(_))) if is_over => {
                UnitOutcome::Failed(StoreError::DeadlineExceeded)
            }
            (Ok(_), Some(failure)) => UnitOutcome::Failed(failure),
            (Ok(_), None) => UnitOutcome::Done,
        })
    }
}

impl Store for PooledStore {
    fn capacity(&self) -> StoreCapacity {
        let [reads, transactions] = [&self.reads, &self.writes].map(|pool| checked_cast(pool.max_size()));
        StoreCapacity { reads, transactions }
    }

    fn check_schema(&self) -> Result<Vec<String>, StoreError> {
        let mut connection = self.writes.get().map_err(|e| StoreError::Unavailable(e.to_string()))?;
        schema_check::find_schema_differences(&mut connection.conn)
            .map_err(|cause| StoreError::Broken(format!("the schema cannot be verified: {cause}")))
    }

    fn run_transaction(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError> {
        self.run_with_retries(work, UnitLimits::new(self.time_limit, Locking::Wait, self.write_form))
    }

    fn audit_part(&self, part: AuditPart, options: &AuditOptions<'_>) -> Result<Findings, StoreError> {
        audit_part(&|work| self.read_on_unit(Consistency::Snapshot, work), part, options)
    }

    fn run_read(
        &self,
        consistency: Consistency,
        work: &mut dyn FnMut(&mut dyn ReadTx),
    ) -> Result<(), StoreError> {
        self.read_on_unit(consistency, &mut |unit| work(unit))
    }
}

impl PooledStore {
    /// Runs `work` on one connection. With `PerStatement` there is no transaction, and each statement has its own
    /// snapshot. If the connection turns out to be dead, the unit runs again in a transaction on another connection.
    fn read_on_unit(
        &self,
        consistency: Consistency,
        work: &mut dyn FnMut(&mut Unit<'_>),
    ) -> Result<(), StoreError> {
        let mut limits = UnitLimits::new(self.time_limit, Locking::Wait, self.write_form);
        let mut connection = match consistency {
            Consistency::Snapshot if is_mutant("mix_snapshots") => {
                begin_transaction(&self.reads, "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY", &limits)?
            }
            Consistency::Snapshot => {
                begin_transaction(&self.reads, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", &limits)?
            }
            Consistency::PerStatement => take_connection(&self.reads, &limits, Deadlines::CONNECTION)?,
            Consistency::PerStatementNoWait => return Err(StoreError::WouldBlock),
        };
        let mut unit = Unit::new(&mut connection.conn, &mut limits);
        let done = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
        let (failure, _) = unit.into_outcome();
        let is_snapshot = consistency == Consistency::Snapshot;
        let is_usable = (!is_snapshot && failure.is_none()) || rollback_transaction(&mut connection);
        match (done, failure) {
            (Err(panic), _) => resume_unwind(panic),
            (Ok(()), None) => Ok(()),
            (Ok(()), Some(failure)) if is_snapshot || is_usable => Err(failure),
            (Ok(()), Some(_connection_lost)) => {
                drop(connection); // the dead connection leaves the pool
                self.read_on_unit(Consistency::Snapshot, work)
            }
        }
    }
}

impl Backend for PooledStore {
    fn run_transaction(
        &self,
        locking: Locking,
        time_limit: Duration,
        affected_count: usize,
        work: &mut dyn FnMut(&mut dyn LedgerAccess) -> Verdict,
    ) -> Result<(), BatchError> {
        let mut limits = UnitLimits::new(Some(time_limit), locking, self.write_form);
        if affected_count > AFFECTED_IN_SHARED_BATCH_MAX {
            limits.wait_briefly_for_locks();
        }
        // If no transaction can be started, none of the commands is the cause. If this batch's time limit shortened the
        // wait for a connection, others may still get one, so only a full wait counts as `NoConnection`.
        let not_started = |cause| match cause {
            StoreError::Unavailable(_) if time_limit >= Deadlines::CONNECTION => {
                BatchError::NoConnection(cause)
            }
            _ => BatchError::Unavailable(cause),
        };
        match self.try_unit(&mut |tx| work(tx), &mut limits).map_err(not_started)? {
            UnitOutcome::Done => Ok(()),
            UnitOutcome::Conflicted => Err(BatchError::Contended),
            UnitOutcome::Failed(StoreError::DeadlineExceeded) => Err(BatchError::Contended),
            UnitOutcome::Failed(cause) if is_unique_violation(&cause) => Err(BatchError::Duplicate(cause)),
            UnitOutcome::Failed(cause) => Err(BatchError::Failed(cause)),
            UnitOutcome::Unknown(cause) => Err(BatchError::Unavailable(cause)),
            UnitOutcome::Panicked(panic) => resume_unwind(panic),
        }
    }
}

/// Sleeps for some milliseconds, longer with each attempt. The time is random, so that competing units do not
/// collide again.
fn sleep_before_retry(attempts: u32) {
    let pause_max_millis = 4_u64 << attempts.min(5);
    let random = RandomState::new().hash_one(attempts) % pause_max_millis;
    // tidy: waits after a conflict, on a thread of the blocking pool
    std::thread::sleep(Duration::from_millis(1 + random));
}
