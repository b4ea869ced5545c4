//! Recovery from an interrupted migration on PostgreSQL, and migrations that cannot get their locks.

use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, PgConnection};
use guerdon_persistence::testing::{TestDatabase, check_with, migrate_with, postgres_if_covered};
use guerdon_persistence::{DatabaseUrl, OpenError};

use super::{BATCHED_MIGRATION, FIRST_MIGRATION, INDEX, SECOND_MIGRATION, SHORT_RETRIES, with_things};

/// A PostgreSQL database with `count` things. `None` if this run does not cover PostgreSQL.
fn postgres_with_things(count: u32) -> Option<(TestDatabase, String)> {
    let database = with_things(postgres_if_covered()?, count);
    let DatabaseUrl::Postgres(url) = database.database_url() else { unreachable!() };
    Some((database, url))
}

#[test]
fn an_index_left_by_an_interrupted_run_is_rebuilt() {
    let Some((database, url)) = postgres_with_things(3) else { return };
    let mut conn = PgConnection::establish(&url).unwrap();
    // Duplicate rows: the unique index cannot be created, and its remains are dropped.
    database.execute_sql("", "UPDATE things SET half = 1 WHERE id < 3");
    let migrate = || migrate_with(&database.database_url(), &[FIRST_MIGRATION, INDEX], SHORT_RETRIES);
    let refused = migrate().unwrap_err().to_string();
    assert!(refused.contains("0002_index") && refused.contains("things_half"), "{refused}");
    assert_eq!(database.count_rows("pg_class WHERE relname = 'things_half'"), 0);
    assert_eq!(database.count_rows("schema_migrations WHERE steps_done = 1 AND applied_at IS NULL"), 1);
    assert!(matches!(check_with(&database.database_url(), &[FIRST_MIGRATION, INDEX]), Err(OpenError::Older)));
    // A killed process drops nothing.
    assert!(conn.batch_execute("CREATE UNIQUE INDEX CONCURRENTLY things_half ON things (half)").is_err());
    let invalid = "pg_index WHERE indexrelid = to_regclass('things_half') AND NOT indisvalid";
    assert_eq!(database.count_rows(invalid), 1);
    database.execute_sql("", "UPDATE things SET half = id");
    assert_eq!(migrate().unwrap(), ["0002_index"], "the first step is not repeated");
    assert_eq!(
        database.count_rows("pg_index WHERE indexrelid = to_regclass('things_half') AND indisvalid"),
        1
    );
    // The index was created, but the process was killed before it recorded that.
    let forget = "UPDATE schema_migrations SET steps_done = 1, applied_at = NULL WHERE version = '0002'";
    database.execute_sql("", forget);
    assert_eq!(migrate().unwrap(), ["0002_index"]);
    check_with(&database.database_url(), &[FIRST_MIGRATION, INDEX]).unwrap();
}

#[test]
fn interrupted_batches_resume_where_they_stopped() {
    let Some((database, url)) = postgres_with_things(5_000) else { return };
    let mut conn = PgConnection::establish(&url).unwrap();
    // Another session holds a row lock for longer than the migration's lock timeout.
    conn.batch_execute("BEGIN; SELECT FROM things WHERE id = 3001 FOR UPDATE").unwrap();
    let migrate =
        || migrate_with(&database.database_url(), &[FIRST_MIGRATION, BATCHED_MIGRATION], SHORT_RETRIES);
    let refused = migrate().unwrap_err().to_string();
    assert!(refused.contains("another session holds a lock"), "{refused}");
    let done = database.count_rows("things WHERE half = id / 2");
    assert!((1..=3_000).contains(&done), "{done}: the batches before the locked row");
    conn.batch_execute("COMMIT").unwrap();
    assert_eq!(migrate().unwrap(), ["0002_halves"]);
    assert_eq!(database.count_rows("things WHERE half = id / 2"), 4_999);
}

#[test]
fn a_lock_timeout_fails_the_migration_and_names_the_lock_holders() {
    let Some((database, url)) = postgres_with_things(1) else { return };
    let mut reader = PgConnection::establish(&url).unwrap();
    reader.batch_execute("SET application_name = 'report'; BEGIN; SELECT FROM things").unwrap();
    let migrate =
        || migrate_with(&database.database_url(), &[FIRST_MIGRATION, SECOND_MIGRATION], SHORT_RETRIES);
    let refused = migrate().unwrap_err().to_string();
    assert!(refused.contains("0002_second") && refused.contains("report"), "{refused}");
    reader.batch_execute("COMMIT").unwrap();
    migrate().unwrap();
}
