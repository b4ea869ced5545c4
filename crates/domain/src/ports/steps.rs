//! Distributions in several steps: what is still to be done of each.

use super::StoreError;
use crate::model::Cause;
use crate::values::{CauseId, CompanyId, UserId};

/// The next thing to do of a distribution in several steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Give to these.
    Give {
        /// The distribution.
        cause: Cause,
        /// The leg of the first of them; each of the others has the next.
        first_leg: u32,
        users: Vec<UserId>,
    },
    /// Everybody had a turn: return what could not be given.
    GiveBack {
        /// The distribution.
        cause: Cause,
        /// For how many receivers.
        not_given: u32,
    },
}

/// The distributions in several steps that are not finished.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InTransit {
    /// Their journal entries, oldest first, and the companies that pay.
    pub distributions: Vec<(CauseId, Option<CompanyId>)>,
    /// The points that their companies have in transit, each company's at its current rate.
    pub points: i64,
}

/// Choosing between one transaction and several.
pub trait ReadSteps {
    /// Whether one long transaction keeps everybody else waiting, so that long work is better done in several.
    fn blocks_others(&self) -> bool;

    /// The distributions that are not finished, and the points that they hold.
    fn in_transit(&mut self) -> Result<InTransit, StoreError>;
}

/// Keeping what is still to be done.
pub trait Steps: ReadSteps {
    /// Notes to whom a distribution is to give, so many a step; its legs count from 1 in the order of the receivers.
    fn begin_steps(
        &mut self,
        cause: CauseId,
        receivers: &[UserId],
        each_step: usize,
    ) -> Result<(), StoreError>;

    /// The next step of a distribution, which this transaction then holds; `None` if it is finished.
    fn next_step(&mut self, cause: CauseId) -> Result<Option<Step>, StoreError>;

    /// Strikes a step of giving off the list; so many of its receivers could not be given to.
    fn end_step(&mut self, cause: CauseId, first_leg: u32, not_given: u32) -> Result<(), StoreError>;

    /// Strikes the whole distribution off the list.
    fn end_steps(&mut self, cause: CauseId) -> Result<(), StoreError>;
}
