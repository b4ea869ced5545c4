//! The ledger's accounts.

use super::{Lookup, StoreError, Timestamp};
use crate::money::{Amount, PointsPerDollar};
use crate::values::{CompanyId, ProviderId, UserId};
use crate::wallets::{Account, Wallet, WalletType};

/// A user's wallets, and the rate at which they are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balances {
    pub rate: PointsPerDollar,
    /// In the order user, peer, manager; those of a deleted user stand at zero.
    pub wallets: Vec<Wallet>,
}

/// Wallets of a kind that hold the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    pub wallet: WalletType,
    pub amount: Amount,
    pub count: i64,
}

/// Reading balances.
pub trait ReadAccounts {
    /// The wallets of a user, with the rate of the company, as of one moment.
    fn balances(&mut self, scope: ProviderId, user: UserId) -> Result<Lookup<Balances>, StoreError>;

    /// A user's wallets in the order user, peer, manager; those of a deleted user stand at zero.
    fn wallets(&mut self, user: UserId) -> Result<Vec<Wallet>, StoreError>;

    /// The wallets of many users, in the order of the users.
    fn wallets_of(&mut self, users: &[UserId]) -> Result<Vec<Vec<Wallet>>, StoreError>;

    /// What the wallets of a company's active users hold, those together that hold the same.
    fn holdings(&mut self, company: CompanyId) -> Result<Vec<Holding>, StoreError>;

    /// What an account holds; `None` where it was never opened.
    fn balance(&mut self, account: Account) -> Result<Option<Amount>, StoreError>;
}

/// Opening accounts, and the alert of a reserve.
pub trait Accounts: ReadAccounts {
    /// Opens accounts at zero.
    fn open(&mut self, company: CompanyId, accounts: &[Account], at: Timestamp) -> Result<(), StoreError>;

    /// Has payments tell when they take the reserve below an amount; answers what it holds, and keeps that so until the
    /// transaction ends.
    fn alert_below(&mut self, company: CompanyId, least: Option<Amount>) -> Result<Amount, StoreError>;
}
