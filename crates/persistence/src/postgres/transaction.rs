//! Starts and ends transactions.

use diesel::PgConnection;
use guerdon_domain::ports::{Deadlines, StoreError};

use super::classify;
use super::limits::UnitLimits;
use crate::pool::{self, Pool};

pub(super) type Link = pool::Pooled<PgConnection>;

/// How a unit of work ended.
pub(super) enum UnitEnd {
    Done,
    LostRace,
    /// It was not committed.
    Failed(StoreError),
    /// It may have been committed.
    Unknown(StoreError),
    Panicked(Box<dyn std::any::Any + Send>),
}

/// Takes a connection from the pool. It may turn out to be dead.
pub(super) fn take(pool: &Pool<PgConnection>, limits: &UnitLimits) -> Result<Link, StoreError> {
    let wait = limits.patience(Deadlines::REQUEST.connection)?;
    pool.get_timeout(wait).map_err(|e| StoreError::Unavailable(e.to_string()))
}

/// Takes a connection and starts a transaction. After a server outage every idle connection is dead: they are
/// detected here, before any work, and dropped.
pub(super) fn begin(pool: &Pool<PgConnection>, sql: &str, limits: &UnitLimits) -> Result<Link, StoreError> {
    let mut last = StoreError::Busy;
    for _ in 0..=pool.max_size() {
        let mut link = take(pool, limits)?;
        match link.control(sql) {
            Ok(()) => return Ok(link),
            Err(e) => last = classify(&e),
        }
    }
    Err(last)
}

pub(super) fn commit(link: &mut Link) -> UnitEnd {
    match link.control("COMMIT").map_err(|e| classify(&e)) {
        Ok(()) => UnitEnd::Done,
        Err(StoreError::Busy) => UnitEnd::LostRace,
        // The acknowledgement was lost, and the commit may have happened: do not run it again.
        Err(fault) => UnitEnd::Unknown(StoreError::OutcomeUnknown(fault.to_string())),
    }
}

/// Rolls back. Returns whether the connection can be used again. If not, the server rolls back when it
/// notices that the connection was lost.
pub(super) fn rollback(link: &mut Link) -> bool {
    link.control("ROLLBACK").is_ok()
}
