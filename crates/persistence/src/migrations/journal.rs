//! The order of the journal on PostgreSQL: facts stand where their transaction's number says. A dump that is restored
//! into another cluster brings its facts along, but not that count, which begins anew: what is written then would stand
//! before what is there. So the functions of the schema that know the count are replaced by some that add an offset to it.

use diesel::prelude::*;
use diesel::sql_types::BigInt;

use super::migration::Migration;
use super::statements::run_each;
use crate::access::OpenError;
use diesel::PgConnection as Conn;

const JOURNAL: &str = "to_regclass('causes') IS NOT NULL AND to_regproc('settled_before') IS NOT NULL";

/// The last position that something has. Every event has the position of a journal entry.
const LAST: &str = "GREATEST((SELECT max(position) FROM causes), (SELECT max(position) FROM audit_entries))";

fn failed(cause: &dyn std::fmt::Display) -> OpenError {
    OpenError::failed("cannot read the order of the journal", cause)
}

/// Whether what is written now would stand before something that is there.
pub(super) fn is_behind(conn: &mut Conn) -> Result<bool, OpenError> {
    let there = diesel::dsl::sql::<diesel::sql_types::Bool>(JOURNAL);
    if !diesel::select(there).get_result::<bool>(conn).map_err(|e| failed(&e))? {
        return Ok(false);
    }
    // Whoever asks takes a number of its own, which is above that of every transaction before.
    let behind =
        diesel::dsl::sql::<diesel::sql_types::Bool>(&format!("COALESCE({LAST}, 0) > journal_position()"));
    diesel::select(behind).get_result(conn).map_err(|e| failed(&e))
}

/// Lets the journal go on behind its last fact.
pub(super) fn catch_up(conn: &mut Conn, known: &[Migration]) -> Result<(), OpenError> {
    let last = diesel::dsl::sql::<BigInt>(LAST);
    let last: i64 = diesel::select(last).get_result(conn).map_err(|e| failed(&e))?;
    let text = known.iter().map(|it| it.sql).find_map(functions);
    let text = text.ok_or_else(|| failed(&"no migration makes its functions"))?;
    let further =
        text.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION").replace("+ 0", &format!("+ {last}"));
    conn.transaction(|conn| run_each(conn, &further)).map_err(|e: diesel::result::Error| failed(&e))?;
    log::warn!("the database was restored from elsewhere: its journal goes on behind position {last}");
    Ok(())
}

/// The part of a migration that creates the functions that know the count.
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
        let text = embedded::POSTGRES.iter().find_map(|it| functions(it.sql)).unwrap();
        assert_eq!(text.matches("+ 0").count(), 3);
        assert_eq!(text.matches("CREATE FUNCTION").count(), 3);
    }
}
