//! Sealing: a background job chains committed journal entries and audit entries by their hashes (an append-only hash
//! chain), so that requests do not wait for it.

use crate::ports::{LedgerEnd, Pacer, Seal, Store, StoreError, StoreExt, Timestamp};

/// The outcome of [`seal_until`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SealOutcome {
    /// Everything before the end is sealed. Contains the latest seal, or `None` in a database without journal entries
    /// and audit entries.
    Complete(Option<Seal>),
    /// Only the entries before a transaction in progress or an unfinished distribution are sealed. Try again when it
    /// has ended.
    Partial,
}

/// What a step of sealing did.
enum Step {
    /// Wrote a seal. The last step of several covers fewer entries than it could.
    Sealed { is_last: bool },
    /// Another process wrote the same seal first.
    LostRace,
    /// There was nothing to seal.
    Idle,
}

/// Seals every entry before `end`, and some later ones, in steps of about `pacer.rows_max()` journal entries and as
/// many audit entries. Entries that are added meanwhile do not prolong this.
///
/// # Errors
///
/// If the store fails.
pub fn seal_until(
    store: &dyn Store,
    end: LedgerEnd,
    now: Timestamp,
    pacer: &mut dyn Pacer,
) -> Result<SealOutcome, StoreError> {
    loop {
        let step = seal_step(store, now, pacer)?;
        let complete = store.read_snapshot(|reads| {
            if reads.has_unsealed_rows_before(end)? { Ok(None) } else { reads.last_seal().map(Some) }
        })?;
        match (complete, step) {
            (Some(latest), _) => return Ok(SealOutcome::Complete(latest)),
            (None, Step::Sealed { is_last: false } | Step::LostRace) => {}
            (None, Step::Sealed { is_last: true } | Step::Idle) => return Ok(SealOutcome::Partial),
        }
    }
}

/// Writes the next seal. The entries of one transaction are never split.
fn seal_step(store: &dyn Store, now: Timestamp, pacer: &mut dyn Pacer) -> Result<Step, StoreError> {
    let rows_max = pacer.rows_max();
    let Some(next) = store.read_snapshot(|reads| reads.next_seal(now, rows_max))? else {
        return Ok(Step::Idle);
    };
    pacer.begin_step(); // the step begins here, because only writing delays other writers
    let is_written = store.transaction(|tx| tx.insert_seal(&next))?;
    pacer.end_step();
    let is_last = next.journal_entries.count < rows_max && next.audit_entries.count < rows_max;
    Ok(if is_written { Step::Sealed { is_last } } else { Step::LostRace })
}
