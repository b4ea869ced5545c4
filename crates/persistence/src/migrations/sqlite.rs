//! Migrates the embedded database with exclusive access, in one transaction.

use std::path::Path;

use diesel::SqliteConnection as Conn;
use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};

use super::migration::Migration;
use super::migration_error;
use super::migration_record::{
    AppliedMigration, CREATE_RECORD_TABLE, PendingMigration, SELECT_APPLIED, find_pending,
};
use super::script::MigrationStep;
use crate::access::OpenError;
use crate::connect::sqlite::{
    connect_to_file, lock_database, open_lock_file, prepare_writer, require_version,
};
use crate::failpoint::failpoint;

/// Applies the missing migrations. Fails if another process uses the database, because a migration may
/// replace a table.
pub(super) fn migrate_sqlite(path: &Path, known: &[Migration]) -> Result<Vec<String>, OpenError> {
    // One process at a time: SQLite does not wait for a lock when a new file changes to WAL mode.
    let migration_lock = open_lock_file(path, "migrating")?;
    migration_lock.lock().map_err(|e| OpenError::failed_because("cannot wait for another migration", &e))?;
    let mut conn = connect_to_file(path)?;
    prepare_writer(&mut conn, 30_000).map_err(|e| migration_error(&e))?;
    require_version(&mut conn)?;
    let pending = find_pending(&load_applied(&mut conn)?, known)?;
    if pending.is_empty() {
        return Ok(Vec::new());
    }
    let _held = lock_database(path)?;
    // Foreign keys cannot be disabled inside a transaction, and would prevent a migration from replacing a
    // table.
    conn.batch_execute("PRAGMA foreign_keys = OFF; BEGIN EXCLUSIVE").map_err(|e| migration_error(&e))?;
    // An error leaves the transaction open; closing the connection rolls it back.
    let done = run_migrations(&mut conn, &pending);
    done.and_then(|names| commit_migrations(&mut conn).map(|()| names).map_err(|e| migration_error(&e)))
}

/// The applied migrations; empty if the database has no table of migrations.
pub(super) fn load_applied(conn: &mut Conn) -> Result<Vec<AppliedMigration>, OpenError> {
    let failed = |e: diesel::result::Error| OpenError::failed_because("cannot read the migrations", &e);
    let table_count = diesel::dsl::sql::<BigInt>(
        "(SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations')",
    );
    if diesel::select(table_count).get_result::<i64>(conn).map_err(failed)? == 0 {
        return Ok(Vec::new());
    }
    diesel::sql_query(SELECT_APPLIED).load(conn).map_err(failed)
}

fn run_migrations(conn: &mut Conn, pending: &[PendingMigration<'_>]) -> Result<Vec<String>, OpenError> {
    conn.batch_execute(CREATE_RECORD_TABLE).map_err(|e| migration_error(&e))?;
    for migration in pending {
        for step in &migration.script.steps {
            run_step(conn, step).map_err(|e| migration.migration.failed_because(&e))?;
        }
        record_migration(conn, migration).map_err(|e| migration_error(&e))?;
    }
    check_foreign_keys(conn)?;
    Ok(pending.iter().map(|pending| pending.migration.name.to_owned()).collect())
}

fn run_step(conn: &mut Conn, step: &MigrationStep) -> Result<(), String> {
    let done = match step {
        MigrationStep::Transaction(sql) => run_script(conn, sql),
        MigrationStep::Batches(batches) => run_script(conn, &batches.for_range("TRUE")), // one batch: no other process is waiting for the lock
        MigrationStep::ConcurrentIndex(_) => {
            return Err("SQLite does not support steps outside a transaction".into());
        }
    };
    done.map_err(|e| e.to_string())
}

fn run_script(conn: &mut Conn, sql: &str) -> QueryResult<()> {
    failpoint("sqlite.migrate.step")?;
    conn.batch_execute(sql)
}

fn record_migration(conn: &mut Conn, migration: &PendingMigration<'_>) -> QueryResult<()> {
    failpoint("sqlite.migrate.record")?;
    conn.batch_execute(&migration.record_statement(migration.script.steps.len()))
}

fn commit_migrations(conn: &mut Conn) -> QueryResult<()> {
    failpoint("sqlite.migrate.commit")?;
    conn.batch_execute("COMMIT")?;
    failpoint("sqlite.migrate.committed").map_err(Into::into)
}

fn check_foreign_keys(conn: &mut Conn) -> Result<(), OpenError> {
    let query = diesel::dsl::sql::<(Text, Nullable<BigInt>, Text, Integer)>("PRAGMA foreign_key_check");
    let found: Vec<(String, Option<i64>, String, i32)> =
        query.get_results(conn).map_err(|e| migration_error(&e))?;
    let Some((table, rowid, parent, _)) = found.first() else { return Ok(()) };
    let row = rowid.map_or_else(|| "a row".to_owned(), |rowid| format!("row {rowid}"));
    Err(migration_error(&format!(
        "nothing was changed: {row} of {table} would refer to a missing row of {parent} ({} in total)",
        found.len()
    )))
}
