//! Reads balances and opens accounts.

use std::collections::HashMap;

use diesel::dsl::count_star;
use diesel::prelude::*;
use guerdon_domain::money::{Amount, PointsPerDollar};
use guerdon_domain::ports::{Accounts, BalanceGroup, Balances, Lookup, ReadAccounts, StoreError, Timestamp};
use guerdon_domain::values::{CompanyId, ProviderId, UserId};
use guerdon_domain::wallets::{Account, AccountKind, Wallet, WalletType};

use super::super::RowByRow;
use super::Unit;
use crate::rows::schema::{accounts, companies, users};
use crate::rows::types::Id;
use crate::rows::{AccountRow, RowReader, WalletRow};

/// The maximum number of users of one query.
const USERS_PER_QUERY: usize = 1_000;

impl ReadAccounts for Unit<'_> {
    /// Every user has at least two wallets, which are never deleted.
    fn find_balances(&mut self, scope: ProviderId, user: UserId) -> Result<Lookup<Balances>, StoreError> {
        type CompanyColumns = (Id<CompanyId>, Id<ProviderId>, i32);
        let rows: Vec<(CompanyColumns, WalletRow)> = self.query(|conn| {
            accounts::table
                .inner_join(companies::table.on(companies::id.eq(accounts::company_id)))
                .filter(accounts::owner_id.eq(Id(user.as_uuid())))
                .filter(accounts::kind.le(AccountKind::ManagerWallet.code()))
                .order(accounts::kind)
                .select((
                    (companies::id, companies::provider_id, companies::points_per_dollar),
                    WalletRow::as_select(),
                ))
                .get_results(conn)
        })?;
        let Some(((company, owner, rate), _)) = rows.first() else { return Ok(Lookup::Absent) };
        if owner.0 != scope {
            return Ok(Lookup::Foreign);
        }
        let reader = RowReader { table: "companies", id: &company.0 };
        let rate = self.record_failure(
            reader.require_valid("points_per_dollar", PointsPerDollar::new(i64::from(*rate))),
        )?;
        let wallets = self.record_failure(rows.into_iter().map(|row| row.1.into_wallet()).collect())?;
        Ok(Lookup::Own(Balances { rate, wallets }))
    }

    fn list_wallets_of_users(&mut self, users: &[UserId]) -> Result<Vec<Vec<Wallet>>, StoreError> {
        let mut found: HashMap<Id, Vec<Wallet>> = HashMap::with_capacity(users.len());
        for slice in users.chunks(USERS_PER_QUERY) {
            let owners: Vec<Id> = slice.iter().map(|user| Id(user.as_uuid())).collect();
            let rows: Vec<WalletRow> = self.query(|conn| {
                accounts::table
                    .filter(accounts::owner_id.eq_any(&owners))
                    .filter(accounts::kind.le(AccountKind::ManagerWallet.code()))
                    .order((accounts::owner_id, accounts::kind))
                    .select(WalletRow::as_select())
                    .get_results(conn)
            })?;
            for row in rows {
                let owner = row.owner_id;
                let wallet = self.record_failure(row.into_wallet())?;
                found.entry(owner).or_default().push(wallet);
            }
        }
        Ok(users.iter().map(|user| found.remove(&Id(user.as_uuid())).unwrap_or_default()).collect())
    }

    fn for_each_balance_group(
        &mut self,
        company: CompanyId,
        consume: &mut dyn FnMut(BalanceGroup),
    ) -> Result<(), StoreError> {
        let mut consume_row = |(kind, balance, count): (i16, i64, i64)| -> Result<(), StoreError> {
            let reader = RowReader { table: "accounts", id: &company };
            let wallet = reader.require_valid("kind", WalletType::from_code(kind))?;
            consume(BalanceGroup { wallet, amount: Amount::from_nanodollars(balance), count });
            Ok(())
        };
        let mut consumed = Ok(());
        self.query(|conn| {
            let rows = accounts::table
                .inner_join(users::table.on(users::id.eq(accounts::owner_id)))
                .filter(users::company_id.eq(Id(company)).and(users::deleted_at.is_null()))
                .filter(accounts::kind.le(AccountKind::ManagerWallet.code()))
                .group_by((accounts::kind, accounts::balance))
                .select((accounts::kind, accounts::balance, count_star()))
                .load_iter::<(i16, i64, i64), RowByRow>(conn)?;
            for row in rows {
                let row = row?;
                if consumed.is_ok() {
                    consumed = consume_row(row);
                }
            }
            Ok(())
        })?;
        self.record_failure(consumed)
    }

    fn account_balance(&mut self, account: Account) -> Result<Option<Amount>, StoreError> {
        let convert = |balance| Ok(Amount::from_nanodollars(balance));
        self.find(convert, |conn| {
            accounts::table
                .find((Id(account.owner_id()), account.kind().code()))
                .select(accounts::balance)
                .get_result(conn)
        })
    }
}

impl Accounts for Unit<'_> {
    fn open_accounts(
        &mut self,
        company: CompanyId,
        new: &[Account],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let rows: Vec<AccountRow> =
            new.iter().map(|account| AccountRow::new_account(company, *account, at)).collect();
        self.execute(|conn| diesel::insert_into(accounts::table).values(&rows).execute(conn))
    }

    fn set_reserve_alert(
        &mut self,
        company: CompanyId,
        threshold: Option<Amount>,
    ) -> Result<Amount, StoreError> {
        let reserve = Account::Reserve(company);
        let balance: i64 = self.query(|conn| {
            diesel::update(accounts::table.find((Id(reserve.owner_id()), reserve.kind().code())))
                .set(accounts::alert_below.eq(threshold.map(Amount::nanodollars)))
                .returning(accounts::balance)
                .get_result(conn)
        })?;
        Ok(Amount::from_nanodollars(balance))
    }
}
