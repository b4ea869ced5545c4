//! Distributions in several steps that are not finished.

use super::StoreError;
use crate::values::{CauseId, CompanyId, ProviderId};

/// The distributions in several steps that are not finished.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InTransit {
    /// Their journal entries, oldest first, with the companies that pay and their providers; none if the journal lacks the
    /// entry.
    pub distributions: Vec<(CauseId, Option<(CompanyId, ProviderId)>)>,
    /// The points that their companies have in transit, each company's at its current rate.
    pub points: i64,
}

pub trait ReadSteps {
    /// The distributions that are not finished, and the points that they hold.
    fn in_transit(&mut self) -> Result<InTransit, StoreError>;
}
