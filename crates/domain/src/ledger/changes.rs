//! What a decision writes beside the accounts and the transfers.

use crate::model::{Cause, IdempotencyKey, IdempotencyRecord, NewEvent, NewMail, Recognition};
use crate::values::{CauseId, Timestamp, UserId};

/// What a decision writes beside the accounts and the transfers, which are in the [`AccountBook`](super::AccountBook).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// The journal entries that explain everything else.
    pub causes: Vec<Cause>,
    /// Recognitions, each with its cause and its place among the recognitions of that cause, from 1 on.
    pub recognitions: Vec<(CauseId, i32, Recognition)>,
    pub events: Vec<NewEvent>,
    pub mails: Vec<NewMail>,
    /// Users to be marked deleted, and when.
    pub deleted_users: Vec<(UserId, Timestamp)>,
    /// The responses kept for repeats.
    pub records: Vec<IdempotencyRecord>,
    /// The keys among them whose expired records are deleted.
    pub replaced_records: Vec<IdempotencyKey>,
}

/// How much there is of each kind of change.
#[derive(Debug, Clone, Copy)]
pub struct ChangesMark([usize; 7]);

impl Changes {
    /// Whether nothing is to be written.
    pub fn is_empty(&self) -> bool {
        self.causes.is_empty() && self.records.is_empty()
    }

    /// The present extent, to [truncate](Self::truncate) to.
    pub fn mark(&self) -> ChangesMark {
        ChangesMark([
            self.causes.len(),
            self.recognitions.len(),
            self.events.len(),
            self.mails.len(),
            self.deleted_users.len(),
            self.records.len(),
            self.replaced_records.len(),
        ])
    }

    /// Drops everything that was added since the mark.
    pub fn truncate(&mut self, ChangesMark(mark): ChangesMark) {
        let [causes, recognitions, events, mails, deleted_users, records, replaced_records] = mark;
        self.causes.truncate(causes);
        self.recognitions.truncate(recognitions);
        self.events.truncate(events);
        self.mails.truncate(mails);
        self.deleted_users.truncate(deleted_users);
        self.records.truncate(records);
        self.replaced_records.truncate(replaced_records);
    }
}
