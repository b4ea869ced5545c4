//! Loads and writes the data of commands that move points.

use super::StoreError;
use crate::ledger::{AccountBook, Changes, Facts, Needs};

/// Loads what decisions need and writes their results, in one transaction.
pub trait LedgerAccess {
    /// Locks and reads the needed rows, and adds them to the facts and the account book.
    ///
    /// The order is: schedules; locked rows of companies and users; users; the companies of these users and
    /// the companies in the needs, together with the claims of idempotency keys; occasions; records of keys;
    /// distributions; accounts, by kind and then by owner; redemptions and administrators, which are read
    /// again on each load.
    fn load_facts(
        &mut self,
        needs: &Needs,
        facts: &mut Facts,
        book: &mut AccountBook,
    ) -> Result<(), StoreError>;

    /// Writes the decisions on what this transaction has loaded.
    fn write_changes(&mut self, changes: &Changes, book: &AccountBook) -> Result<(), StoreError>;
}
