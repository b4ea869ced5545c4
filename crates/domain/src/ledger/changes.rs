//! What a decision writes beside the accounts and the transfers.

use crate::model::{Cause, IdempotencyKey, IdempotencyRecord, NewEvent, NewMail, Recognition, Schedule};
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
    pub distributions: Vec<DistributionProgress>,
    /// Schedules with their next date.
    pub schedules: Vec<Schedule>,
    /// The responses kept for repeats.
    pub records: Vec<IdempotencyRecord>,
    /// The keys among them whose expired records are deleted.
    pub replaced_records: Vec<IdempotencyKey>,
}

/// A change to the stored steps of a distribution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DistributionProgress {
    /// The sum is in transit; `each_step` receivers are to be paid at a time. The legs count from 1 in the order of the receivers.
    Begun { cause: CauseId, receivers: Vec<UserId>, each_step: usize },
    /// The step that begins with this leg was carried out; `unpaid` of its receivers could not be paid.
    Paid { cause: CauseId, first_leg: u32, unpaid: u32 },
    /// Every step was carried out.
    Ended { cause: CauseId },
}

impl DistributionProgress {
    pub fn cause(&self) -> CauseId {
        match self {
            Self::Begun { cause, .. } | Self::Paid { cause, .. } | Self::Ended { cause } => *cause,
        }
    }
}

impl Changes {
    /// Whether nothing is to be written.
    pub fn is_empty(&self) -> bool {
        self.causes.is_empty()
            && self.records.is_empty()
            && self.schedules.is_empty()
            && self.distributions.is_empty()
    }

    /// Moves all of another's changes here.
    pub fn append(&mut self, other: &mut Self) {
        self.causes.append(&mut other.causes);
        self.recognitions.append(&mut other.recognitions);
        self.events.append(&mut other.events);
        self.mails.append(&mut other.mails);
        self.deleted_users.append(&mut other.deleted_users);
        self.distributions.append(&mut other.distributions);
        self.schedules.append(&mut other.schedules);
        self.records.append(&mut other.records);
        self.replaced_records.append(&mut other.replaced_records);
    }
}
