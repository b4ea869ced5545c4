//! Journal entries.

use super::StoreError;
use crate::model::{JournalEntry, Redemption};
use crate::values::RedemptionId;

pub trait ReadJournalEntries {
    fn find_redemption(&mut self, id: RedemptionId) -> Result<Option<Redemption>, StoreError>;
}

/// Writes journal entries.
pub trait JournalEntries: ReadJournalEntries {
    /// Records a journal entry. Fails if it already exists: a redemption is refunded once, a user is deleted
    /// once, and a date of a schedule is paid once.
    fn record_journal_entry(&mut self, entry: &JournalEntry) -> Result<(), StoreError>;
}
