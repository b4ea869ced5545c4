//! Checks that a connection keeps its session. A pooler may give each transaction a different session, with
//! the settings, prepared statements and locks of another client.

use std::hash::{BuildHasher as _, RandomState};

use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use diesel::result::Error;

use crate::access::OpenError;

/// The message of the error that a check raises for a mismatch. A check returns no result, because a query
/// with a result would be prepared first, possibly in a different session from the one in which it runs.
const MISMATCH: &str = "guerdon: session mismatch";
/// The number of attempts. One is not enough, because other clients of the pooler may hide the problem.
const ATTEMPTS: usize = 3;

/// Fails if a connection does not keep its session. No statement may have been prepared on either connection
/// before.
pub(crate) fn require_own_sessions(
    one: &mut PgConnection,
    other: &mut PgConnection,
) -> Result<(), OpenError> {
    for _ in 0..ATTEMPTS {
        let mark = RandomState::new().hash_one(0).to_string();
        let are_own = are_own_sessions(one, other, &mark);
        if !are_own.map_err(|e| OpenError::failed_because("cannot read PostgreSQL's sessions", &e))? {
            return Err(OpenError::Failed(
                "the connection pooler in front of PostgreSQL changes the session between transactions, which breaks session \
                 settings, prepared statements and advisory locks: use session pooling (PgBouncer: pool_mode = session), \
                 or connect to PostgreSQL directly (database.url)"
                    .into(),
            ));
        }
    }
    Ok(())
}

/// Marks a session, and checks that it stays with its connection while the other connection holds a session
/// in a transaction.
fn are_own_sessions(one: &mut PgConnection, other: &mut PgConnection, mark: &str) -> QueryResult<bool> {
    one.batch_execute(&format!("SET guerdon.session = '{mark}'"))?;
    if !has_mark(one, mark, true)? {
        return Ok(false);
    }
    other.batch_execute("BEGIN")?;
    let is_other = has_mark(other, mark, false);
    let is_same = has_mark(one, mark, true);
    other.batch_execute("ROLLBACK")?;
    Ok(is_other? && is_same?)
}

/// Returns true if the session has the mark and `expected` is true, or if it does not have the mark and
/// `expected` is false.
fn has_mark(conn: &mut PgConnection, mark: &str, expected: bool) -> QueryResult<bool> {
    let result = conn.batch_execute(&format!(
        "DO $$ BEGIN IF (current_setting('guerdon.session', true) IS NOT DISTINCT FROM '{mark}') <> {expected} \
         THEN RAISE EXCEPTION '{MISMATCH}'; END IF; END $$"
    ));
    match result {
        Ok(()) => Ok(true),
        Err(Error::DatabaseError(_, info)) if info.message() == MISMATCH => Ok(false),
        Err(cause) => Err(cause),
    }
}

#[cfg(test)]
mod tests {
    use diesel::connection::SimpleConnection as _;

    use super::super::postgres::connect_to_server;
    use super::{are_own_sessions, require_own_sessions};
    use crate::testing::create_databases;
    use crate::url::DatabaseUrl;

    #[test]
    fn a_session_with_a_foreign_mark_is_rejected() {
        for database in create_databases() {
            let DatabaseUrl::Postgres(url) = database.database_url() else { continue };
            let [mut one, mut other] = [(); 2].map(|()| connect_to_server(&url, 2).unwrap());
            require_own_sessions(&mut one, &mut other).unwrap();
            other.batch_execute("SET guerdon.session = '7'").unwrap();
            assert!(!are_own_sessions(&mut one, &mut other, "7").unwrap());
            require_own_sessions(&mut one, &mut other).unwrap();
        }
    }
}
