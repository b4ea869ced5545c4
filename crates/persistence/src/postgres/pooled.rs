//! The store over pools of PostgreSQL connections. Each unit of work runs in one transaction, and again if it
//! lost a race, until its time is over.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use diesel::prelude::*;
use guerdon_domain::ports::{
    Consistency, Deadlines, LedgerAccess, Reads, Store, StoreError, Tx, Verdict, Wakes,
};

use super::limits::UnitLimits;
use super::repo::Unit;
use super::transaction::{UnitEnd, begin, commit, rollback, take};
use super::{catalog, races};
use crate::engine::{Backend, BatchError, Locking};
use crate::pool::Pool;

/// The numbers of the service's connections, and the time limit of its requests.
pub(crate) struct Limits {
    pub(crate) writes: u32,
    pub(crate) reads: u32,
    /// One for each background job, so that none ever waits for another: the health check, claiming events,
    /// settling them, sending mails, two for metrics, pruning, and due distributions.
    pub(crate) background: u32,
    pub(crate) within: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { writes: 12, reads: 8, background: 8, within: Deadlines::REQUEST.commit }
    }
}

pub(crate) struct Pooled {
    writes: Pool<PgConnection>,
    reads: Pool<PgConnection>,
    /// The time limit of a unit; `None` if no client waits for it.
    within: Option<Duration>,
    wakes: Wakes,
}

impl Pooled {
    /// For requests: many, with a client that waits.
    pub(crate) fn for_requests(
        writes: Pool<PgConnection>,
        reads: Pool<PgConnection>,
        within: Duration,
        wakes: Wakes,
    ) -> Self {
        Self { writes, reads, within: Some(within), wakes }
    }

    /// For batches of commands, each of which has its own time limit.
    pub(crate) fn for_batches(pool: Pool<PgConnection>, wakes: Wakes) -> Self {
        Self { writes: pool.clone(), reads: pool, within: None, wakes }
    }

    /// For background jobs, which share a few connections.
    pub(crate) fn for_others(few: Pool<PgConnection>, wakes: Wakes) -> Self {
        Self { writes: few.clone(), reads: few, within: None, wakes }
    }

    fn run_alone(
        &self,
        work: &mut dyn FnMut(&mut dyn Tx) -> Verdict,
        mut limits: UnitLimits,
    ) -> Result<(), StoreError> {
        let mut tries = 0;
        loop {
            match self.attempt(work, &mut limits)? {
                UnitEnd::Done => return Ok(()),
                UnitEnd::Failed(fault) | UnitEnd::Unknown(fault) => return Err(fault),
                UnitEnd::Panicked(panic) => resume_unwind(panic),
                UnitEnd::LostRace => {
                    tries += 1;
                    if tries == races::TRIES {
                        return Err(StoreError::Busy);
                    }
                    races::pause(tries - 1);
                }
            }
        }
    }

    fn attempt(
        &self,
        work: &mut dyn FnMut(&mut dyn Tx) -> Verdict,
        limits: &mut UnitLimits,
    ) -> Result<UnitEnd, StoreError> {
        let mut link = begin(&self.writes, "BEGIN ISOLATION LEVEL READ COMMITTED", limits)?;
        let mut unit = Unit::new(&mut link.conn, limits);
        let verdict = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
        let is_kept = matches!(verdict, Ok(Verdict::Commit)) && unit.go_on().is_ok();
        let (fault, queued) = unit.end();
        if is_kept {
            let ended = commit(&mut link);
            if matches!(ended, UnitEnd::Done) {
                drop(link); // the connection is free before the result is reported
                queued.tell(&self.wakes);
            }
            return Ok(ended);
        }
        rollback(&mut link);
        Ok(match (verdict, fault) {
            (Err(panic), _) => UnitEnd::Panicked(panic),
            (Ok(_), Some(StoreError::Busy)) => UnitEnd::LostRace,
            (Ok(_), Some(fault)) => UnitEnd::Failed(fault),
            (Ok(_), None) => UnitEnd::Done,
        })
    }
}

impl Store for Pooled {
    fn check_schema(&self) -> Result<Vec<String>, StoreError> {
        let mut link = self.writes.get().map_err(|e| StoreError::Unavailable(e.to_string()))?;
        catalog::check(&mut link.conn)
            .map_err(|cause| StoreError::Broken(format!("the schema cannot be judged: {cause}")))
    }

    fn run(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError> {
        self.run_alone(work, UnitLimits::new(self.within))
    }

    /// With `PerStatement` there is no transaction, and each statement has its own snapshot. If the
    /// connection turns out to be dead, the unit runs again in a transaction on another connection.
    fn read(&self, consistency: Consistency, work: &mut dyn FnMut(&mut dyn Reads)) -> Result<(), StoreError> {
        let mut limits = UnitLimits::new(self.within);
        let mut link = match consistency {
            Consistency::Snapshot => {
                begin(&self.reads, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", &limits)?
            }
            Consistency::PerStatement => take(&self.reads, &limits)?,
            Consistency::PerStatementNoWait => return Err(StoreError::WouldBlock),
        };
        let mut unit = Unit::new(&mut link.conn, &mut limits);
        let done = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
        let (fault, _) = unit.end();
        let is_snapshot = consistency == Consistency::Snapshot;
        let is_usable = (!is_snapshot && fault.is_none()) || rollback(&mut link);
        match (done, fault) {
            (Err(panic), _) => resume_unwind(panic),
            (Ok(()), None) => Ok(()),
            (Ok(()), Some(fault)) if is_snapshot || is_usable => Err(fault),
            (Ok(()), Some(_connection_lost)) => {
                drop(link); // it leaves the pool
                self.read(Consistency::Snapshot, work)
            }
        }
    }
}

impl Backend for Pooled {
    const HAS_LOCKS: bool = true;

    fn transact(
        &self,
        locking: Locking,
        within: Duration,
        _changes_much: bool,
        work: &mut dyn FnMut(&mut dyn LedgerAccess) -> Verdict,
    ) -> Result<(), BatchError> {
        let mut limits = UnitLimits::locking_by(Some(within), locking);
        // If no transaction can be started, none of the commands is the cause.
        match self.attempt(&mut |tx| work(tx), &mut limits).map_err(BatchError::Unavailable)? {
            UnitEnd::Done => Ok(()),
            UnitEnd::LostRace => Err(BatchError::Contended),
            UnitEnd::Failed(StoreError::DeadlineExceeded) => Err(BatchError::Contended),
            UnitEnd::Failed(cause) => Err(BatchError::Failed(cause)),
            UnitEnd::Unknown(cause) => Err(BatchError::Unavailable(cause)),
            UnitEnd::Panicked(panic) => resume_unwind(panic),
        }
    }
}
