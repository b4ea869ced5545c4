//! Locks and loads the accounts of payments, and writes them back. One statement locks all accounts of a
//! batch in the lock order, so that batches do not deadlock.

use std::collections::HashMap;

use diesel::connection::SimpleConnection as _;
use diesel::dsl::AsSelect;
use diesel::pg::Pg;
use diesel::pg::sql_types::Array;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::SmallInt;
use guerdon_domain::ledger::{AccountBook, AccountState};
use guerdon_domain::wallets::Account;

use super::{Conn, Db};
use crate::engine::Locking;
use crate::failpoint::is_mutant;
use crate::rows::{AccountStateRow, DeclaredRow, Id, Identifier};
use crate::statement::statement;

/// The maximum number of rows of one statement.
const ROWS_MAX: usize = 10_000;

/// Locks the rows of accounts in the lock order: by kind, then by owner.
const FROM_LOCKED: &str = " FROM accounts JOIN unnest(?::uuid[], ?::smallint[]) AS wanted (wanted_owner, wanted_kind) \
     ON owner_id = wanted_owner AND kind = wanted_kind ORDER BY kind, owner_id FOR NO KEY UPDATE OF accounts";

statement! {
    /// Waits for accounts that other transactions have locked.
    LockAccounts -> AsSelect<AccountStateRow, Db> {
        owners: Array<Identifier> = Vec<Id>,
        kinds: Array<SmallInt> = Vec<i16>,
    }
    "SELECT ", AccountStateRow::COLUMN_NAMES, FROM_LOCKED
}

statement! {
    /// Skips accounts that other transactions have locked.
    LockFreeAccounts -> AsSelect<AccountStateRow, Db> {
        owners: Array<Identifier> = Vec<Id>,
        kinds: Array<SmallInt> = Vec<i16>,
    }
    "SELECT ", AccountStateRow::COLUMN_NAMES, FROM_LOCKED, " SKIP LOCKED"
}

/// Locks accounts, which must be in lock order, and adds them to a book. Accounts that are skipped, because
/// another transaction has locked them, stay unloaded.
pub(crate) fn load_accounts(
    conn: &mut Conn,
    accounts: &[Account],
    locking: Locking,
    book: &mut AccountBook,
) -> QueryResult<()> {
    for chunk in accounts.chunks(ROWS_MAX) {
        let (owners, kinds) = account_keys(chunk);
        let rows: Vec<AccountStateRow> = match locking {
            Locking::Wait => LockAccounts { owners, kinds }.get_results(conn)?,
            Locking::Skip => LockFreeAccounts { owners, kinds }.get_results(conn)?,
        };
        if is_mutant("release_account_locks") {
            conn.batch_execute("COMMIT; BEGIN")?;
        }
        let is_complete = locking == Locking::Wait || is_mutant("treat_locked_as_absent");
        for (account, state) in
            match_accounts(chunk, rows).filter(|(_, state)| is_complete || state.is_some())
        {
            book.insert_loaded(account, state);
        }
    }
    Ok(())
}

fn account_keys(accounts: &[Account]) -> (Vec<Id>, Vec<i16>) {
    accounts.iter().map(|account| (Id(account.owner_id()), account.kind().code())).unzip()
}

/// Each account with its state, if it has one.
fn match_accounts(
    accounts: &[Account],
    rows: Vec<AccountStateRow>,
) -> impl Iterator<Item = (Account, Option<AccountState>)> {
    let mut states: HashMap<(Id, i16), AccountState> =
        rows.into_iter().map(AccountStateRow::into_state).collect();
    accounts
        .iter()
        .map(move |account| (*account, states.remove(&(Id(account.owner_id()), account.kind().code()))))
}

/// Updates locked accounts.
pub(super) struct UpdateAccounts<'r>(<AccountStateRow as DeclaredRow>::Arrays<'r>);

impl<'r> UpdateAccounts<'r> {
    pub(super) fn from_rows(rows: &'r [AccountStateRow]) -> Self {
        Self(AccountStateRow::column_arrays(rows))
    }
}

impl QueryId for UpdateAccounts<'_> {
    type QueryId = UpdateAccounts<'static>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl RunQueryDsl<PgConnection> for UpdateAccounts<'_> {}

impl QueryFragment<Pg> for UpdateAccounts<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(
            "UPDATE accounts SET balance = new.balance, spent = new.spent, entry_count = new.entry_count, \
             rounding_shortfall = new.rounding_shortfall, closed_at = new.closed_at FROM (SELECT unnest(",
        );
        // In a select list, because PostgreSQL would first materialize the result of a call in FROM (see `InsertRows`).
        AccountStateRow::push_arrays(&self.0, "), unnest(", out.reborrow())?;
        out.push_sql(")) AS new (");
        out.push_sql(AccountStateRow::COLUMN_NAMES);
        out.push_sql(") WHERE accounts.owner_id = new.owner_id AND accounts.kind = new.kind");
        Ok(())
    }
}
