//! Migrates the embedded database with exclusive access, in one transaction.

use std::path::Path;

use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};

use super::migration::Migration;
use super::record::{APPLIED, Applied, Pending, TABLE, pending};
use super::script::Step;
use crate::access::OpenError;
use crate::sqlite::connect::{assert_version, connect, lock, lock_file, prepare_writer};
use diesel::SqliteConnection as Conn;

/// Applies the missing migrations. Fails if another process uses the database, because a migration may
/// replace a table.
pub(super) fn migrate(path: &Path, known: &[Migration]) -> Result<Vec<String>, OpenError> {
    // One process at a time: SQLite does not wait for a lock when a new file changes to WAL mode.
    let turn = lock_file(path, "migrating")?;
    turn.lock().map_err(|e| OpenError::failed("cannot wait for another migration", &e))?;
    let mut conn = connect(path)?;
    prepare_writer(&mut conn, 30_000).map_err(|e| failed(&e))?;
    assert_version(&mut conn)?;
    let pending = pending(&applied(&mut conn)?, known)?;
    if pending.is_empty() {
        return Ok(Vec::new());
    }
    let _held = lock(path)?;
    // Foreign keys cannot be disabled inside a transaction, and would prevent a migration from replacing a
    // table.
    conn.batch_execute("PRAGMA foreign_keys = OFF; BEGIN EXCLUSIVE").map_err(|e| failed(&e))?;
    let done = run(&mut conn, &pending); // an error leaves the transaction open; closing the connection rolls it back
    done.and_then(|names| conn.batch_execute("COMMIT").map(|()| names).map_err(|e| failed(&e)))
}

fn failed(cause: &dyn std::fmt::Display) -> OpenError {
    OpenError::failed("cannot migrate the database", cause)
}

/// The applied migrations; empty if the database has no table of migrations.
pub(super) fn applied(conn: &mut Conn) -> Result<Vec<Applied>, OpenError> {
    let failed = |e: diesel::result::Error| OpenError::failed("cannot read the migrations", &e);
    let there = diesel::dsl::sql::<BigInt>(
        "(SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations')",
    );
    if diesel::select(there).get_result::<i64>(conn).map_err(failed)? == 0 {
        return Ok(Vec::new());
    }
    diesel::sql_query(APPLIED).load(conn).map_err(failed)
}

fn run(conn: &mut Conn, pending: &[Pending<'_>]) -> Result<Vec<String>, OpenError> {
    conn.batch_execute(TABLE).map_err(|e| failed(&e))?;
    for it in pending {
        for step in &it.script.steps {
            run_step(conn, step).map_err(|e| it.migration.failed(&e))?;
        }
        conn.batch_execute(&it.note(it.script.steps.len())).map_err(|e| failed(&e))?;
    }
    check_foreign_keys(conn)?;
    Ok(pending.iter().map(|pending| pending.migration.name.to_owned()).collect())
}

fn run_step(conn: &mut Conn, step: &Step) -> Result<(), String> {
    let done = match step {
        Step::Together(sql) => conn.batch_execute(sql),
        Step::Batches(batches) => conn.batch_execute(&batches.of("TRUE")), // no other process is waiting
        Step::Concurrently(_) => return Err("SQLite runs nothing outside a transaction".into()),
    };
    done.map_err(|e| e.to_string())
}

fn check_foreign_keys(conn: &mut Conn) -> Result<(), OpenError> {
    #[derive(QueryableByName)]
    struct Violation {
        #[diesel(sql_type = Text)]
        table: String,
        #[diesel(sql_type = Nullable<BigInt>)]
        rowid: Option<i64>,
        #[diesel(sql_type = Text)]
        parent: String,
    }
    let found: Vec<Violation> =
        diesel::sql_query("PRAGMA foreign_key_check").load(conn).map_err(|e| failed(&e))?;
    let Some(first) = found.first() else { return Ok(()) };
    let row = first.rowid.map_or_else(|| "a row".to_owned(), |rowid| format!("row {rowid}"));
    Err(failed(&format!(
        "nothing was changed: {row} of {} would name no row of {} ({} such in all)",
        first.table,
        first.parent,
        found.len()
    )))
}
