//! Distributions in steps that have not ended.

use super::StoreError;
use crate::values::{CompanyId, JournalEntryId, ProviderId};

/// The distributions in steps that have not ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnfinishedDistributions {
    /// The journal entries of the distributions in the order of their ids, oldest first, with the paying companies and
    /// their providers; `None` if the journal lacks the entry.
    pub distributions: Vec<(JournalEntryId, Option<(CompanyId, ProviderId)>)>,
    /// The points that the companies have in transit, converted at each company's current rate.
    pub points: i64,
}

pub trait ReadDistributions {
    /// The distributions that have not ended, and the points that they hold.
    fn unfinished_distributions(&mut self) -> Result<UnfinishedDistributions, StoreError>;
}
