//! A unit of work that reads, concurrently with the writer.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use diesel::prelude::*;
use guerdon_domain::ports::{Consistency, StoreError};

use super::repo::Unit;
use super::{UnitLimits, classify_error};
use crate::failpoint::is_mutant;
use crate::pool::Pool;

/// Runs `work` on one of these readers. Each statement outside a transaction has a separate snapshot.
pub(super) fn read_on(
    readers: &Pool<SqliteConnection>,
    consistency: Consistency,
    work: &mut dyn FnMut(&mut Unit<'_>),
) -> Result<(), StoreError> {
    let mut connection = match consistency {
        Consistency::PerStatementNoWait => readers.try_get().ok_or(StoreError::WouldBlock)?,
        Consistency::Snapshot | Consistency::PerStatement => {
            readers.get().map_err(|e| StoreError::Unavailable(e.to_string()))?
        }
    };
    let is_snapshot = consistency == Consistency::Snapshot && !is_mutant("mix_snapshots");
    if is_snapshot {
        connection.begin("BEGIN").map_err(|e| classify_error(&e))?;
    }
    let mut limits = UnitLimits::new(None);
    let mut unit = Unit::new(&mut connection.conn, &mut limits);
    let done = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
    let (failure, _) = unit.into_outcome();
    let ended = if is_snapshot { connection.end("ROLLBACK").map_err(|e| classify_error(&e)) } else { Ok(()) };
    match done {
        Err(panic) => resume_unwind(panic),
        Ok(()) => failure.map_or(ended, Err),
    }
}
