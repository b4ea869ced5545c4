//! Every invariant of the ledger, checked where the data is.

use super::{CompanyDay, ServiceHour, StoreError, Timestamp};
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

/// Checking the whole database, read-only.
pub trait Audit {
    /// What breaks a part of the invariants. With a head, its absence from the chain of seals is found with the journal.
    fn audit(&mut self, part: Part, head: Option<[u8; 32]>) -> Result<Findings, StoreError>;

    /// How many companies have accounts that do not sum to zero: the one invariant that is watched all the time.
    fn unbalanced_companies(&mut self) -> Result<i64, StoreError>;

    fn last_seal(&mut self) -> Result<Option<Seal>, StoreError>;

    /// Whether anything is committed that no seal holds.
    fn has_unsealed(&mut self) -> Result<bool, StoreError>;

    /// What the next seal would be over what is committed and can no longer be preceded, at most so many causes; none
    /// where there is nothing new.
    fn next_seal(&mut self, now: Timestamp, causes_max: i64) -> Result<Option<PendingSeal>, StoreError>;
}

/// A seal that is not written yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingSeal {
    /// What it will be.
    pub seal: Seal,
    /// Everything before this position of the journal is in it, or in one before.
    pub before: i64,
    pub causes: i64,
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
