//! Reads balances and histories, and opens accounts.

use std::collections::HashMap;

use diesel::dsl::count_star;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, SmallInt};
use guerdon_domain::money::{Amount, PointsPerDollar};
use guerdon_domain::ports::{
    AccountEntry, AccountTransaction, Accounts, BalanceGroup, Balances, Lookup, ReadAccounts, StoreError,
    Timestamp,
};
use guerdon_domain::values::{CompanyId, Page, ProviderId, UserId};
use guerdon_domain::wallets::{Account, AccountKind, Reason, Wallet, WalletType};

use super::{Conn, Db, RowByRow, Unit};
use crate::rows::schema::{accounts, companies, users};
use crate::rows::{
    AccountEntryRow, AccountTransactionRow, DbTimestamp, Id, Identifier, RowReader, SqlTimestamp, WalletRow,
};
use crate::statement::statement;

/// The maximum number of users of one query.
const USERS_PER_QUERY: usize = 1_000;

/// The start of a query for the debits of an account, up to the owner and the kind. Each statement appends conditions,
/// an order and a limit, and closes the parenthesis. The directions 0 and 1 are the codes of `Direction`.
const DEBITS: &str = "SELECT * FROM (SELECT debit_sequence AS sequence, amount, points_per_dollar, journal_entry_id, \
     CAST(0 AS SMALLINT) AS direction, points, reason, created_at FROM transfers \
     WHERE debit_owner = ? AND debit_kind = ?";
/// The start of a query for the credits of an account, with the columns of [`DEBITS`].
const CREDITS: &str = "SELECT * FROM (SELECT credit_sequence AS sequence, amount, points_per_dollar, journal_entry_id, \
     CAST(1 AS SMALLINT) AS direction, points, reason, created_at FROM transfers \
     WHERE credit_owner = ? AND credit_kind = ?";

statement! {
    /// Selects the latest transactions of an account. Debits and credits are read from separate indexes and merged
    /// by entry number.
    LatestTransactions -> (Identifier, SmallInt, BigInt, SmallInt, SqlTimestamp) {
        debited: Identifier = Id,
        debited_kind: SmallInt = i16,
        excluded_debit_reason: SmallInt = i16,
        debits: BigInt = i64,
        credited: Identifier = Id,
        credited_kind: SmallInt = i16,
        excluded_credit_reason: SmallInt = i16,
        credits: BigInt = i64,
        limit: BigInt = i64,
        offset: BigInt = i64,
    }
    "SELECT journal_entry_id, direction, points, reason, created_at FROM (",
    DEBITS, " AND reason <> ? ORDER BY debit_sequence DESC LIMIT ?) AS debits UNION ALL ",
    CREDITS, " AND reason <> ? ORDER BY credit_sequence DESC LIMIT ?) AS credits) AS both_sides \
     ORDER BY sequence DESC LIMIT ? OFFSET ?"
}

statement! {
    /// Selects the next entries of an account. Debits and credits are read from separate indexes and merged
    /// by entry number.
    NextEntries -> (BigInt, BigInt, Integer, (Identifier, SmallInt, BigInt, SmallInt, SqlTimestamp)) {
        debited: Identifier = Id,
        debited_kind: SmallInt = i16,
        after_debit: BigInt = i64,
        debits: BigInt = i64,
        credited: Identifier = Id,
        credited_kind: SmallInt = i16,
        after_credit: BigInt = i64,
        credits: BigInt = i64,
        limit: BigInt = i64,
    }
    "SELECT * FROM (",
    DEBITS, " AND debit_sequence > ? ORDER BY debit_sequence LIMIT ?) AS debits UNION ALL ",
    CREDITS, " AND credit_sequence > ? ORDER BY credit_sequence LIMIT ?) AS credits) AS both_sides \
     ORDER BY sequence LIMIT ?"
}

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

    fn list_account_entries(
        &mut self,
        account: Account,
        after: i64,
        limit: i64,
    ) -> Result<Vec<AccountEntry>, StoreError> {
        self.query(super::disable_statement_timeout)?;
        let (owner, kind) = (Id(account.owner_id()), account.kind().code());
        let next = NextEntries {
            debited: owner,
            debited_kind: kind,
            after_debit: after,
            debits: limit,
            credited: owner,
            credited_kind: kind,
            after_credit: after,
            credits: limit,
            limit,
        };
        self.list(AccountEntryRow::into_account_entry, |conn| next.get_results(conn))
    }

    fn list_transactions(
        &mut self,
        account: Account,
        page: Page,
    ) -> Result<Vec<AccountTransaction>, StoreError> {
        let (owner, kind, rounding) =
            (Id(account.owner_id()), account.kind().code(), Reason::Rounding.code());
        if page.offset() > 0 {
            // The statement below reads all entries of the pages before this one.
            let count = accounts::table.find((owner, kind)).select(accounts::entry_count);
            let count: Option<i64> = self.query(|conn| count.get_result(conn).optional())?;
            if count.is_none_or(|count| page.offset() >= count) {
                return Ok(Vec::new());
            }
        }
        let end = page.offset().saturating_add(page.limit());
        let latest = LatestTransactions {
            debited: owner,
            debited_kind: kind,
            excluded_debit_reason: rounding,
            debits: end,
            credited: owner,
            credited_kind: kind,
            excluded_credit_reason: rounding,
            credits: end,
            limit: page.limit(),
            offset: page.offset(),
        };
        self.list(AccountTransactionRow::into_transaction, |conn| latest.get_results(conn))
    }
}

impl Accounts for Unit<'_> {
    fn open_accounts(
        &mut self,
        company: CompanyId,
        new: &[Account],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let empty = |account: &Account| {
            (
                accounts::owner_id.eq(Id(account.owner_id())),
                accounts::kind.eq(account.kind().code()),
                accounts::company_id.eq(Id(company)),
                accounts::balance.eq(0),
                accounts::spent.eq(0),
                accounts::entry_count.eq(0),
                accounts::rounding_shortfall.eq(0),
                accounts::created_at.eq(DbTimestamp(at)),
            )
        };
        let rows: Vec<_> = new.iter().map(empty).collect();
        self.execute(|conn| diesel::insert_into(accounts::table).values(rows).execute(conn))
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
