//! Migrations that stop nobody: how `migrations/*/NNNN_name/up.sql` is read, run and remembered.
//!
//! A file is plain SQL, and runs in one transaction. Lines of their own say more:
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
//! * `floor NNNN` is the oldest program, by its newest migration, that still works beside the schema, from the first
//!   step of this migration on. Without it that is this migration: older programs are refused.
//! * Each of the others begins a step, which reaches to the next. Steps are run in order and noted as they are done:
//!   what was interrupted goes on where it stopped.
//! * `in a transaction` is what a file without a directive is. PostgreSQL gives a lock up after half a second, so
//!   that whoever stands in line behind it goes on, and the step is tried again.
//!   Give each big table a step of its own: locks that a step has are held while it waits for the next.
//! * `outside a transaction`, PostgreSQL alone: one `CREATE [UNIQUE] INDEX CONCURRENTLY name ON …` or
//!   `DROP INDEX CONCURRENTLY IF EXISTS name`. It waits for whoever is at work, and nobody waits for it. What an
//!   interrupted run left behind, an index that is not valid, is dropped and made anew.
//! * `in batches of TABLE by KEY`: one statement, run for one range of keys after the other, each in a transaction of
//!   its own that is to take a tenth of a second, until the last key. `:batch` in it becomes the range. No key is met
//!   twice. The key has an index, and need not be unique; rows without one are not met. Rows that older programs add
//!   behind its back want a default or a trigger.
//!
//! SQLite, which nobody else has open meanwhile, runs all that is missing in one exclusive transaction, each step in
//! batches as one, without foreign keys, and looks at those of every table before it commits.
//!
//! A step `in batches` or `outside a transaction` has one statement. PostgreSQL gets each statement on its own.
//!
//! On PostgreSQL everything is created in the first schema of the connection's `search_path`, and functions that are
//! declared `SET search_path FROM CURRENT` are bound to it.

mod embedded;
mod journal;
mod migration;
mod postgres;
mod record;
mod script;
mod sqlite;
mod statements;

use diesel::{PgConnection, SqliteConnection};

pub use migration::{Migration, Patience};

use crate::access::OpenError;
use crate::url::DatabaseUrl;

/// The migrations that this program has for such a database, in order.
pub(crate) fn known(url: &DatabaseUrl) -> &'static [Migration] {
    match url {
        DatabaseUrl::Sqlite(_) => embedded::SQLITE,
        DatabaseUrl::Postgres(_) => embedded::POSTGRES,
    }
}

/// Makes the database where it is missing and applies what it lacks of `known`; answers the names of these.
pub(crate) fn migrate(
    url: &DatabaseUrl,
    known: &[Migration],
    patience: Patience,
) -> Result<Vec<String>, OpenError> {
    match url {
        DatabaseUrl::Sqlite(path) => sqlite::migrate(path, known),
        DatabaseUrl::Postgres(url) => postgres::migrate(url, known, patience),
    }
}

/// Refuses an embedded database that this program cannot work on.
pub(crate) fn check_sqlite(conn: &mut SqliteConnection) -> Result<(), OpenError> {
    record::require_all(&sqlite::applied(conn)?, embedded::SQLITE)
}

/// Refuses a PostgreSQL database that this program cannot work on.
pub(crate) fn check_postgres(conn: &mut PgConnection) -> Result<(), OpenError> {
    let applied = postgres::applied(conn)?;
    let applied =
        applied.ok_or_else(|| OpenError::Missing("this PostgreSQL database holds no ledger".into()))?;
    record::require_all(&applied, embedded::POSTGRES)?;
    if journal::is_behind(conn)? { Err(OpenError::Restored) } else { Ok(()) }
}

/// The statements of the migrations for PostgreSQL, in order, without what changes rows in batches and without
/// `CONCURRENTLY`, so that one transaction can run them into an empty schema.
pub(crate) fn structure_of_postgres() -> Result<Vec<String>, String> {
    let texts = structure(embedded::POSTGRES)?;
    Ok(texts.iter().flat_map(|it| statements::statements(it)).map(str::to_owned).collect())
}

/// The texts of the migrations for SQLite, as `structure_of_postgres`.
pub(crate) fn structure_of_sqlite() -> Result<Vec<String>, String> {
    structure(embedded::SQLITE)
}

fn structure(migrations: &[Migration]) -> Result<Vec<String>, String> {
    let text = |it: &Migration| script::Script::parse(it).map(|it| it.structure()).map_err(|e| e.to_string());
    migrations.iter().map(text).collect()
}

/// What opening says of a database to a program that has these migrations.
#[cfg(feature = "testing")]
pub(crate) fn check(url: &DatabaseUrl, known: &[Migration]) -> Result<(), OpenError> {
    use diesel::Connection as _;
    let applied = match url {
        DatabaseUrl::Sqlite(path) => SqliteConnection::establish(&path.to_string_lossy())
            .map_err(|e| OpenError::failed("cannot open", &e))
            .and_then(|mut conn| sqlite::applied(&mut conn))?,
        DatabaseUrl::Postgres(url) => PgConnection::establish(url)
            .map_err(|e| OpenError::failed("cannot connect", &e))
            .and_then(|mut conn| postgres::applied(&mut conn))?
            .unwrap_or_default(),
    };
    record::require_all(&applied, known)
}
