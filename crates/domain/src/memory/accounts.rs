//! Reads balances and histories, and opens accounts. Balances change only in `ledger/pay.rs`.

use std::cmp::Reverse;

use super::MemoryTx;
use super::data::{StoreData, page_of};
use crate::ledger::{AccountState, Transfer, require_rule};
use crate::money::Amount;
use crate::ports::{
    AccountEntry, AccountTransaction, Accounts, BalanceGroup, Balances, Lookup, ReadAccounts, StoreError,
    Timestamp,
};
use crate::values::{CompanyId, Page, ProviderId, UserId, checked_cast};
use crate::wallets::{Account, AccountKind, Direction, Reason, Wallet};

impl StoreData {
    fn wallets_of_user(&self, user: UserId) -> Vec<Wallet> {
        let wallet = |account: Account| {
            let (Account::Wallet(wallet_type, _), state) = (account, self.book.account(account)?) else {
                return None;
            };
            Some(Wallet { wallet_type, balance: state.balance, spent: state.spent })
        };
        Account::user_wallets(user).into_iter().filter_map(wallet).collect()
    }
}

/// Converts a transfer to an entry of an account; `None` if it neither debits nor credits the account.
fn entry_of_account(transfer: &Transfer, account: Account) -> Option<AccountEntry> {
    let (direction, number) = match (transfer.debit, transfer.credit) {
        ((debit, number), _) if debit == account => (Direction::Debit, number),
        (_, (credit, number)) if credit == account => (Direction::Credit, number),
        _ => return None,
    };
    Some(AccountEntry {
        sequence: number,
        amount: transfer.amount,
        rate: transfer.rate,
        transaction: AccountTransaction {
            journal_entry_id: transfer.entry_id,
            direction,
            points: transfer.points,
            reason: transfer.reason,
            at: transfer.at,
        },
    })
}

impl ReadAccounts for MemoryTx {
    fn find_balances(&mut self, scope: ProviderId, user: UserId) -> Result<Lookup<Balances>, StoreError> {
        self.query(|data| {
            let company = data.users.get(&user).and_then(|user| data.companies.get(&user.company_id));
            let found = company.map(|company| (company.provider_id, company.rate));
            Lookup::in_scope(scope, found).map(|rate| Balances { rate, wallets: data.wallets_of_user(user) })
        })
    }

    fn list_wallets_of_users(&mut self, users: &[UserId]) -> Result<Vec<Vec<Wallet>>, StoreError> {
        self.query(|data| users.iter().map(|user| data.wallets_of_user(*user)).collect())
    }

    fn for_each_balance_group(
        &mut self,
        company: CompanyId,
        consume: &mut dyn FnMut(BalanceGroup),
    ) -> Result<(), StoreError> {
        self.query(|data| {
            let wallets = data.active_users(company).flat_map(|user| data.wallets_of_user(user.id));
            wallets
                .map(|wallet| BalanceGroup { wallet: wallet.wallet_type, amount: wallet.balance, count: 1 })
                .for_each(consume);
        })
    }

    fn account_balance(&mut self, account: Account) -> Result<Option<Amount>, StoreError> {
        self.query(|data| data.book.account(account).map(|account| account.balance))
    }

    fn list_account_entries(
        &mut self,
        account: Account,
        after: i64,
        limit: i64,
    ) -> Result<Vec<AccountEntry>, StoreError> {
        self.query(|data| {
            let entries =
                data.book.transfers().iter().filter_map(|transfer| entry_of_account(transfer, account));
            let mut entries: Vec<AccountEntry> = entries.filter(|entry| entry.sequence > after).collect();
            entries.sort_by_key(|entry| entry.sequence);
            entries.truncate(checked_cast(limit));
            entries
        })
    }

    fn list_transactions(
        &mut self,
        account: Account,
        page: Page,
    ) -> Result<Vec<AccountTransaction>, StoreError> {
        self.query(|data| {
            let entries =
                data.book.transfers().iter().filter_map(|transfer| entry_of_account(transfer, account));
            let entries = entries.filter(|entry| entry.transaction.reason != Reason::Rounding);
            let page = page_of(entries, |entry| Reverse(entry.sequence), page);
            page.into_iter().map(|entry| entry.transaction).collect()
        })
    }
}

impl Accounts for MemoryTx {
    fn open_accounts(
        &mut self,
        company: CompanyId,
        accounts: &[Account],
        _at: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(|data| {
            for account in accounts {
                let is_of_company = account.kind() >= AccountKind::Reserve;
                let is_own = account.owner_id() == company.as_uuid();
                require_rule(is_of_company == is_own, "a company opens only its own accounts")?;
                let is_new = data.book.insert_loaded(*account, Some(AccountState::default()));
                require_rule(is_new, "an account is opened once")?;
            }
            Ok(())
        })
    }

    fn set_reserve_alert(
        &mut self,
        company: CompanyId,
        threshold: Option<Amount>,
    ) -> Result<Amount, StoreError> {
        self.execute(|data| {
            let reserve = data.book.account_mut(Account::Reserve(company))?;
            reserve.alert_below = threshold;
            Ok(reserve.balance)
        })
    }
}
