//! Starts and ends transactions.

use std::time::{Duration, Instant};

use diesel::PgConnection;
use diesel::connection::SimpleConnection as _;
use guerdon_domain::ports::{Deadlines, StoreError};

use super::limits::UnitLimits;
use super::{LOG_EMPTY_MESSAGE, classify_error};
use crate::failpoint::{failpoint, is_mutant};
use crate::pool::{self, Pool};
use crate::write_form::WriteForm;

pub(super) type PooledConnection = pool::PoolGuard<PgConnection>;

/// How a unit of work ended.
pub(super) enum UnitOutcome {
    Done,
    Conflicted,
    /// The unit was not committed.
    Failed(StoreError),
    /// The unit may have been committed.
    Unknown(StoreError),
    Panicked(Box<dyn std::any::Any + Send>),
}

/// Takes a connection from the pool, after a wait of at most `wait_max`. It may turn out to be dead.
pub(super) fn take_connection(
    pool: &Pool<PgConnection>,
    limits: &UnitLimits,
    wait_max: Duration,
) -> Result<PooledConnection, StoreError> {
    let wait = limits.wait_time(wait_max)?;
    pool.get_timeout(wait).map_err(|e| StoreError::Unavailable(e.to_string()))
}

/// Takes a connection and starts a transaction. After a server outage every idle connection is dead. Dead
/// connections are detected here, before any work, and dropped. All waits together take at most
/// [`Deadlines::CONNECTION`].
pub(super) fn begin_transaction(
    pool: &Pool<PgConnection>,
    sql: &str,
    limits: &UnitLimits,
) -> Result<PooledConnection, StoreError> {
    let (mut last, wait_end) = (StoreError::Busy, Instant::now() + Deadlines::CONNECTION);
    for _ in 0..=pool.max_size() {
        let mut connection =
            take_connection(pool, limits, wait_end.saturating_duration_since(Instant::now()))?;
        match failpoint("postgres.begin").map_err(Into::into).and_then(|()| connection.begin(sql)) {
            Ok(()) => return Ok(connection),
            Err(e) => last = classify_error(&e),
        }
    }
    Err(last)
}

/// Commits. On Citus, the coordinator assigns the transaction's id but writes no data, so its commit would not wait
/// until the write-ahead log is on disk. After a crash of the coordinator, later transactions could then get smaller
/// ids. With a record in the log, the commit waits.
pub(super) fn commit_transaction(connection: &mut PooledConnection, form: WriteForm) -> UnitOutcome {
    if form.needs_log_record()
        && let Err(cause) = connection.conn.batch_execute(LOG_EMPTY_MESSAGE)
    {
        rollback_transaction(connection);
        return match classify_error(&cause) {
            StoreError::Busy => UnitOutcome::Conflicted,
            failure => UnitOutcome::Failed(failure),
        };
    }
    let committed = failpoint("postgres.commit")
        .map_err(Into::into)
        .and_then(|()| connection.end(if is_mutant("lose_commit") { "ROLLBACK" } else { "COMMIT" }))
        .and_then(|()| failpoint("postgres.committed").map_err(Into::into));
    match committed.map_err(|e| classify_error(&e)) {
        Ok(()) => UnitOutcome::Done,
        Err(StoreError::Busy) => UnitOutcome::Conflicted,
        // The acknowledgement was lost, and the commit may have happened: do not run it again.
        Err(failure) => UnitOutcome::Unknown(StoreError::OutcomeUnknown(failure.to_string())),
    }
}

/// Rolls back. Returns whether the connection can be used again. If not, the server rolls back when it
/// notices that the connection was lost.
pub(super) fn rollback_transaction(connection: &mut PooledConnection) -> bool {
    failpoint("postgres.rollback").is_ok()
        && connection.end(if is_mutant("commit_aborted") { "COMMIT" } else { "ROLLBACK" }).is_ok()
}
