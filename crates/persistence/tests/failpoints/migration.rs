//! Faults at each step of a migration: a migration that is run again completes the schema.

use std::time::Duration;

use guerdon_persistence::testing::{
    Fault, InjectedError, LockRetryPolicy, Migration, Place, TestDatabase, clear_all, execute_on_file,
    inject, migrate_with,
};
use guerdon_persistence::{Access, DatabaseUrl, migrate, open};

use super::child::{
    find_report, kill_this_process, received_task, run_child_that_may_be_killed, run_killed_child,
    run_passing_child,
};
use super::commands::{fail_after, panic_after};
use super::{catch_failure, count_hits, covers_all_statements, failpoints_at, survivable_faults};
use crate::support::create_database;

/// The test that the killed child processes run.
const KILLED_CHILD: &str = "failpoints::migration::child_is_killed_while_it_migrates";
const RETRIES: LockRetryPolicy = LockRetryPolicy {
    lock_timeout: Duration::from_millis(500),
    initial_pause: Duration::from_millis(1),
    total_time: Duration::from_secs(60),
};
const TABLE: Migration = Migration::new(
    "0001_table",
    "CREATE TABLE things (id bigint NOT NULL PRIMARY KEY, half bigint); \
     INSERT INTO things (id) VALUES (1), (2), (3), (4);",
);
/// A migration with every kind of step that the database has.
const STEPS_ON_POSTGRES: Migration = Migration::new(
    "0002_steps",
    "-- guerdon: in a transaction\nALTER TABLE things ADD COLUMN name text;\n\
     -- guerdon: in batches of things by id\n\
     UPDATE things SET half = coalesce(half, 0) + id / 2 WHERE :batch;\n\
     -- guerdon: outside a transaction\nCREATE INDEX CONCURRENTLY things_half ON things (half);",
);
const STEPS_ON_SQLITE: Migration = Migration::new(
    "0002_steps",
    "-- guerdon: in a transaction\nALTER TABLE things ADD COLUMN name text;\n\
     -- guerdon: in batches of things by id\n\
     UPDATE things SET half = coalesce(half, 0) + id / 2 WHERE :batch;",
);
/// The rows after both migrations.
const COMPLETE: &str = "things WHERE half = id / 2 AND name IS NULL";

/// An empty database.
fn empty(is_embedded: bool) -> TestDatabase {
    let database = create_database(is_embedded);
    remove_everything(&database);
    database
}

fn remove_everything(database: &TestDatabase) {
    match database.database_url() {
        DatabaseUrl::Sqlite(path) => {
            std::fs::remove_file(&path).unwrap();
            execute_on_file(&path, "PRAGMA user_version = 1");
        }
        DatabaseUrl::Postgres(_) => {
            database.execute_sql("", "DROP SCHEMA public CASCADE; CREATE SCHEMA public;");
        }
    }
}

fn steps(is_embedded: bool) -> [Migration; 2] {
    [TABLE, if is_embedded { STEPS_ON_SQLITE } else { STEPS_ON_POSTGRES }]
}

fn places(is_embedded: bool) -> [Place; 1] {
    [if is_embedded { Place::MigrationOfSqlite } else { Place::MigrationOfPostgres }]
}

fn assert_complete_schema(database: &TestDatabase) {
    let store = open(&database.database_url(), Access::Command).unwrap();
    assert_eq!(store.check_schema().unwrap(), [""; 0]);
    if !database.is_embedded() {
        let partitions =
            "pg_inherits WHERE inhparent = 'events'::regclass AND inhrelid <> 'events_default'::regclass";
        assert!(database.count_rows(partitions) > 0, "no partitions of events");
    }
}

/// Injects faults into migrations of a small table with every kind of step.
fn check_steps(is_embedded: bool) -> usize {
    let (known, database) = (steps(is_embedded), empty(is_embedded));
    let url = database.database_url();
    let mut cases = 0;
    for failpoint in failpoints_at(&places(is_embedded)) {
        let later = |passes| Fault::FailsAfter { passes, error: InjectedError::Broken };
        for fault in survivable_faults(failpoint).into_iter().chain([later(1), later(2)]) {
            remove_everything(&database);
            let hits_before = count_hits(failpoint.name);
            inject(failpoint.name, fault).unwrap();
            catch_failure(|| migrate_with(&url, &known, RETRIES));
            clear_all();
            assert!(count_hits(failpoint.name) > hits_before, "{} was not passed", failpoint.name);
            migrate_with(&url, &known, RETRIES).unwrap();
            assert_eq!(database.count_rows(COMPLETE), 4, "{}: {fault:?}", failpoint.name);
            assert_eq!(migrate_with(&url, &known, RETRIES).unwrap(), [""; 0]);
            cases += 1;
        }
    }
    cases
}

/// The failpoint that every step or statement of the program's migrations passes.
fn statement_failpoint(is_embedded: bool) -> &'static str {
    if is_embedded { "sqlite.migrate.step" } else { "postgres.migrate.statement" }
}

/// Injects a fault at each statement of the program's migrations, one statement per run. Returns the number of
/// statements.
fn check_each_statement(is_embedded: bool, fault_after: fn(usize) -> Fault) -> usize {
    let database = empty(is_embedded);
    let url = database.database_url();
    let fails = |passes: usize| {
        inject(statement_failpoint(is_embedded), fault_after(passes)).unwrap();
        let is_done = catch_failure(|| migrate(&url)).is_some();
        clear_all();
        !is_done
    };
    let statements = (0..).take_while(|passes| fails(*passes)).count();
    assert_complete_schema(&database);
    statements
}

#[test]
fn child_checks_errors_and_panics_of_migrations() {
    let Some(task) = received_task() else { return };
    let is_embedded = task["database"] == "sqlite";
    let cases = check_steps(is_embedded);
    let statements = check_each_statement(is_embedded, fail_after);
    println!("{cases} cases, {statements} statements");
    if covers_all_statements() {
        assert_eq!(check_each_statement(is_embedded, panic_after), statements);
    }
}

#[test]
fn an_error_or_panic_at_any_step_of_a_migration_can_be_retried() {
    for database in super::databases() {
        let test = "failpoints::migration::child_checks_errors_and_panics_of_migrations";
        let printed = run_passing_child(test, &[("database", database)]);
        println!("{database}: {}", find_report(&printed, " cases, "));
    }
}

#[test]
fn child_is_killed_while_it_migrates() {
    let Some(task) = received_task() else { return };
    let database = TestDatabase::of_another_process(task["url"].clone());
    let passes = task["passes"].parse().unwrap();
    inject(&task["failpoint"], Fault::Kills { passes, kill: kill_this_process }).unwrap();
    if task["migrations"] == "steps" {
        migrate_with(&database.database_url(), &steps(database.is_embedded()), RETRIES).unwrap();
    } else {
        migrate(&database.database_url()).unwrap();
    }
    // The process was not killed: it has at most `passes` passes.
}

/// Kills a process after a number of passes of a failpoint in the program's migrations, which are then run again.
/// Returns whether it passed the failpoint more often.
fn check_kill(is_embedded: bool, failpoint: &str, passes: usize) -> bool {
    let (database, passes) = (empty(is_embedded), passes.to_string());
    let task =
        [("url", &*database.url), ("failpoint", failpoint), ("passes", &*passes), ("migrations", "all")];
    let (is_killed, _printed) = run_child_that_may_be_killed(KILLED_CHILD, &task);
    migrate(&database.database_url()).unwrap();
    assert_complete_schema(&database);
    is_killed
}

#[test]
fn a_kill_at_any_step_of_a_migration_can_be_retried() {
    for kind in super::databases() {
        let is_embedded = kind == "sqlite";
        for failpoint in failpoints_at(&places(is_embedded)) {
            // PostgreSQL records each step. The last record follows an index that was built without a transaction.
            let kills =
                if failpoint.name == "postgres.migrate.record" { &["0", "1", "2", "3"][..] } else { &["0"] };
            for passes in kills {
                let database = empty(is_embedded);
                let task =
                    [("url", database.url.as_str()), ("failpoint", failpoint.name), ("passes", passes)];
                run_killed_child(KILLED_CHILD, &[&task[..], &[("migrations", "steps")]].concat());
                migrate_with(&database.database_url(), &steps(is_embedded), RETRIES).unwrap();
                assert_eq!(database.count_rows(COMPLETE), 4, "{} after {passes} passes", failpoint.name);
            }
        }
        let statement = statement_failpoint(is_embedded);
        let selection = if is_embedded { &[0][..] } else { &[0, 7, 50] };
        if covers_all_statements() {
            let kills = (0..).take_while(|passes| check_kill(is_embedded, statement, *passes)).count();
            println!("{kills} kills at statements on {kind}");
        } else {
            assert!(selection.iter().all(|passes| check_kill(is_embedded, statement, *passes)));
        }
        assert!(is_embedded || check_kill(is_embedded, "postgres.migrate.partitions", 0));
    }
}
