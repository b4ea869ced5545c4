//! The accounts of payments: loaded before, written after. One writer has nothing to lock.

use std::collections::HashMap;

use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Nullable, SmallInt};
use guerdon_domain::ledger::{AccountBook, AccountState};
use guerdon_domain::wallets::Account;

use super::{BINDS, Conn, Db, SINGLE_INSERTS_MAX};
use crate::engine::Locking;
use crate::rows::schema::{accounts as table, transfers};
use crate::rows::types::{Id, Identifier, Moment};
use crate::rows::{AccountStateRow, TransferRow};

/// Up to this number of rows a statement stays prepared; more rows make a text that is prepared each time.
const PREPARED_MAX: usize = 16;
/// The bound values of a changed account.
const VALUES: usize = 7;

type StateColumns =
    (Identifier, SmallInt, BigInt, BigInt, BigInt, BigInt, Nullable<BigInt>, Nullable<Moment>);

/// Selects accounts, each by its key. SQLite would scan the table for a list of keys with two columns.
struct Load<'a>(&'a [(Id, i16)]);

impl QueryId for Load<'_> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Load<'_> {
    type SqlType = StateColumns;
}

impl RunQueryDsl<Conn> for Load<'_> {}

impl QueryFragment<Db> for Load<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        for (number, (owner, kind)) in self.0.iter().enumerate() {
            if number > 0 {
                out.push_sql(" UNION ALL ");
            }
            out.push_sql(
                "SELECT owner_id, kind, balance, spent, movements, made_up, alert_below, closed_at FROM accounts \
                 WHERE owner_id = ",
            );
            out.push_bind_param::<Identifier, _>(owner)?;
            out.push_sql(" AND kind = ");
            out.push_bind_param::<SmallInt, _>(kind)?;
        }
        Ok(())
    }
}

/// Writes what has become of accounts.
struct Update<'a>(&'a [AccountStateRow]);

impl QueryId for Update<'_> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl RunQueryDsl<Conn> for Update<'_> {}

impl QueryFragment<Db> for Update<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        if self.0.len() > PREPARED_MAX {
            out.unsafe_to_cache_prepared();
        }
        out.push_sql(
            "UPDATE accounts SET balance = new.column3, spent = new.column4, movements = new.column5, \
             made_up = new.column6, closed_at = new.column7 FROM (VALUES ",
        );
        for (number, row) in self.0.iter().enumerate() {
            out.push_sql(if number > 0 { ", (" } else { "(" });
            out.push_bind_param::<Identifier, _>(&row.owner_id)?;
            out.push_sql(", ");
            out.push_bind_param::<SmallInt, _>(&row.kind)?;
            for amount in [&row.balance, &row.spent, &row.movements, &row.made_up] {
                out.push_sql(", ");
                out.push_bind_param::<BigInt, _>(amount)?;
            }
            out.push_sql(", ");
            out.push_bind_param::<Nullable<Moment>, _>(&row.closed_at)?;
            out.push_sql(")");
        }
        out.push_sql(") AS new WHERE accounts.owner_id = new.column1 AND accounts.kind = new.column2");
        Ok(())
    }
}

/// Adds accounts to a book.
pub(crate) fn load_accounts(
    conn: &mut Conn,
    accounts: &[Account],
    _locking: Locking,
    book: &mut AccountBook,
) -> QueryResult<()> {
    if accounts.len() <= PREPARED_MAX {
        let keys: Vec<(Id, i16)> = accounts.iter().map(|it| (Id(it.owner()), it.kind().code())).collect();
        add(accounts, Load(&keys).get_results(conn)?, book);
        return Ok(());
    }
    for of_kind in accounts.chunk_by(|a, b| a.kind() == b.kind()) {
        for slice in of_kind.chunks(BINDS / 2) {
            load_many(conn, slice, book)?;
        }
    }
    Ok(())
}

/// Accounts of one kind.
fn load_many(conn: &mut Conn, accounts: &[Account], book: &mut AccountBook) -> QueryResult<()> {
    let Some(kind) = accounts.first().map(|it| it.kind().code()) else { return Ok(()) };
    let owners: Vec<Id> = accounts.iter().map(|it| Id(it.owner())).collect();
    let rows: Vec<AccountStateRow> = table::table
        .filter(table::kind.eq(kind).and(table::owner_id.eq_any(&owners)))
        .select(AccountStateRow::as_select())
        .get_results(conn)?;
    add(accounts, rows, book);
    Ok(())
}

/// Adds accounts with the rows that were found of them.
fn add(accounts: &[Account], rows: Vec<AccountStateRow>, book: &mut AccountBook) {
    let mut states: HashMap<(Id, i16), AccountState> = rows.into_iter().map(AccountStateRow::read).collect();
    for account in accounts {
        book.load(*account, states.remove(&(Id(account.owner()), account.kind().code())));
    }
}

/// Writes the accounts that have changed, and the transfers.
pub(crate) fn write_book(conn: &mut Conn, book: &AccountBook) -> QueryResult<()> {
    let changed: Vec<AccountStateRow> = book.changed().map(AccountStateRow::of).collect();
    for slice in changed.chunks(BINDS / VALUES) {
        Update(slice).execute(conn)?;
    }
    if book.transfers().len() <= SINGLE_INSERTS_MAX {
        for transfer in book.transfers() {
            diesel::insert_into(transfers::table).values(&TransferRow::of(transfer)).execute(conn)?;
        }
        return Ok(());
    }
    for slice in book.transfers().chunks(BINDS / TransferRow::COLUMNS) {
        let rows: Vec<TransferRow> = slice.iter().map(TransferRow::of).collect();
        diesel::insert_into(transfers::table).values(&rows).execute(conn)?;
    }
    Ok(())
}
