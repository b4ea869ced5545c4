//! Keeps the journal on PostgreSQL in order after a dump is restored into another cluster.
//!
//! The position of a journal entry is the id of its transaction. A dump contains the positions but not the
//! cluster's transaction counter, so new entries would get positions before existing ones. The repair
//! replaces the schema functions that read the counter with versions that add an offset.

use diesel::PgConnection as Conn;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};

use super::migration::Migration;
use super::statements::run_each;
use crate::access::OpenError;

const HAS_JOURNAL: &str =
    "to_regclass('journal_entries') IS NOT NULL AND to_regproc('complete_before') IS NOT NULL";

/// The last position in use. Every event has the position of a journal entry.
const LAST_POSITION: &str =
    "GREATEST((SELECT max(position) FROM journal_entries), (SELECT max(position) FROM audit_entries))";

fn journal_error(cause: &dyn std::fmt::Display) -> OpenError {
    OpenError::failed_because("cannot read the journal position", cause)
}

/// Whether a new entry would get a position before an existing one.
pub(super) fn is_behind(conn: &mut Conn) -> Result<bool, OpenError> {
    let has_journal = diesel::dsl::sql::<diesel::sql_types::Bool>(HAS_JOURNAL);
    if !diesel::select(has_journal).get_result::<bool>(conn).map_err(|e| journal_error(&e))? {
        return Ok(false);
    }
    let last = load_last_position(conn)?.unwrap_or(0);
    // A separate statement, because Citus would evaluate the function on another node if the statement also read a
    // table. The function assigns a new transaction id, which is greater than those of all earlier transactions.
    let next = diesel::dsl::sql::<BigInt>("journal_position()");
    let next: i64 = diesel::select(next).get_result(conn).map_err(|e| journal_error(&e))?;
    Ok(last > next)
}

fn load_last_position(conn: &mut Conn) -> Result<Option<i64>, OpenError> {
    let last = diesel::dsl::sql::<Nullable<BigInt>>(LAST_POSITION);
    diesel::select(last).get_result(conn).map_err(|e| journal_error(&e))
}

/// Makes new positions continue after the last existing one.
pub(super) fn continue_positions(conn: &mut Conn, known: &[Migration]) -> Result<(), OpenError> {
    let last = load_last_position(conn)?.unwrap_or(0);
    let text = known.iter().map(|migration| migration.sql).find_map(position_functions);
    let text = text.ok_or_else(|| journal_error(&"no migration creates its functions"))?;
    let replacement =
        text.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION").replace("+ 0", &format!("+ {last}"));
    conn.transaction(|conn| run_each(conn, &replacement))
        .map_err(|e: diesel::result::Error| journal_error(&e))?;
    log::warn!(position = last; "the database was restored from another server: its journal continues after this position");
    Ok(())
}

/// The part of a migration that creates the functions that read the counter.
fn position_functions(sql: &str) -> Option<&str> {
    let begin = sql.find("CREATE FUNCTION journal_position()")?;
    let end = sql.find("CREATE FUNCTION refuse_change()")?;
    sql.get(begin..end)
}

#[cfg(test)]
mod tests {
    use super::position_functions;
    use crate::migrations::embedded;

    #[test]
    fn position_functions_have_an_offset_each() {
        let text = embedded::POSTGRES.iter().find_map(|migration| position_functions(migration.sql)).unwrap();
        assert_eq!(text.matches("+ 0").count(), 3);
        assert_eq!(text.matches("CREATE FUNCTION").count(), 3);
    }
}
