//! Every invariant of the ledger, checked where the data is.

use std::time::Duration;

use super::{CompanyDay, EventBodies, ServiceHour, StoreError, Timestamp};
use crate::model::{Findings, Part};
use crate::values::{CompanyId, OccasionId};

/// The head of the chain of seals: a digest of everything that was sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// Its number, from 1 on.
    pub sequence: i64,
    /// The digest, which holds that of the seal before.
    pub head: [u8; 32],
    /// When it was made.
    pub created_at: Timestamp,
}

/// The options of an audit, and the surroundings that it depends on.
#[derive(Clone, Copy)]
pub struct Examination<'a> {
    /// The head of a seal: if no seal has it, something that was sealed before was changed or removed.
    pub head: Option<[u8; 32]>,
    /// Reads the stored bodies of events.
    pub bodies: &'a dyn EventBodies,
    /// No note of the past may be later.
    pub now: Timestamp,
    /// No event waits longer for its next attempt.
    pub longest_wait: Duration,
}

/// Checking the whole database, read-only.
pub trait Audit {
    /// Checks one part of the invariants.
    fn audit(&mut self, part: Part, asked: &Examination<'_>) -> Result<Findings, StoreError>;

    /// How many companies have accounts that do not sum to zero: the one invariant that is watched all the time.
    fn unbalanced_companies(&mut self) -> Result<i64, StoreError>;

    fn last_seal(&mut self) -> Result<Option<Seal>, StoreError>;

    /// Whether anything is committed that no seal holds.
    fn has_unsealed(&mut self) -> Result<bool, StoreError>;

    /// Computes the next seal over the committed rows that no later commit can precede: about `rows_max` rows of each
    /// table, and never a part of a transaction; `None` if nothing is new.
    fn next_seal(&mut self, now: Timestamp, rows_max: i64) -> Result<Option<PendingSeal>, StoreError>;
}

/// The part of a table that a seal covers: it begins where the seal before ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Every row before this position is covered by this seal or an earlier one.
    pub before: i64,
    /// Rows that this seal covers.
    pub count: i64,
}

/// A seal that is not written yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingSeal {
    /// What it will be.
    pub seal: Seal,
    /// The journal up to its end.
    pub causes: Stretch,
    /// The audit log up to its end.
    pub entries: Stretch,
    /// The events of these journal entries.
    pub events: i64,
    /// A digest of their ids and bodies. Events are deleted when their retention ends, so the chain holds this
    /// digest in their place.
    pub events_digest: [u8; 32],
    /// What it adds to the figures.
    pub counted: Counted,
}

/// What a stretch of the journal adds to the figures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    pub hours: Vec<ServiceHour>,
    pub companies: Vec<(CompanyId, CompanyDay)>,
    /// With the day, and how many recognitions of how many points.
    pub occasions: Vec<(CompanyId, i32, OccasionId, i64, i64)>,
}

/// Writing seals.
pub trait Seals: Audit {
    /// Writes a seal; `false` where another process has written one of its number.
    fn insert_seal(&mut self, seal: &PendingSeal) -> Result<bool, StoreError>;
}
