//! A later migration of a big table, under load and during a long read: no request fails.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection as _;
use diesel::sql_types::Bool;
use diesel::{Connection as _, PgConnection, RunQueryDsl as _};
use guerdon_persistence::DatabaseUrl;
use guerdon_persistence::testing::{LockRetryPolicy, Migration, migrate_with, postgres_if_covered};

use super::empty_database;

const ROWS: usize = 2_000_000;
const LARGE_MIGRATION: Migration = Migration::new(
    "0001_big",
    "CREATE UNLOGGED TABLE big (id bigint NOT NULL, n integer NOT NULL) WITH (fillfactor = 50);\n\
     INSERT INTO big SELECT id, id % 1000 FROM generate_series(1, 2000000) AS id;\n\
     ALTER TABLE big ADD PRIMARY KEY (id);",
);
const LATER_MIGRATION: Migration = Migration::new(
    "0002_later",
    "-- guerdon: floor 0001\n\
     ALTER TABLE big ADD COLUMN half integer;\n\
     ALTER TABLE big ALTER COLUMN half SET DEFAULT 0; -- for rows that older programs add\n\
     -- guerdon: outside a transaction\n\
     CREATE INDEX CONCURRENTLY big_n ON big (n);\n\
     -- guerdon: in batches of big by id\n\
     UPDATE big SET half = n / 2 WHERE :batch AND half IS NULL;\n\
     -- guerdon: in a transaction\n\
     ALTER TABLE big ADD CONSTRAINT big_half CHECK (half IS NOT NULL) NOT VALID;",
);

/// Results of the requests during the migration.
#[derive(Default)]
struct RequestResults {
    failed: Vec<String>,
    served: usize,
    longest: Duration,
}

/// Opens a connection with the limits that the service sets for requests.
fn open_connection(url: &str) -> PgConnection {
    let mut conn = PgConnection::establish(url).unwrap();
    conn.batch_execute("SET statement_timeout = '5s'; SET lock_timeout = '2s'").unwrap();
    conn
}

/// Sends the requests of an older program one after the other: it reads, updates and inserts rows.
fn send_requests(url: &str, client: usize, until: &AtomicBool) -> RequestResults {
    let (mut conn, mut seen) = (open_connection(url), RequestResults::default());
    while !until.load(Ordering::Relaxed) {
        let number = seen.served * 2 + client;
        let row = number * 7_919 % ROWS + 1;
        let begun = Instant::now();
        let served = conn.batch_execute(&format!(
            "BEGIN; SELECT n FROM big WHERE id = {row}; UPDATE big SET n = n + 1 WHERE id = {row}; \
             INSERT INTO big (id, n) VALUES ({}, 0); COMMIT; SELECT pg_sleep(0.002)",
            ROWS + number + 1
        ));
        seen.longest = seen.longest.max(begun.elapsed());
        seen.served += 1;
        if let Err(cause) = served {
            seen.failed.push(cause.to_string());
            conn = open_connection(url);
        }
    }
    seen
}

/// Runs two transactions that read for two seconds each. The first is in progress when `begun` is set. The second
/// begins during the index build, which has to wait for it.
fn read_for_long(url: &str, begun: &AtomicBool, is_over: &AtomicBool) {
    let mut conn = open_connection(url);
    let read = "SELECT count(*) FROM big WHERE id < 1000";
    let begin = format!("BEGIN ISOLATION LEVEL REPEATABLE READ; {read}");
    let end = format!("SELECT pg_sleep(2); {read}; COMMIT");
    conn.batch_execute(&begin).unwrap();
    begun.store(true, Ordering::Relaxed);
    conn.batch_execute(&end).unwrap();
    let is_there = diesel::dsl::sql::<Bool>("to_regclass('big_n') IS NOT NULL");
    while !diesel::select(is_there.clone()).get_result::<bool>(&mut conn).unwrap() {
        assert!(!is_over.load(Ordering::Relaxed), "the index was not created");
        conn.batch_execute("SELECT pg_sleep(0.02)").unwrap();
    }
    conn.batch_execute(&begin).unwrap();
    conn.batch_execute(&end).unwrap();
}

#[test]
fn a_later_migration_of_a_big_table_fails_no_request() {
    if let Some(database) = postgres_if_covered() {
        let address = empty_database(&database);
        let DatabaseUrl::Postgres(url) = &address else { unreachable!() };
        migrate_with(&address, &[LARGE_MIGRATION], LockRetryPolicy::default()).unwrap();
        database.execute_sql("", "ANALYZE big");
        let (is_over, reads) = (AtomicBool::new(false), AtomicBool::new(false));
        let (seen, took) = std::thread::scope(|scope| {
            let request = |client: usize| send_requests(url, client, &is_over);
            let clients = [0, 1].map(|client| scope.spawn(move || request(client)));
            scope.spawn(|| read_for_long(url, &reads, &is_over));
            while !reads.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            let begun = Instant::now();
            let migrated =
                migrate_with(&address, &[LARGE_MIGRATION, LATER_MIGRATION], LockRetryPolicy::default());
            is_over.store(true, Ordering::Relaxed);
            let took = begun.elapsed();
            assert_eq!(migrated.unwrap(), ["0002_later"]);
            (clients.map(|thread| thread.join().unwrap()), took)
        });
        for client in &seen {
            println!("{} requests in {took:?}, the longest {:?}", client.served, client.longest);
            assert_eq!(client.failed, [""; 0], "of {} requests", client.served);
            assert!(client.served > 100, "{}", client.served);
        }
        assert!(took > Duration::from_secs(4), "it must overlap both long reads");
        assert_eq!(database.count_rows("big WHERE half IS NULL"), 0);
        assert!(database.count_rows("big") > i64::try_from(ROWS).unwrap());
        assert_eq!(database.count_rows("pg_index WHERE indexrelid = to_regclass('big_n') AND indisvalid"), 1);
    }
}
