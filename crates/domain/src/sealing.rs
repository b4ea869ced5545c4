//! Sealing: a background job chains committed journal entries and audit entries by their hashes (an append-only hash
//! chain), so that requests do not wait for it.

use crate::ports::{Pacer, Seal, Store, StoreError, StoreExt, Timestamp};

/// The outcome of [`seal_committed`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SealOutcome {
    /// Everything that is committed is sealed. Contains the latest seal, or `None` in a database without journal
    /// entries and audit entries.
    Complete(Option<Seal>),
    /// Only the entries before a transaction in progress or an unfinished distribution are sealed. Try again when it
    /// has ended.
    Partial,
}

/// Seals the next committed entries: about `pacer.rows_max()` journal entries and as many audit entries. The entries
/// of one transaction are never split. Returns false if there was nothing to seal, or if another process wrote the
/// same seal first.
///
/// # Errors
///
/// If the store fails.
pub fn seal_next(store: &dyn Store, now: Timestamp, pacer: &mut dyn Pacer) -> Result<bool, StoreError> {
    let rows_max = pacer.rows_max();
    let Some(next) = store.read_snapshot(|reads| reads.next_seal(now, rows_max))? else { return Ok(false) };
    pacer.begin_step(); // the step begins here, because only writing delays other writers
    let is_written = store.transaction(|tx| tx.insert_seal(&next))?;
    pacer.end_step();
    Ok(is_written)
}

/// Seals everything that is committed.
///
/// # Errors
///
/// If the store fails.
pub fn seal_committed(
    store: &dyn Store,
    now: Timestamp,
    pacer: &mut dyn Pacer,
) -> Result<SealOutcome, StoreError> {
    while seal_next(store, now, pacer)? {}
    store.read_snapshot(|reads| {
        if reads.has_unsealed_rows()? {
            Ok(SealOutcome::Partial)
        } else {
            reads.last_seal().map(SealOutcome::Complete)
        }
    })
}
