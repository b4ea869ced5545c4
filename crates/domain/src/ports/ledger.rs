//! Load, decide, write: how a transaction moves points.

use super::StoreError;
use crate::ledger::{AccountBook, Changes, Facts, LedgerError, Needs};

/// Loading what decisions need, and writing what they come to, in one transaction.
pub trait LedgerAccess {
    /// Locks and reads what is needed, and adds it to the facts and the book.
    ///
    /// The order is: rows of companies and users that are locked; users; their companies and those named; occasions;
    /// accounts, by kind and then by owner; redemptions and administrators, which are read again each time.
    fn load(&mut self, needs: &Needs, facts: &mut Facts, book: &mut AccountBook) -> Result<(), StoreError>;

    /// Writes what was decided on what this transaction has loaded.
    fn write(&mut self, changes: &Changes, book: &AccountBook) -> Result<(), StoreError>;
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

/// Loads what is needed and decides; writes nothing. A decision that depends on more is made again after a second load of
/// what `further` says: at most two rounds.
///
/// # Errors
///
/// The refusal; or a failure of the store, also if something is missing after the second round.
pub fn decide_only<T: LedgerAccess + ?Sized, D, E: From<StoreError>>(
    tx: &mut T,
    needs: &Needs,
    further: impl FnOnce(&Facts) -> Result<Needs, LedgerError>,
    decide: impl Fn(&Facts, &mut AccountBook, &mut Changes) -> Result<D, Undecided<E>>,
) -> Result<(D, Changes, AccountBook), E> {
    let (mut facts, mut book, mut changes) = <(Facts, AccountBook, Changes)>::default();
    tx.load(needs, &mut facts, &mut book)?;
    let decided = match decide(&facts, &mut book, &mut changes) {
        Err(Undecided::NotLoaded(_)) => {
            book.roll_back();
            changes = Changes::default();
            let further = further(&facts).map_err(StoreError::from)?;
            tx.load(&further, &mut facts, &mut book)?;
            decide(&facts, &mut book, &mut changes)
        }
        decided => decided,
    };
    match decided {
        Ok(done) => Ok((done, changes, book)),
        Err(Undecided::Refused(refusal)) => Err(refusal),
        Err(Undecided::NotLoaded(missing)) => Err(StoreError::from(missing).into()),
    }
}

/// Loads what is needed, decides, and writes the outcome.
///
/// # Errors
///
/// As [`decide_only`].
pub fn carry_out<T: LedgerAccess + ?Sized, D, E: From<StoreError>>(
    tx: &mut T,
    needs: &Needs,
    further: impl FnOnce(&Facts) -> Result<Needs, LedgerError>,
    decide: impl Fn(&Facts, &mut AccountBook, &mut Changes) -> Result<D, Undecided<E>>,
) -> Result<D, E> {
    let (done, changes, book) = decide_only(tx, needs, further, decide)?;
    tx.write(&changes, &book)?;
    Ok(done)
}
