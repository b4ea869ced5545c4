//! What a decision writes in addition to the accounts and the transfers.

use crate::model::{
    IdempotencyKey, IdempotencyRecord, JournalEntry, NewEvent, NewNotification, Recognition, Schedule,
};
use crate::values::{CompanyId, JournalEntryId, Timestamp, UserId};

/// What a decision writes in addition to the accounts and the transfers, which are in the
/// [`AccountBook`](super::AccountBook).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// The journal entries that explain all other changes.
    pub journal_entries: Vec<JournalEntry>,
    /// Recognitions, each with its journal entry and its number among the recognitions of that entry,
    /// starting at 1.
    pub recognitions: Vec<(JournalEntryId, i32, Recognition)>,
    pub events: Vec<NewEvent>,
    pub notifications: Vec<NewNotification>,
    /// Users to mark as deleted, and the time of their deletion.
    pub deleted_users: Vec<(UserId, Timestamp)>,
    /// The progress of distributions, each with the id of its journal entry.
    pub distributions: Vec<(JournalEntryId, DistributionProgress)>,
    /// Schedules that were advanced to their next date.
    pub schedules: Vec<Schedule>,
    /// The company of a decision that has no journal entry, because it changes nothing.
    pub unchanged_company: Option<CompanyId>,
    /// The responses stored for retries.
    pub idempotency_records: Vec<IdempotencyRecord>,
    /// The keys of `idempotency_records` under which an expired record is still stored. The expired records must
    /// be deleted first.
    pub expired_keys: Vec<IdempotencyKey>,
}

/// A change to the stored steps of a distribution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DistributionProgress {
    /// The whole price is in transit, and each step pays `receivers_per_step` receivers. The legs count from 1 in the
    /// order of the receivers.
    Started { receivers: Vec<UserId>, receivers_per_step: usize },
    /// The step that starts with this leg was executed; `unpaid` of its receivers could not be paid.
    StepPaid { first_leg: u32, unpaid: u32 },
    /// All steps were executed.
    Finished,
}

impl Changes {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.journal_entries.is_empty()
            && self.idempotency_records.is_empty()
            && self.schedules.is_empty()
            && self.distributions.is_empty()
    }

    /// Moves all changes out of `other` and appends them.
    pub fn append(&mut self, other: &mut Self) {
        self.journal_entries.append(&mut other.journal_entries);
        self.recognitions.append(&mut other.recognitions);
        self.events.append(&mut other.events);
        self.notifications.append(&mut other.notifications);
        self.deleted_users.append(&mut other.deleted_users);
        self.distributions.append(&mut other.distributions);
        self.schedules.append(&mut other.schedules);
        self.idempotency_records.append(&mut other.idempotency_records);
        self.expired_keys.append(&mut other.expired_keys);
    }
}
