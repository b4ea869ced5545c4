//! Accounts: balances and opening. `ledger/pay.rs` changes balances.

use super::Unit;
use super::data::Data;
use crate::ledger::{AccountState, require};
use crate::money::Amount;
use crate::ports::{Accounts, Balances, Holding, Lookup, ReadAccounts, StoreError, Timestamp};
use crate::values::{CompanyId, ProviderId, UserId};
use crate::wallets::{Account, AccountKind, Wallet};

impl Data {
    fn wallets(&self, user: UserId) -> Vec<Wallet> {
        let wallet = |account: Account| {
            let (Account::Wallet(wallet_type, _), held) = (account, self.book.account(account)?) else {
                return None;
            };
            Some(Wallet { wallet_type, balance: held.balance, spent: held.spent })
        };
        Account::of_user(user).into_iter().filter_map(wallet).collect()
    }
}

impl ReadAccounts for Unit {
    fn balances(&mut self, scope: ProviderId, user: UserId) -> Result<Lookup<Balances>, StoreError> {
        self.read(|data| {
            let company = data.users.get(&user).and_then(|user| data.companies.get(&user.company_id));
            match company {
                None => Lookup::Absent,
                Some(company) if company.provider_id != scope => Lookup::Foreign,
                Some(company) => Lookup::Own(Balances { rate: company.rate, wallets: data.wallets(user) }),
            }
        })
    }

    fn wallets(&mut self, user: UserId) -> Result<Vec<Wallet>, StoreError> {
        self.read(|data| data.wallets(user))
    }

    fn wallets_of(&mut self, users: &[UserId]) -> Result<Vec<Vec<Wallet>>, StoreError> {
        self.read(|data| users.iter().map(|user| data.wallets(*user)).collect())
    }

    fn holdings(&mut self, company: CompanyId) -> Result<Vec<Holding>, StoreError> {
        self.read(|data| {
            let wallets = data.active(company).flat_map(|user| data.wallets(user.id));
            wallets
                .map(|wallet| Holding { wallet: wallet.wallet_type, amount: wallet.balance, count: 1 })
                .collect()
        })
    }

    fn balance(&mut self, account: Account) -> Result<Option<Amount>, StoreError> {
        self.read(|data| data.book.account(account).map(|account| account.balance))
    }
}

impl Accounts for Unit {
    fn open(&mut self, company: CompanyId, new: &[Account], _at: Timestamp) -> Result<(), StoreError> {
        self.run(|data| {
            for account in new {
                let is_companys = account.kind() >= AccountKind::Reserve;
                let is_own = account.owner() == company.as_uuid();
                require(is_companys == is_own, "a company's accounts are its own")?;
                let is_new = data.book.load(*account, Some(AccountState::default()));
                require(is_new, "an account is opened once")?;
            }
            Ok(())
        })
    }

    fn alert_below(&mut self, company: CompanyId, least: Option<Amount>) -> Result<Amount, StoreError> {
        self.run(|data| {
            let reserve = data.book.account_mut(Account::Reserve(company))?;
            reserve.alert_below = least;
            Ok(reserve.balance)
        })
    }
}
