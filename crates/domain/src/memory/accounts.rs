//! Accounts: balances, opening, and what an account may hold; what changes a balance stands in `pay.rs`.

use super::Unit;
use super::data::{Data, require};
use crate::money::Amount;
use crate::ports::{Accounts, Outcome, Payment, ReadAccounts, StoreError, Timestamp};
use crate::reserve::FUNDED_MAX;
use crate::values::{CompanyId, UserId};
use crate::wallets::{Account, AccountKind, Wallet};

/// The most that a payment can be short of: a hundredth of a point of a dollar.
pub(super) const MADE_UP_MAX: Amount = Amount::from_nanodollars(10_000_000);

/// An account as it stands.
#[derive(Clone, Default)]
pub(super) struct Held {
    pub(super) balance: Amount,
    pub(super) spent: Amount,
    pub(super) movements: i64,
    /// What the last payment out of it was short of.
    pub(super) made_up: Amount,
    pub(super) alert_below: Option<Amount>,
    pub(super) is_closed: bool,
}

impl Held {
    /// What the databases' CHECKs refuse of an account of this kind.
    pub(super) fn judge(&self, kind: AccountKind) -> Result<(), StoreError> {
        let owed = Amount::ZERO.checked_sub(self.balance);
        let holds = match kind {
            AccountKind::Funding => !self.is_positive() && owed.is_some_and(|it| it <= FUNDED_MAX),
            AccountKind::Rounding => !self.is_positive(),
            _ => !self.balance.is_negative(),
        };
        require(holds, "a balance is within its bounds")?;
        require(!self.spent.is_negative(), "what was spent is not negative")?;
        require(
            (Amount::ZERO..=MADE_UP_MAX).contains(&self.made_up),
            "what is made up is within the tolerance",
        )
    }

    fn is_positive(&self) -> bool {
        self.balance > Amount::ZERO
    }
}

impl Data {
    fn wallets(&self, user: UserId) -> Vec<Wallet> {
        let wallet = |account: Account| {
            let (Account::Wallet(wallet_type, _), held) = (account, self.accounts.get(&account)?) else {
                return None;
            };
            Some(Wallet { wallet_type, balance: held.balance, spent: held.spent })
        };
        Account::of_user(user).into_iter().filter_map(wallet).collect()
    }
}

impl ReadAccounts for Unit {
    fn wallets(&mut self, user: UserId) -> Result<Vec<Wallet>, StoreError> {
        self.read(|data| data.wallets(user))
    }

    fn wallets_of(&mut self, users: &[UserId]) -> Result<Vec<Vec<Wallet>>, StoreError> {
        self.read(|data| users.iter().map(|it| data.wallets(*it)).collect())
    }

    fn balance(&mut self, account: Account) -> Result<Option<Amount>, StoreError> {
        self.read(|data| data.accounts.get(&account).map(|it| it.balance))
    }
}

impl Accounts for Unit {
    fn open(&mut self, company: CompanyId, new: &[Account], _at: Timestamp) -> Result<(), StoreError> {
        self.run(|data| {
            for account in new {
                let is_companys = account.kind() >= AccountKind::Reserve;
                let is_own = account.owner() == company.as_uuid();
                require(is_companys == is_own, "a company's accounts are its own")?;
                let is_new = data.accounts.insert(*account, Held::default()).is_none();
                require(is_new, "an account is opened once")?;
            }
            Ok(())
        })
    }

    fn pay(&mut self, payment: &Payment<'_>) -> Result<Outcome, StoreError> {
        self.run(|data| data.pay(payment))
    }

    fn alert_below(&mut self, company: CompanyId, least: Option<Amount>) -> Result<Amount, StoreError> {
        self.run(|data| {
            let reserve = data.accounts.get_mut(&Account::Reserve(company));
            let reserve = reserve.ok_or_else(|| StoreError::Broken("a company has no reserve".into()))?;
            reserve.alert_below = least;
            Ok(reserve.balance)
        })
    }
}
