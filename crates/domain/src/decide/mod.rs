//! Load, decide, write: how commands that move points are carried out.
//!
//! A command is plain data. It says what it needs to be loaded, and is then decided in memory: the decision moves points in the
//! [`AccountBook`] and adds whatever else is to be written to [`Changes`]. A [`Batch`] loads, decides and writes any number of
//! commands in one transaction; [`carry_out`] does so for one.

mod batch;

pub(crate) use batch::decide_one;
pub use batch::{Batch, carry_out};

use crate::ledger::{AccountBook, Changes, Facts, LedgerError, Needs};
use crate::ports::{Context, StoreError};
use crate::values::ProviderId;

/// A command that moves points.
pub trait Decide {
    /// What it returns when it was carried out.
    type Done;
    /// Why it is refused, or failed.
    type Refusal: From<StoreError>;

    /// What the command alone says that its decision needs.
    fn needs(&self) -> Needs;

    /// What else the decision can need, as far as the facts say. Loaded only if the first decision finds something missing.
    ///
    /// # Errors
    ///
    /// If what [`needs`](Self::needs) says is not loaded.
    fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError>;

    /// The number of people or things that the command changes: a measure of the time that it takes.
    fn size(&self) -> usize {
        1
    }

    /// Decides the command on what is loaded. After an error the caller rolls back the book and drops the changes.
    ///
    /// # Errors
    ///
    /// The refusal; or [`Undecided::NotLoaded`] if the decision depends on more than is loaded.
    fn decide(
        &self,
        scope: ProviderId,
        facts: &Facts,
        book: &mut AccountBook,
        changes: &mut Changes,
        context: &Context<'_>,
    ) -> Result<Self::Done, Undecided<Self::Refusal>>;
}

/// Why a decision was not made.
#[derive(Debug, Clone)]
pub enum Undecided<E> {
    /// Something that it depends on is not loaded.
    NotLoaded(LedgerError),
    /// It is refused, or failed.
    Refused(E),
}

impl<E> Undecided<E> {
    /// The same with another kind of refusal.
    pub fn map<F: From<E>>(self) -> Undecided<F> {
        match self {
            Self::NotLoaded(missing) => Undecided::NotLoaded(missing),
            Self::Refused(refusal) => Undecided::Refused(refusal.into()),
        }
    }
}

impl<E: From<StoreError>> From<LedgerError> for Undecided<E> {
    fn from(cause: LedgerError) -> Self {
        match cause {
            LedgerError::Broken(rule) => Self::Refused(StoreError::Broken(rule).into()),
            LedgerError::AccountNotLoaded(_) | LedgerError::FactNotLoaded(_) => Self::NotLoaded(cause),
        }
    }
}
