//! The accounts of the ledger.

use super::{Lookup, StoreError, Timestamp};
use crate::money::{Amount, Points, PointsPerDollar};
use crate::values::{CompanyId, JournalEntryId, Page, ProviderId, UserId};
use crate::wallets::{Account, Direction, Reason, Wallet, WalletType};

/// A user's wallets, and the rate at which their points are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balances {
    pub rate: PointsPerDollar,
    /// The wallets in the order user, peer, manager. The balances of a deleted user are zero.
    pub wallets: Vec<Wallet>,
}

/// The number of wallets of a kind that have the same balance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BalanceGroup {
    pub wallet: WalletType,
    pub amount: Amount,
    pub count: i64,
}

/// A movement of points to or from an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountTransaction {
    pub journal_entry_id: JournalEntryId,
    pub direction: Direction,
    /// The points at the rate of that time.
    pub points: Points,
    pub reason: Reason,
    pub at: Timestamp,
}

/// One entry of an account's history, which may be a rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountEntry {
    /// The number of the entry in the account's history, starting at 1.
    pub sequence: i64,
    pub amount: Amount,
    /// The rate that converted between points and dollars.
    pub rate: PointsPerDollar,
    pub transaction: AccountTransaction,
}

/// Reads balances, and the history of accounts.
pub trait ReadAccounts {
    /// A user's wallets with the rate of the company, from one snapshot.
    fn find_balances(&mut self, scope: ProviderId, user: UserId) -> Result<Lookup<Balances>, StoreError>;

    /// A user's wallets in the order user, peer, manager. The balances of a deleted user are zero.
    fn list_wallets(&mut self, user: UserId) -> Result<Vec<Wallet>, StoreError> {
        Ok(self.list_wallets_of_users(&[user])?.pop().unwrap_or_default())
    }

    /// The wallets of several users, in the order of `users`.
    fn list_wallets_of_users(&mut self, users: &[UserId]) -> Result<Vec<Vec<Wallet>>, StoreError>;

    /// Passes the wallets of a company's active users to `consume`, grouped by kind and balance. A company may have as
    /// many groups as wallets, so they are not held in memory.
    fn for_each_balance_group(
        &mut self,
        company: CompanyId,
        consume: &mut dyn FnMut(BalanceGroup),
    ) -> Result<(), StoreError>;

    /// The balance of an account; `None` if it was never opened.
    fn account_balance(&mut self, account: Account) -> Result<Option<Amount>, StoreError>;

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
    fn list_transactions(
        &mut self,
        account: Account,
        page: Page,
    ) -> Result<Vec<AccountTransaction>, StoreError>;
}

/// Opens accounts, and sets the alert of a reserve.
pub trait Accounts: ReadAccounts {
    /// Opens accounts with a balance of zero.
    fn open_accounts(
        &mut self,
        company: CompanyId,
        accounts: &[Account],
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Sets the alert threshold of the reserve: a payment that takes the balance below the threshold reports
    /// this. Returns the balance, which does not change until the transaction ends.
    fn set_reserve_alert(
        &mut self,
        company: CompanyId,
        threshold: Option<Amount>,
    ) -> Result<Amount, StoreError>;
}
