//! Keeps the journal on PostgreSQL in order after a dump is restored into another cluster.
//!
//! The position of a journal entry is the id of its transaction. A dump contains the positions but not the
//! cluster's transaction counter, so new entries would get positions before existing ones. The repair
//! replaces the functions of the schema that read the counter by versions that add an offset.

use diesel::prelude::*;
use diesel::sql_types::BigInt;

use super::migration::Migration;
use super::statements::run_each;
use crate::access::OpenError;
use diesel::PgConnection as Conn;

const JOURNAL: &str =
    "to_regclass('journal_entries') IS NOT NULL AND to_regproc('settled_before') IS NOT NULL";

/// The last position in use. Every event has the position of a journal entry.
const LAST: &str =
    "GREATEST((SELECT max(position) FROM journal_entries), (SELECT max(position) FROM audit_entries))";

fn failed(cause: &dyn std::fmt::Display) -> OpenError {
    OpenError::failed("cannot read the order of the journal", cause)
}

/// Whether a new entry would get a position before an existing one.
pub(super) fn is_behind(conn: &mut Conn) -> Result<bool, OpenError> {
    let there = diesel::dsl::sql::<diesel::sql_types::Bool>(JOURNAL);
    if !diesel::select(there).get_result::<bool>(conn).map_err(|e| failed(&e))? {
        return Ok(false);
    }
    // The query takes a new transaction id, which is greater than those of all earlier transactions.
    let behind =
        diesel::dsl::sql::<diesel::sql_types::Bool>(&format!("COALESCE({LAST}, 0) > journal_position()"));
    diesel::select(behind).get_result(conn).map_err(|e| failed(&e))
}

/// Makes new positions continue after the last existing one.
pub(super) fn catch_up(conn: &mut Conn, known: &[Migration]) -> Result<(), OpenError> {
    let last = diesel::dsl::sql::<BigInt>(LAST);
    let last: i64 = diesel::select(last).get_result(conn).map_err(|e| failed(&e))?;
    let text = known.iter().map(|migration| migration.sql).find_map(functions);
    let text = text.ok_or_else(|| failed(&"no migration makes its functions"))?;
    let further =
        text.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION").replace("+ 0", &format!("+ {last}"));
    conn.transaction(|conn| run_each(conn, &further)).map_err(|e: diesel::result::Error| failed(&e))?;
    log::warn!("the database was restored from elsewhere: its journal goes on behind position {last}");
    Ok(())
}

/// The part of a migration that creates the functions that read the counter.
fn functions(sql: &str) -> Option<&str> {
    let begin = sql.find("CREATE FUNCTION journal_position()")?;
    let end = sql.find("CREATE FUNCTION refuse_change()")?;
    sql.get(begin..end)
}

#[cfg(test)]
mod tests {
    use super::functions;
    use crate::migrations::embedded;

    #[test]
    fn the_functions_are_found_and_each_count_has_an_offset() {
        let text = embedded::POSTGRES.iter().find_map(|migration| functions(migration.sql)).unwrap();
        assert_eq!(text.matches("+ 0").count(), 3);
        assert_eq!(text.matches("CREATE FUNCTION").count(), 3);
    }
}
