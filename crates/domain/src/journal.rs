//! Journal entries: one for each operation that moves points, creates a company, changes its rate or provider, or
//! amends a recognition. Each records who requested the operation. Every transfer belongs to a journal entry, so that
//! `guerdon verify` can recompute the whole ledger from them.

pub use crate::model::{Actor, EntryKind, JournalEntry, Requester, ScheduledDate, SentRecognition};
