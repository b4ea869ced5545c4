//! Accounts: balances, opening, closing.

use std::collections::HashMap;

use diesel::prelude::*;
use guerdon_domain::money::{Amount, PointsPerDollar};
use guerdon_domain::ports::{Accounts, Outcome, Payment, ReadAccounts, StoreError, Timestamp};
use guerdon_domain::values::{CompanyId, TransferId, UserId};
use guerdon_domain::wallets::{Account, AccountKind, Wallet, WalletType};

use super::Unit;
use crate::rows::{AccountRow, TransferRow, WalletRow};
use crate::schema::accounts;
use crate::types::{At, Id};

/// How many users one query names.
const SLICE: usize = 1_000;

impl ReadAccounts for Unit<'_> {
    fn wallets(&mut self, user: UserId) -> Result<Vec<Wallet>, StoreError> {
        let rows: Vec<WalletRow> = self.query(|conn| {
            accounts::table
                .filter(accounts::owner_id.eq(Id(user.as_uuid())))
                .filter(accounts::kind.le(AccountKind::ManagerWallet.code()))
                .order(accounts::kind)
                .select(WalletRow::as_select())
                .get_results(conn)
        })?;
        self.keep(rows.into_iter().map(WalletRow::read).collect())
    }

    fn wallets_of(&mut self, users: &[UserId]) -> Result<Vec<Vec<Wallet>>, StoreError> {
        let mut found: HashMap<Id, Vec<Wallet>> = HashMap::with_capacity(users.len());
        for slice in users.chunks(SLICE) {
            let owners: Vec<Id> = slice.iter().map(|it| Id(it.as_uuid())).collect();
            let rows: Vec<WalletRow> = self.query(|conn| {
                accounts::table
                    .filter(accounts::owner_id.eq_any(&owners))
                    .filter(accounts::kind.le(AccountKind::ManagerWallet.code()))
                    .order((accounts::owner_id, accounts::kind))
                    .select(WalletRow::as_select())
                    .get_results(conn)
            })?;
            for row in rows {
                let owner = row.owner();
                let wallet = self.keep(row.read())?;
                found.entry(owner).or_default().push(wallet);
            }
        }
        Ok(users.iter().map(|it| found.remove(&Id(it.as_uuid())).unwrap_or_default()).collect())
    }

    fn balance(&mut self, account: Account) -> Result<Option<Amount>, StoreError> {
        let found: Option<i64> = self.query(|conn| {
            accounts::table
                .find((Id(account.owner()), account.kind().code()))
                .select(accounts::credits - accounts::debits)
                .get_result(conn)
                .optional()
        })?;
        Ok(found.map(Amount::from_nanodollars))
    }
}

impl Accounts for Unit<'_> {
    fn open(&mut self, company: CompanyId, new: &[Account], at: Timestamp) -> Result<(), StoreError> {
        let rows: Vec<AccountRow> = new.iter().map(|it| AccountRow::opened(company, *it, at)).collect();
        self.query(|conn| diesel::insert_into(accounts::table).values(&rows).execute(conn))?;
        Ok(())
    }

    fn post(&mut self, payments: &[Payment<'_>]) -> Result<Vec<Outcome>, StoreError> {
        payments.iter().map(|it| self.post_one(it)).collect()
    }

    fn close_wallets(
        &mut self,
        company: CompanyId,
        user: UserId,
        rate: PointsPerDollar,
        transfers: [TransferId; 3],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let mut returned = Amount::ZERO;
        let mut rows = Vec::new();
        for (wallet_type, transfer) in WalletType::ALL.into_iter().zip(transfers) {
            let wallet = Account::Wallet(wallet_type, user);
            let Some(held) = self.close(wallet, at)?.filter(|it| !it.is_zero()) else { continue };
            self.empty(wallet, held)?;
            let sum = returned.checked_add(held).ok_or_else(|| StoreError::Broken("funds overflow".into()));
            returned = self.keep(sum)?;
            rows.push(TransferRow::of_return(company, wallet, transfer, held, rate, at));
        }
        if rows.is_empty() {
            return Ok(());
        }
        self.insert_transfers(&rows)?;
        // The reserve comes last in the lock order: many wait for it.
        if self.credit_one(Account::Reserve(company), returned)? != 1 {
            return self.keep(Err(StoreError::Broken("a company has no reserve".into())));
        }
        Ok(())
    }
}

impl Unit<'_> {
    /// Closes an account, so that nothing more can be paid into it or out of it; answers what it holds.
    fn close(&mut self, account: Account, at: Timestamp) -> Result<Option<Amount>, StoreError> {
        let held: Option<i64> = self.query(|conn| {
            diesel::update(accounts::table.find((Id(account.owner()), account.kind().code())))
                .filter(accounts::closed_at.is_null())
                .set(accounts::closed_at.eq(Some(At(at))))
                .returning(accounts::credits - accounts::debits)
                .get_result(conn)
                .optional()
        })?;
        Ok(held.map(Amount::from_nanodollars))
    }

    /// Takes all that a closed account holds.
    fn empty(&mut self, account: Account, held: Amount) -> Result<(), StoreError> {
        let held = held.nanodollars();
        self.query(|conn| {
            diesel::update(accounts::table.find((Id(account.owner()), account.kind().code())))
                .set((
                    accounts::debits.eq(accounts::debits + held),
                    accounts::spent.eq(accounts::spent + held),
                ))
                .execute(conn)
        })?;
        Ok(())
    }
}
