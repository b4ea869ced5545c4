//! An account's history.

use super::StoreError;
use crate::money::{Amount, Points, PointsPerDollar};
use crate::values::{CauseId, Page, Timestamp};
use crate::wallets::{Account, Direction, Reason, Transaction};

/// One movement of an account as the ledger has it, a rounding too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerLine {
    /// Where it stands among the movements of the account, from 1 on.
    pub place: i64,
    pub cause: CauseId,
    pub direction: Direction,
    pub amount: Amount,
    pub points: Points,
    /// The rate by which points were turned into money.
    pub rate: PointsPerDollar,
    pub reason: Reason,
    pub at: Timestamp,
}

pub trait ReadMovements {
    /// An account's movements in the order of their places, those behind one; at most `limit`.
    fn ledger_lines(
        &mut self,
        account: Account,
        behind: i64,
        limit: i64,
    ) -> Result<Vec<LedgerLine>, StoreError>;

    /// A page of an account's transactions in the order in which they took effect, the last first; roundings are in no
    /// list.
    fn transactions(&mut self, account: Account, page: Page) -> Result<Vec<Transaction>, StoreError>;
}
