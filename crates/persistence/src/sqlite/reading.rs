//! A unit of work that reads, concurrently with the writer.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use diesel::prelude::*;
use guerdon_domain::ports::{Consistency, Reads, StoreError};

use super::repo::Unit;
use super::{UnitLimits, classify};
use crate::pool::Pool;

/// Runs `work` on one of these readers. Each statement outside a transaction has a separate snapshot.
pub(super) fn read_on(
    readers: &Pool<SqliteConnection>,
    consistency: Consistency,
    work: &mut dyn FnMut(&mut dyn Reads),
) -> Result<(), StoreError> {
    let mut link = match consistency {
        Consistency::PerStatementNoWait => readers.try_get().ok_or(StoreError::WouldBlock)?,
        Consistency::Snapshot | Consistency::PerStatement => {
            readers.get().map_err(|e| StoreError::Unavailable(e.to_string()))?
        }
    };
    let is_snapshot = consistency == Consistency::Snapshot;
    if is_snapshot {
        link.control("BEGIN").map_err(|e| classify(&e))?;
    }
    let mut limits = UnitLimits::new(None);
    let mut unit = Unit::new(&mut link.conn, &mut limits);
    let done = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
    let (fault, _) = unit.end();
    let ended = if is_snapshot { link.control("ROLLBACK").map_err(|e| classify(&e)) } else { Ok(()) };
    match done {
        Err(panic) => resume_unwind(panic),
        Ok(()) => fault.map_or(ended, Err),
    }
}
