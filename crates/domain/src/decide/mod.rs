//! Load, decide, write: how commands that move points are executed.
//!
//! A command is plain data. It names the facts that it needs. Once they are loaded, it is decided in memory:
//! the decision moves points in the [`AccountBook`] and adds everything else to [`Changes`]. A
//! [`CommandBatch`] loads, decides and writes any number of commands in one transaction; [`execute_command`]
//! does so for a single command.

mod batch;

pub(crate) use batch::decide_command;
pub use batch::{CommandBatch, execute_command};

use crate::ledger::{AccountBook, Changes, Facts, LedgerError, Needs};
use crate::ports::{Context, StoreError};
use crate::values::ProviderId;

/// A command that moves points.
pub trait Decide {
    /// The result of the command.
    type Done;
    /// Why the command is refused, or failed.
    type Refusal: From<StoreError>;

    /// The needs that follow from the command alone.
    fn initial_needs(&self) -> Needs;

    /// The needs that follow from the facts. They are loaded only if the first decision finds something
    /// missing.
    ///
    /// # Errors
    ///
    /// If the [`initial_needs`](Self::initial_needs) are not loaded.
    fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError>;

    /// The number of users or objects that the command changes. A command that exceeds the limit for shared batches
    /// gets its own batch and commit, and waits only briefly for locks.
    fn affected_count(&self) -> usize {
        1
    }

    /// Decides the command on the loaded facts. After an error the caller rolls back the book and drops the
    /// changes.
    ///
    /// # Errors
    ///
    /// The refusal; or [`DecideError::NotLoaded`] if the decision depends on more than is loaded.
    fn decide(&self, state: &mut DecisionState<'_>) -> Result<Self::Done, DecideError<Self::Refusal>>;
}

/// The facts for a decision, and the book and the changes to which the decision adds.
pub struct DecisionState<'a> {
    /// The provider for which the command acts.
    pub scope: ProviderId,
    pub facts: &'a Facts,
    pub book: &'a mut AccountBook,
    pub changes: &'a mut Changes,
    pub context: &'a Context<'a>,
}

/// Why a command was not decided.
#[derive(Debug, Clone)]
pub enum DecideError<E> {
    /// Something that the decision depends on is not loaded.
    NotLoaded(LedgerError),
    /// The command is refused, or failed.
    Refused(E),
}

impl<E> DecideError<E> {
    /// Converts the refusal.
    pub fn map_refusal<F: From<E>>(self) -> DecideError<F> {
        match self {
            Self::NotLoaded(missing) => DecideError::NotLoaded(missing),
            Self::Refused(refusal) => DecideError::Refused(refusal.into()),
        }
    }
}

impl<E: From<StoreError>> From<LedgerError> for DecideError<E> {
    fn from(cause: LedgerError) -> Self {
        match cause {
            LedgerError::CompanyHandedOver => Self::Refused(StoreError::CompanyHandedOver.into()),
            LedgerError::Broken(rule) => Self::Refused(StoreError::Broken(rule).into()),
            LedgerError::AccountNotLoaded(_) | LedgerError::FactNotLoaded(_) => Self::NotLoaded(cause),
        }
    }
}
