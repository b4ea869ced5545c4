//! Loads the accounts of payments, and writes them back. With a single writer there is nothing to lock. Rows
//! are read and written one by one: such a statement stays prepared, while one for many rows would have to be
//! prepared each time.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, SmallInt};
use guerdon_domain::ledger::AccountBook;
use guerdon_domain::wallets::Account;

use super::insert_row::InsertRow;
use super::{Conn, Db};
use crate::engine::Locking;
use crate::failpoint::{failpoint, is_mutant};
use crate::rows::schema::accounts as table;
use crate::rows::{AccountStateRow, DbTimestamp, Id, Identifier, SqlTimestamp, TransferRow};
use crate::statement::statement;

statement! {
    /// Updates an account.
    UpdateAccount -> Bool {
        balance: BigInt = i64,
        spent: BigInt = i64,
        entry_count: BigInt = i64,
        rounding_shortfall: BigInt = i64,
        closed_at: Nullable<SqlTimestamp> = Option<DbTimestamp>,
        owner: Identifier = Id,
        kind: SmallInt = i16,
    }
    "UPDATE accounts SET balance = ?, spent = ?, entry_count = ?, rounding_shortfall = ?, closed_at = ? WHERE owner_id = ? AND kind = ?"
}

/// Adds accounts to a book.
pub(crate) fn load_accounts(
    conn: &mut Conn,
    accounts: &[Account],
    _locking: Locking,
    book: &mut AccountBook,
) -> QueryResult<()> {
    for account in accounts {
        let row = table::table.find((Id(account.owner_id()), account.kind().code()));
        let row: Option<AccountStateRow> =
            row.select(AccountStateRow::as_select()).get_result(conn).optional()?;
        book.insert_loaded(*account, row.map(|row| row.into_state().1));
    }
    Ok(())
}

/// Writes the changed accounts, and the transfers.
pub(crate) fn write_book(conn: &mut Conn, book: &AccountBook) -> QueryResult<()> {
    let forgotten = usize::from(is_mutant("forget_account"));
    for row in book.changed_accounts().skip(forgotten).map(AccountStateRow::from_state) {
        let update = UpdateAccount {
            balance: row.balance,
            spent: row.spent,
            entry_count: row.entry_count,
            rounding_shortfall: row.rounding_shortfall,
            closed_at: row.closed_at,
            owner: row.owner_id,
            kind: row.kind,
        };
        failpoint("sqlite.update.accounts")?;
        update.execute(conn)?;
    }
    for transfer in book.transfers() {
        failpoint("sqlite.insert.transfers")?;
        InsertRow(&TransferRow::from_transfer(transfer)).execute(conn)?;
    }
    Ok(())
}
