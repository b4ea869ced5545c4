//! The accounts of payments: locked and loaded before, written after.

use std::collections::HashMap;

use diesel::pg::Pg;
use diesel::pg::sql_types::Array;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Nullable, SmallInt};
use guerdon_domain::ledger::{AccountBook, AccountState};
use guerdon_domain::wallets::Account;

use super::columns::{ArrayOf, Kept, columns};
use super::inserts::Transfers;
use super::{Conn, Db};
use crate::engine::Locking;
use crate::rows::types::{At, Id, Identifier, Moment};
use crate::rows::{AccountStateRow, TransferRow};
use crate::statement::statement;

/// The most rows of one statement.
const ROWS_MAX: usize = 10_000;

type StateColumns =
    (Identifier, SmallInt, BigInt, BigInt, BigInt, BigInt, Nullable<BigInt>, Nullable<Moment>);

/// Selects accounts and locks their rows in the order of all payments: by kind, then by owner.
macro_rules! lock_accounts {
    ($suffix:literal) => {
        concat!(
            "SELECT a.owner_id, a.kind, balance, spent, movements, made_up, alert_below, closed_at \
             FROM accounts AS a JOIN unnest(?::uuid[], ?::smallint[]) AS wanted (owner_id, kind) \
             ON a.owner_id = wanted.owner_id AND a.kind = wanted.kind ORDER BY a.kind, a.owner_id \
             FOR NO KEY UPDATE OF a",
            $suffix
        )
    };
}

statement! {
    /// Waits for accounts that others have locked.
    Lock -> StateColumns {
        owners: Array<Identifier> = Vec<Id>,
        kinds: Array<SmallInt> = Vec<i16>,
    }
    lock_accounts!("")
}

statement! {
    /// Leaves out accounts that others have locked.
    LockFree -> StateColumns {
        owners: Array<Identifier> = Vec<Id>,
        kinds: Array<SmallInt> = Vec<i16>,
    }
    lock_accounts!(" SKIP LOCKED")
}

/// Locks accounts, which are in the order in which they are locked, and adds them to a book. Those that it skips stay unloaded.
pub(crate) fn load_accounts(
    conn: &mut Conn,
    accounts: &[Account],
    locking: Locking,
    book: &mut AccountBook,
) -> QueryResult<()> {
    for slice in accounts.chunks(ROWS_MAX) {
        let (owners, kinds) = keys(slice);
        let rows: Vec<AccountStateRow> = match locking {
            Locking::Wait => Lock { owners, kinds }.get_results(conn)?,
            Locking::Skip => LockFree { owners, kinds }.get_results(conn)?,
        };
        let is_complete = locking == Locking::Wait;
        for (account, state) in found(slice, rows).filter(|(_, it)| is_complete || it.is_some()) {
            book.load(account, state);
        }
    }
    Ok(())
}

fn keys(accounts: &[Account]) -> (Vec<Id>, Vec<i16>) {
    accounts.iter().map(|it| (Id(it.owner()), it.kind().code())).unzip()
}

/// Each account with its state, if there is one.
fn found(
    accounts: &[Account],
    rows: Vec<AccountStateRow>,
) -> impl Iterator<Item = (Account, Option<AccountState>)> {
    let mut states: HashMap<(Id, i16), AccountState> = rows.into_iter().map(AccountStateRow::read).collect();
    accounts.iter().map(move |it| (*it, states.remove(&(Id(it.owner()), it.kind().code()))))
}

columns! {
    ChangedAccounts of AccountStateRow, in "accounts" {
        owner_id: Identifier = Id,
        kind: SmallInt = i16,
        balance: BigInt = i64,
        spent: BigInt = i64,
        movements: BigInt = i64,
        made_up: BigInt = i64,
        closed_at: Nullable<Moment> = Option<At>,
    }
}

/// Writes what has become of accounts that are locked.
pub(super) struct UpdateAccounts(ChangedAccounts);

impl UpdateAccounts {
    pub(super) fn of(rows: &[AccountStateRow]) -> Self {
        Self(ChangedAccounts::of(rows))
    }
}

impl QueryId for UpdateAccounts {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl RunQueryDsl<PgConnection> for UpdateAccounts {}

impl QueryFragment<Pg> for UpdateAccounts {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(
            "UPDATE accounts AS a SET balance = new.balance, spent = new.spent, movements = new.movements, \
             made_up = new.made_up, closed_at = new.closed_at FROM ",
        );
        self.0.unnest(out.reborrow())?;
        out.push_sql(" AS new (");
        out.push_sql(ChangedAccounts::names());
        out.push_sql(") WHERE a.owner_id = new.owner_id AND a.kind = new.kind");
        Ok(())
    }
}

/// Writes the accounts that have changed, and the transfers.
pub(crate) fn write_book(conn: &mut Conn, book: &AccountBook) -> QueryResult<()> {
    let changed: Vec<AccountStateRow> = book.changed().map(AccountStateRow::of).collect();
    for slice in changed.chunks(ROWS_MAX) {
        UpdateAccounts::of(slice).execute(conn)?;
    }
    for slice in book.transfers().chunks(ROWS_MAX) {
        let rows: Vec<TransferRow> = slice.iter().map(TransferRow::of).collect();
        Transfers::of(&rows).execute(conn)?;
    }
    Ok(())
}
