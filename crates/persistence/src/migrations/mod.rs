//! Migrations that do not interrupt the service: how each `migrations/*/NNNN_name/up.sql` is read, executed
//! and recorded.
//!
//! A file contains plain SQL and runs in one transaction, unless it has directives on lines of their own:
//!
//! ```sql
//! -- guerdon: floor 0004
//! ALTER TABLE events ADD COLUMN shard smallint;
//!
//! -- guerdon: outside a transaction
//! CREATE INDEX CONCURRENTLY events_shard ON events (shard, id);
//!
//! -- guerdon: in batches of events by id
//! UPDATE events SET shard = attempts % 4 WHERE :batch AND shard IS NULL;
//!
//! -- guerdon: in a transaction
//! ALTER TABLE events ADD CONSTRAINT has_shard CHECK (shard IS NOT NULL) NOT VALID;
//! ```
//!
//! * `floor NNNN` names the oldest program, by its newest migration, that still works with the schema once
//!   this migration has started. Without it the floor is this migration: older programs are refused.
//! * Each other directive starts a step, which ends at the next directive. Steps run in order and are
//!   recorded when they are done. An interrupted migration continues at the step that was interrupted.
//! * `in a transaction` is the default for a file without directives. PostgreSQL stops waiting for a lock
//!   after half a second, so that requests that queue for the same lock can continue, and the step is
//!   retried. Give each big table a separate step: a step holds its locks while it waits for the next one.
//! * `outside a transaction` is for PostgreSQL only: one `CREATE [UNIQUE] INDEX CONCURRENTLY name ON …` or
//!   `DROP INDEX CONCURRENTLY IF EXISTS name`. The statement waits for transactions in progress and blocks
//!   none. If an interrupted run left an invalid index behind, the index is dropped and created again.
//! * `in batches of TABLE by KEY` is one statement that runs once for each range of keys, each time in a
//!   transaction that should take a tenth of a second. `:batch` in the statement becomes the range. Each key
//!   is visited once. The key must have an index and need not be unique. Rows with a null key are not
//!   visited. If older programs can add rows in ranges that are already done, those rows need a default or a
//!   trigger.
//!
//! On SQLite, no other process may have the database open. All missing migrations run in one exclusive
//! transaction, without foreign keys, each step `in batches` as a single statement. The foreign keys of every
//! table are checked before the commit.
//!
//! A step `in batches` or `outside a transaction` has one statement. PostgreSQL receives each statement
//! separately.
//!
//! On PostgreSQL everything is created in the first schema of the connection's `search_path`. Functions that
//! are declared `SET search_path FROM CURRENT` are bound to that schema.

mod embedded;
mod journal_positions;
mod migration;
mod migration_record;
mod postgres;
mod script;
mod sqlite;
mod statements;

use diesel::{PgConnection, SqliteConnection};

pub use migration::{LockRetryPolicy, Migration};

use crate::access::OpenError;
use crate::url::DatabaseUrl;

/// The migrations of this program for a kind of database, in order.
pub(crate) fn migrations_for(url: &DatabaseUrl) -> &'static [Migration] {
    match url {
        DatabaseUrl::Sqlite(_) => embedded::SQLITE,
        DatabaseUrl::Postgres(_) => embedded::POSTGRES,
    }
}

/// Creates the database if it does not exist and applies the missing migrations of `known`. Returns their
/// names.
pub(crate) fn apply_migrations(
    url: &DatabaseUrl,
    known: &[Migration],
    retry_policy: LockRetryPolicy,
) -> Result<Vec<String>, OpenError> {
    match url {
        DatabaseUrl::Sqlite(path) => sqlite::migrate_sqlite(path, known),
        DatabaseUrl::Postgres(url) => postgres::migrate_postgres(url, known, retry_policy),
    }
}

/// Fails if this program cannot work with the embedded database.
pub(crate) fn check_sqlite(conn: &mut SqliteConnection) -> Result<(), OpenError> {
    migration_record::require_all(&sqlite::load_applied(conn)?, embedded::SQLITE)
}

/// Fails if this program cannot work with the PostgreSQL database.
pub(crate) fn check_postgres(conn: &mut PgConnection) -> Result<(), OpenError> {
    let applied = postgres::load_applied(conn)?;
    let applied =
        applied.ok_or_else(|| OpenError::Missing("this PostgreSQL database contains no ledger".into()))?;
    migration_record::require_all(&applied, embedded::POSTGRES)?;
    if journal_positions::is_behind(conn)? { Err(OpenError::Restored) } else { Ok(()) }
}

/// The statements of the migrations for PostgreSQL, in order, without steps in batches and without
/// `CONCURRENTLY`, so that one transaction can run them in an empty schema.
pub(crate) fn postgres_schema() -> Result<Vec<String>, String> {
    let texts = schema_statements(embedded::POSTGRES)?;
    Ok(texts.iter().flat_map(|text| statements::split_statements(text)).map(str::to_owned).collect())
}

/// The SQL of the migrations for SQLite, as in `postgres_schema`.
pub(crate) fn sqlite_schema() -> Result<Vec<String>, String> {
    schema_statements(embedded::SQLITE)
}

fn schema_statements(migrations: &[Migration]) -> Result<Vec<String>, String> {
    let text = |migration: &Migration| {
        script::Script::parse(migration).map(|script| script.schema_sql()).map_err(|e| e.to_string())
    };
    migrations.iter().map(text).collect()
}

fn migration_error(cause: &dyn std::fmt::Display) -> OpenError {
    OpenError::failed_because("cannot migrate the database", cause)
}

/// Returns the result that a program with these migrations would get when it opens the database.
#[cfg(feature = "testing")]
pub(crate) fn check_applied(url: &DatabaseUrl, known: &[Migration]) -> Result<(), OpenError> {
    use diesel::Connection as _;
    let applied = match url {
        DatabaseUrl::Sqlite(path) => SqliteConnection::establish(&path.to_string_lossy())
            .map_err(|e| OpenError::failed_because("cannot open", &e))
            .and_then(|mut conn| sqlite::load_applied(&mut conn))?,
        DatabaseUrl::Postgres(url) => PgConnection::establish(url)
            .map_err(|e| OpenError::failed_because("cannot connect", &e))
            .and_then(|mut conn| postgres::load_applied(&mut conn))?
            .unwrap_or_default(),
    };
    migration_record::require_all(&applied, known)
}
