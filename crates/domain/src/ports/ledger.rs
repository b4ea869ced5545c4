//! Loading and writing for commands that move points.

use super::StoreError;
use crate::ledger::{AccountBook, Changes, Facts, Needs};

/// Loading what decisions need, and writing what they come to, in one transaction.
pub trait LedgerAccess {
    /// Locks and reads what is needed, and adds it to the facts and the book.
    ///
    /// The order is: schedules; rows of companies and users that are locked; users; their companies and those named; occasions;
    /// distributions; accounts, by kind and then by owner; redemptions and administrators, which are read again each time.
    fn load(&mut self, needs: &Needs, facts: &mut Facts, book: &mut AccountBook) -> Result<(), StoreError>;

    /// Writes what was decided on what this transaction has loaded.
    fn write(&mut self, changes: &Changes, book: &AccountBook) -> Result<(), StoreError>;
}
