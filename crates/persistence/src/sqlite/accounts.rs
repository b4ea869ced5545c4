//! The accounts of payments: loaded before, written after. One writer has nothing to lock.

use std::collections::HashMap;

use diesel::dsl::AsSelect;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::SmallInt;
use guerdon_domain::ledger::{AccountBook, AccountState};
use guerdon_domain::wallets::Account;

use super::{BINDS, Conn, Db, SINGLE_INSERTS_MAX};
use crate::engine::Locking;
use crate::rows::schema::{accounts as table, transfers};
use crate::rows::types::{Id, Identifier};
use crate::rows::{AccountStateRow, Row, TransferRow};

/// Up to this number of rows a statement stays prepared; more rows make a text that is prepared each time.
const PREPARED_MAX: usize = 16;

/// Selects accounts, each by its key. SQLite would scan the table for a list of keys with two columns.
struct Load<'a>(&'a [(Id, i16)]);

impl QueryId for Load<'_> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Load<'_> {
    type SqlType = AsSelect<AccountStateRow, Db>;
}

impl RunQueryDsl<Conn> for Load<'_> {}

impl QueryFragment<Db> for Load<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        for (number, (owner, kind)) in self.0.iter().enumerate() {
            out.push_sql(if number > 0 { " UNION ALL SELECT " } else { "SELECT " });
            out.push_sql(AccountStateRow::COLUMN_NAMES);
            out.push_sql(" FROM accounts WHERE owner_id = ");
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
        for part in ["WITH new (", AccountStateRow::COLUMN_NAMES, ") AS (VALUES "] {
            out.push_sql(part);
        }
        for (number, row) in self.0.iter().enumerate() {
            if number > 0 {
                out.push_sql(", ");
            }
            row.push_values(out.reborrow())?;
        }
        for part in [") ", AccountStateRow::UPDATE_FROM, "new", AccountStateRow::WHERE_NEW] {
            out.push_sql(part);
        }
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
    for slice in changed.chunks(BINDS / AccountStateRow::COLUMNS) {
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
