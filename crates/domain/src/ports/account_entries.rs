//! The history of an account.

use super::StoreError;
use crate::money::{Amount, Points, PointsPerDollar};
use crate::values::{JournalEntryId, Page, Timestamp};
use crate::wallets::{Account, Direction, Reason};

/// One entry of an account's history, which may be a rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountEntry {
    /// The number of the entry in the account's history, starting at 1.
    pub sequence: i64,
    pub journal_entry_id: JournalEntryId,
    pub direction: Direction,
    pub amount: Amount,
    /// The points at the rate of that time.
    pub points: Points,
    /// The rate that converted between points and dollars.
    pub rate: PointsPerDollar,
    pub reason: Reason,
    pub at: Timestamp,
}

pub trait ReadAccountEntries {
    /// The entries of an account with sequence numbers greater than `after`, in ascending order; at most
    /// `limit`.
    fn list_account_entries(
        &mut self,
        account: Account,
        after: i64,
        limit: i64,
    ) -> Result<Vec<AccountEntry>, StoreError>;

    /// A page of an account's transactions, latest first, by the order in which they took effect. Roundings
    /// are not listed.
    fn list_transactions(&mut self, account: Account, page: Page) -> Result<Vec<AccountEntry>, StoreError>;
}
