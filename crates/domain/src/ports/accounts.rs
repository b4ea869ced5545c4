//! The ledger's accounts: opened, paid from, closed; never written in any other way.

use super::{StoreError, Timestamp};
use crate::money::{Amount, Points, PointsPerDollar, Price};
use crate::values::{CompanyId, TransferId, UserId};
use crate::wallets::{Account, Credit, Reason, Wallet};

/// Reading balances.
pub trait ReadAccounts {
    /// A user's wallets in the order user, peer, manager; those of a deleted user stand at zero.
    fn wallets(&mut self, user: UserId) -> Result<Vec<Wallet>, StoreError>;

    /// The wallets of many users, in the order of the users.
    fn wallets_of(&mut self, users: &[UserId]) -> Result<Vec<Vec<Wallet>>, StoreError>;

    /// What an account holds, credits less debits; `None` where it was never opened.
    fn balance(&mut self, account: Account) -> Result<Option<Amount>, StoreError>;
}

/// One payment: one payer, one or more receivers of the same amount, one transfer each.
#[derive(Debug, Clone)]
pub struct Payment<'a> {
    /// The company whose accounts these are.
    pub company: CompanyId,
    /// Who may pay, in order of preference; the first that alone covers the price pays all of it.
    pub payers: &'a [Account],
    /// Who is credited, all accounts of one kind, each at most once.
    pub credits: &'a [Credit],
    /// What each is credited, what it costs and what the payer must hold.
    pub price: Price,
    /// Points each.
    pub points: Points,
    /// The rate that priced it.
    pub rate: PointsPerDollar,
    /// Why.
    pub reason: Reason,
    /// Whether it counts in the payer's `cumulative_points_spent` (contract §5.7).
    pub counts_as_spent: bool,
    /// The id of the transfer from the company's rounding account, should one be needed.
    pub rounding: TransferId,
    /// When.
    pub at: Timestamp,
}

/// How a payment ended. Anything but `Paid` leaves the transaction to be rolled back by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Paid {
        /// Which of the payers paid.
        payer: Account,
        /// Its balance before.
        before: Amount,
        /// Its balance after.
        after: Amount,
    },
    /// No payer covers the price.
    Insufficient,
    /// An account to be credited is closed or was never opened.
    ReceiverClosed,
}

/// Moving points.
pub trait Accounts: ReadAccounts {
    /// Opens accounts at zero.
    fn open(&mut self, company: CompanyId, accounts: &[Account], at: Timestamp) -> Result<(), StoreError>;

    /// Makes payments, each as one balanced set of transfers. Takes its locks in the program's one order: the
    /// receivers by class and id, then the payer. An outside payer (funding, redeemed, rounding) is never short.
    /// A payment of nothing (`price.each` zero) checks that the receivers are open, writes no transfer.
    fn post(&mut self, payments: &[Payment<'_>]) -> Result<Vec<Outcome>, StoreError>;

    /// Closes a user's wallets and returns what they hold to the company's reserve (reason `user deleted`).
    /// `transfers` gives the ids of the up to three transfers.
    fn close_wallets(
        &mut self,
        company: CompanyId,
        user: UserId,
        rate: PointsPerDollar,
        transfers: [TransferId; 3],
        at: Timestamp,
    ) -> Result<(), StoreError>;
}
