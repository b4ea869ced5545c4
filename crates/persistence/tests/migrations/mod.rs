//! Migrations: who may migrate a schema, what an interrupted run leaves behind, and what stops a run.

mod interrupted;
mod under_load;

use std::sync::Barrier;
use std::time::Duration;

use guerdon_persistence::testing::{
    LockRetryPolicy, Migration, TestDatabase, check_with, create_databases, create_sqlite, migrate_with,
};
use guerdon_persistence::{Access, DatabaseUrl, OpenError, migrate, open};

const FIRST_MIGRATION: Migration = Migration::new(
    "0001_first",
    "CREATE TABLE things (id bigint NOT NULL PRIMARY KEY, half bigint); \
     CREATE TABLE parts (id bigint NOT NULL PRIMARY KEY, thing_id bigint NOT NULL REFERENCES things (id));",
);
const SECOND_MIGRATION: Migration =
    Migration::new("0002_second", "-- guerdon: floor 0001\nALTER TABLE things ADD COLUMN name text;");
const THIRD_MIGRATION: Migration =
    Migration::new("0003_third", "-- guerdon: floor 0002\nALTER TABLE things ADD COLUMN size bigint;");
const BATCHED_MIGRATION: Migration = Migration::new(
    "0002_halves",
    "-- guerdon: in batches of things by id\n\
     UPDATE things SET half = coalesce(half, 0) + id / 2 WHERE :batch AND id <> 4999;",
);
const INDEX: Migration = Migration::new(
    "0002_index",
    "ALTER TABLE things ADD COLUMN name text;\n\
     -- guerdon: outside a transaction\n\
     CREATE UNIQUE INDEX CONCURRENTLY things_half ON things (half);",
);

/// Short timeouts, so that a test that waits for a lock ends soon.
const SHORT_RETRIES: LockRetryPolicy = LockRetryPolicy {
    lock_timeout: Duration::from_millis(50),
    initial_pause: Duration::from_millis(10),
    total_time: Duration::from_millis(500),
};

/// Empties the database, or chooses a new file next to it, and returns the URL of the empty database.
fn empty_database(database: &TestDatabase) -> DatabaseUrl {
    match database.database_url() {
        DatabaseUrl::Sqlite(path) => DatabaseUrl::Sqlite(path.with_file_name("fresh.db")),
        address @ DatabaseUrl::Postgres(_) => {
            database.execute_sql("", "DROP SCHEMA public CASCADE; CREATE SCHEMA public;");
            address
        }
    }
}

/// Opens the database that `empty_database` created, for inspection.
fn open_for_inspection(database: TestDatabase) -> TestDatabase {
    if let DatabaseUrl::Sqlite(path) = database.database_url() {
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(path.with_file_name("fresh.db"), path).unwrap();
    }
    database
}

fn create_rows_sql(count: u32) -> String {
    format!(
        "INSERT INTO things (id) WITH RECURSIVE ids (id) AS \
         (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < {count}) SELECT id FROM ids"
    )
}

/// A database with the schema of `FIRST_MIGRATION` and `count` things.
fn with_things(database: TestDatabase, count: u32) -> TestDatabase {
    migrate_with(&empty_database(&database), &[FIRST_MIGRATION], SHORT_RETRIES).unwrap();
    let database = open_for_inspection(database);
    database.execute_sql(&create_rows_sql(count), &create_rows_sql(count));
    database
}

/// `TEST_MIGRATION_ROUNDS` sets the number of rounds.
#[test]
fn eight_concurrent_migrations_succeed_and_one_does_the_work() {
    let rounds = std::env::var("TEST_MIGRATION_ROUNDS").ok().map_or(1, |rounds| rounds.parse().unwrap());
    let at_once = |one: &(dyn Fn() -> usize + Sync)| -> usize {
        let barrier = Barrier::new(8);
        std::thread::scope(|scope| {
            let one = || {
                barrier.wait();
                one()
            };
            let all: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
            all.into_iter().map(|thread| thread.join().unwrap()).sum()
        })
    };
    for database in (0..rounds).flat_map(|_| create_databases()) {
        let fresh = empty_database(&database);
        let ran = at_once(&|| migrate(&fresh).unwrap().len());
        assert_eq!(ran, std::fs::read_dir("../../migrations/sqlite").unwrap().count());
        open(&fresh, Access::Command).unwrap();
        if !database.is_embedded() {
            // A process that waits for the migration lock must not block a concurrent index build.
            migrate_with(&empty_database(&database), &[FIRST_MIGRATION], SHORT_RETRIES).unwrap();
            let ran =
                at_once(&|| migrate_with(&fresh, &[FIRST_MIGRATION, INDEX], SHORT_RETRIES).unwrap().len());
            assert_eq!(ran, 1);
        }
    }
}

#[test]
fn missing_locked_newer_and_older_databases_are_refused() {
    for database in create_databases() {
        let open = |url: &DatabaseUrl| open(url, Access::Command).map(drop);
        if let DatabaseUrl::Sqlite(path) = database.database_url() {
            let missing = DatabaseUrl::Sqlite(path.with_file_name("missing.db"));
            let refused = open(&missing).unwrap_err();
            assert!(matches!(refused, OpenError::Missing(_)));
            assert!(refused.to_string().contains("missing.db does not exist: check --config"), "{refused}");
            let held = database.open_store();
            assert!(matches!(open(&database.database_url()), Err(OpenError::Locked(_))));
            assert_eq!(migrate(&database.database_url()).unwrap(), [""; 0], "nothing is missing");
            drop(held);
        } else {
            database.execute_sql("", "ALTER TABLE schema_migrations RENAME TO away");
            assert!(matches!(open(&database.database_url()), Err(OpenError::Missing(_))));
            database.execute_sql("", "ALTER TABLE away RENAME TO schema_migrations");
        }
        open(&database.database_url()).unwrap();
        let add = "INSERT INTO schema_migrations (version, name, checksum, floor, steps_done) \
                   VALUES ('9999', '9999_later', '', '9998', 0)";
        database.execute_sql(add, add);
        assert!(
            matches!(open(&database.database_url()), Err(OpenError::Newer(migration)) if migration == "9999_later")
        );
        assert!(matches!(migrate(&database.database_url()), Err(OpenError::Newer(_))));
        let lower = "UPDATE schema_migrations SET floor = '0001' WHERE version = '9999'";
        database.execute_sql(lower, lower);
        open(&database.database_url()).unwrap();
        let changed = "UPDATE schema_migrations SET checksum = 'another' WHERE version = '0001'";
        database.execute_sql(changed, changed);
        assert!(matches!(
            open(&database.database_url()),
            Err(OpenError::Changed(migration)) if migration.starts_with("0001_")
        ));
        let remove = "DELETE FROM schema_migrations";
        database.execute_sql(remove, remove);
        assert!(matches!(open(&database.database_url()), Err(OpenError::Older)));
    }
}

#[test]
fn a_program_works_with_newer_migrations_whose_floor_it_reaches() {
    for database in create_databases() {
        let url = empty_database(&database);
        let ran =
            migrate_with(&url, &[FIRST_MIGRATION, SECOND_MIGRATION, THIRD_MIGRATION], SHORT_RETRIES).unwrap();
        assert_eq!(ran, ["0001_first", "0002_second", "0003_third"]);
        check_with(&url, &[FIRST_MIGRATION, SECOND_MIGRATION, THIRD_MIGRATION]).unwrap();
        check_with(&url, &[FIRST_MIGRATION, SECOND_MIGRATION]).unwrap();
        assert_eq!(
            migrate_with(&url, &[FIRST_MIGRATION, SECOND_MIGRATION], SHORT_RETRIES).unwrap(),
            [""; 0],
            "unknown newer objects are ignored"
        );
        let Err(OpenError::Newer(name)) = check_with(&url, &[FIRST_MIGRATION]) else { panic!() };
        assert_eq!(name, "0003_third");
        // A migration of another branch must not be applied after a newer program's migrations.
        let other = Migration::new("0002_other", "SELECT 1;");
        assert!(matches!(check_with(&url, &[FIRST_MIGRATION, other]), Err(OpenError::Changed(_))));
        assert!(matches!(
            migrate_with(&url, &[FIRST_MIGRATION, THIRD_MIGRATION], SHORT_RETRIES),
            Err(OpenError::Newer(_))
        ));
    }
}

#[test]
fn a_migration_that_was_changed_after_it_was_applied_is_named() {
    for database in create_databases() {
        let url = empty_database(&database);
        migrate_with(&url, &[FIRST_MIGRATION, SECOND_MIGRATION], SHORT_RETRIES).unwrap();
        let changed =
            [FIRST_MIGRATION, Migration::new("0002_second", "ALTER TABLE things ADD COLUMN title text;")];
        for refused in [
            check_with(&url, &changed).unwrap_err(),
            migrate_with(&url, &changed, SHORT_RETRIES).unwrap_err(),
        ] {
            assert!(refused.to_string().contains("0002_second"), "{refused}");
        }
    }
}

#[test]
fn a_failed_migration_leaves_nothing_and_earlier_ones_remain_only_on_postgresql() {
    for database in create_databases() {
        let url = empty_database(&database);
        let broken = Migration::new("0002_broken", "CREATE TABLE more (id bigint); SELECT id FROM nowhere;");
        let refused = migrate_with(&url, &[FIRST_MIGRATION, broken], SHORT_RETRIES).unwrap_err().to_string();
        assert!(refused.contains("0002_broken") && refused.contains("nowhere"), "{refused}");
        let before = check_with(&url, &[FIRST_MIGRATION]);
        assert_eq!(before.is_err(), database.is_embedded());
        let mended = Migration::new("0002_broken", "CREATE TABLE more (id bigint);");
        migrate_with(&url, &[FIRST_MIGRATION, mended], SHORT_RETRIES).unwrap();
    }
}

#[test]
fn batches_process_every_row_once() {
    for database in create_databases() {
        let database = with_things(database, 5_000);
        assert_eq!(
            migrate_with(&database.database_url(), &[FIRST_MIGRATION, BATCHED_MIGRATION], SHORT_RETRIES)
                .unwrap(),
            ["0002_halves"]
        );
        assert_eq!(database.count_rows("things WHERE half = id / 2"), 4_999);
    }
}

#[test]
fn a_dangling_foreign_key_fails_the_migration_on_sqlite() {
    let database = with_things(create_sqlite(), 3);
    database.execute_sql("INSERT INTO parts (id, thing_id) VALUES (7, 2)", "");
    // Recreates a table that foreign keys refer to. The old table can be dropped only while foreign keys are off.
    let anew = |left: u32| {
        format!(
            "CREATE TABLE new_things (id bigint NOT NULL PRIMARY KEY, half bigint, name text); \
             INSERT INTO new_things (id, half) SELECT id, half FROM things WHERE id <= {left}; \
             DROP TABLE things; ALTER TABLE new_things RENAME TO things;"
        )
    };
    let migration = |left: u32| [FIRST_MIGRATION, Migration::new("0002_anew", anew(left).leak())];
    let refused =
        migrate_with(&database.database_url(), &migration(1), SHORT_RETRIES).unwrap_err().to_string();
    assert!(
        refused.contains("row 1 of parts would refer to a missing row of things (1 in total)"),
        "{refused}"
    );
    assert_eq!(database.count_rows("things"), 3);
    migrate_with(&database.database_url(), &migration(2), SHORT_RETRIES).unwrap();
    assert_eq!(database.count_rows("things"), 2);
    assert_eq!(database.count_rows("pragma_foreign_key_check"), 0);
}

#[test]
fn an_embedded_database_in_use_is_not_migrated() {
    let database = create_sqlite();
    let forget = "DELETE FROM schema_migrations";
    let held = database.open_store();
    database.execute_sql(forget, "");
    assert!(matches!(migrate(&database.database_url()), Err(OpenError::Locked(_))));
    drop(held);
}

#[test]
fn the_migrations_create_the_expected_schema() {
    for database in create_databases() {
        assert_eq!(database.open_store().check_schema().unwrap(), Vec::<String>::new());
    }
}
