//! A unit of work that reads: on a snapshot of its own, beside the writer.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use diesel::prelude::*;
use guerdon_domain::ports::{Reads, StoreError};

use super::repo::Unit;
use super::{Terms, classify};
use crate::pool::{Pool, Pooled};

/// Runs it on one of these readers, if one is free, without a transaction: a statement has a snapshot of its own.
pub(super) fn read_at_once(
    readers: &Pool<SqliteConnection>,
    work: &mut dyn FnMut(&mut dyn Reads),
) -> Option<Result<(), StoreError>> {
    readers.try_get().map(|link| glance(link, work))
}

/// The same, where one may be waited for.
pub(super) fn glance_on(
    readers: &Pool<SqliteConnection>,
    work: &mut dyn FnMut(&mut dyn Reads),
) -> Result<(), StoreError> {
    glance(readers.get().map_err(|e| StoreError::Unavailable(e.to_string()))?, work)
}

fn glance(
    mut link: Pooled<SqliteConnection>,
    work: &mut dyn FnMut(&mut dyn Reads),
) -> Result<(), StoreError> {
    let mut terms = Terms::new(None);
    let mut unit = Unit::new(&mut link.conn, &mut terms);
    let done = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
    let (fault, _) = unit.end();
    match done {
        Err(panic) => resume_unwind(panic),
        Ok(()) => fault.map_or(Ok(()), Err),
    }
}

/// Runs it on one of these readers.
pub(super) fn read_on(
    readers: &Pool<SqliteConnection>,
    work: &mut dyn FnMut(&mut dyn Reads),
) -> Result<(), StoreError> {
    let link = readers.get().map_err(|e| StoreError::Unavailable(e.to_string()))?;
    read(link, work)
}

fn read(mut link: Pooled<SqliteConnection>, work: &mut dyn FnMut(&mut dyn Reads)) -> Result<(), StoreError> {
    link.control("BEGIN").map_err(|e| classify(&e))?;
    let mut terms = Terms::new(None);
    let mut unit = Unit::new(&mut link.conn, &mut terms);
    let done = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
    let (fault, _) = unit.end();
    let ended = link.control("ROLLBACK").map_err(|e| classify(&e));
    match done {
        Err(panic) => resume_unwind(panic),
        Ok(()) => fault.map_or(ended, Err),
    }
}
