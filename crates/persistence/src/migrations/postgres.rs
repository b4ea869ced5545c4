//! Migrates PostgreSQL step by step, while other processes use the database.

use std::time::{Duration, Instant};

use diesel::PgConnection as Conn;
use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use diesel::result::Error;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use guerdon_domain::ports::AdaptiveSize;

use super::migration::{LockRetryPolicy, Migration};
use super::migration_record::{
    AppliedMigration, CREATE_RECORD_TABLE, PendingMigration, SELECT_APPLIED, find_pending,
};
use super::script::{BatchedUpdate, ConcurrentIndex, MigrationStep};
use super::statements::run_each;
use super::{journal_positions, migration_error};
use crate::access::{Access, OpenError};
use crate::connect::postgres::{connect_timeout_seconds, connection_error, require_english};
use crate::connect::server_list::ServerList;
use crate::connect::session_check::require_own_sessions;
use crate::event_partitions::create_event_partitions;
use crate::failpoint::failpoint;
use crate::rows::{DbTimestamp, SqlTimestamp};

/// The advisory lock of migrations: "guerdon" in ASCII.
const MIGRATION_LOCK: i64 = 0x67_7565_7264_6f6e;
/// The number of rows of the first batch. Later batches have as many as fit into `BATCH_DURATION_TARGET`.
const FIRST_BATCH_ROWS: i64 = 1_000;
const BATCH_ROWS_MAX: i64 = 20_000;
/// The retention period that determines the length of the first partitions of events. The service creates later ones
/// according to its configured retention.
const DEFAULT_EVENT_RETENTION: Duration = Duration::from_secs(30 * 24 * 3_600);
/// The target duration of a batch. Transactions that need a row of the batch wait until it ends.
const BATCH_DURATION_TARGET: Duration = Duration::from_millis(100);
/// A batch that takes longer than one second is rolled back, and a smaller one is tried.
const SET_BATCH_TIMEOUT: &str = "SET LOCAL statement_timeout = 1000";
/// The longest pause, as a multiple of the first.
const PAUSE_FACTOR_MAX: u32 = 10;

pub(super) fn migrate_postgres(
    url: &str,
    known: &[Migration],
    retry_policy: LockRetryPolicy,
) -> Result<Vec<String>, OpenError> {
    let servers = ServerList::from_url(url);
    let connection =
        || servers.connect_to_any(connect_timeout_seconds(Access::Command)).map_err(|e| connection_error(&e));
    let mut conn = connection()?;
    require_own_sessions(&mut conn, &mut connection()?)?; // the lock belongs to the session
    require_english(&mut conn)?; // failures are recognised by their messages
    conn.batch_execute("SET statement_timeout = 0; SET lock_timeout = 0").map_err(|e| migration_error(&e))?;
    let mut runner = MigrationRunner { conn, retry_policy };
    runner.acquire_migration_lock()?;
    pin_search_path(&mut runner.conn)?;
    runner.conn.batch_execute(CREATE_RECORD_TABLE).map_err(|e| migration_error(&e))?;
    let pending = find_pending(&load_applied(&mut runner.conn)?.unwrap_or_default(), known)?;
    for migration in &pending {
        runner.apply_migration(migration)?;
    }
    runner.create_event_partitions()?;
    if journal_positions::is_behind(&mut runner.conn)? {
        journal_positions::continue_positions(&mut runner.conn, known)?;
    }
    Ok(pending.iter().map(|pending| pending.migration.name.to_owned()).collect())
}

/// Limits the session's `search_path` to the schema in which the tables are created, so that functions
/// declared `SET search_path FROM CURRENT` are bound to it: the usual path starts with `"$user"`, which
/// depends on the caller.
fn pin_search_path(conn: &mut Conn) -> Result<(), OpenError> {
    let path = diesel::dsl::sql::<Nullable<Text>>(
        "CASE WHEN current_schema() IS NOT NULL \
         THEN set_config('search_path', quote_ident(current_schema()) || ', pg_temp', false) END",
    );
    match diesel::select(path).get_result::<Option<String>>(conn).map_err(|e| migration_error(&e))? {
        Some(_) => Ok(()),
        None => Err(migration_error(&"no schema in the connection's search_path exists")),
    }
}

/// The applied migrations; `None` if the database has no table of migrations. Does not create the table.
pub(super) fn load_applied(conn: &mut Conn) -> Result<Option<Vec<AppliedMigration>>, OpenError> {
    let failed = |e: Error| OpenError::failed_because("cannot read the migrations", &e);
    let has_table = diesel::dsl::sql::<Bool>("to_regclass('schema_migrations') IS NOT NULL");
    if !diesel::select(has_table).get_result::<bool>(conn).map_err(failed)? {
        return Ok(None);
    }
    diesel::sql_query(SELECT_APPLIED).load(conn).map(Some).map_err(failed)
}

struct MigrationRunner {
    conn: Conn,
    retry_policy: LockRetryPolicy,
}

impl MigrationRunner {
    /// Waits until no other process is migrating, and takes the lock, which the connection holds until it
    /// closes. The lock is polled, because a session that waits in the server would block the other process's
    /// `CREATE INDEX CONCURRENTLY`: a deadlock.
    fn acquire_migration_lock(&mut self) -> Result<(), OpenError> {
        let mut has_logged = false;
        loop {
            let try_lock =
                diesel::dsl::sql::<Bool>("pg_try_advisory_lock(").bind::<BigInt, _>(MIGRATION_LOCK).sql(")");
            if diesel::select(try_lock).get_result(&mut self.conn).map_err(|e| migration_error(&e))? {
                return Ok(());
            }
            if !has_logged {
                log::warn!("another process is migrating the database: waiting");
            }
            has_logged = true;
            std::thread::sleep(self.retry_policy.initial_pause); // tidy: polls for a lock of another process
        }
    }

    fn apply_migration(&mut self, pending: &PendingMigration<'_>) -> Result<(), OpenError> {
        let (name, steps) = (pending.migration.name, pending.script.steps.len());
        let is_one_transaction = matches!(pending.script.steps.as_slice(), [MigrationStep::Transaction(_)]);
        if !is_one_transaction && !pending.was_started {
            let record = pending.record_statement(0);
            record_start(&mut self.conn, &record).map_err(|e| migration_error(&e))?;
        }
        for (number, step) in (1..).zip(&pending.script.steps).skip(pending.steps_done) {
            if steps > 1 {
                log::info!(migration = name, step = number, steps; "migrating the database");
            }
            let record = pending.record_statement(number);
            let done = match step {
                MigrationStep::Transaction(sql) => self.run_with_lock_timeout(name, |conn| {
                    run_each(conn, sql)?;
                    record_step(conn, &record)
                }),
                MigrationStep::ConcurrentIndex(index) => self
                    .build_index_concurrently(name, index)
                    .and_then(|()| record_step(&mut self.conn, &record)),
                MigrationStep::Batches(batches) => {
                    // Only the first remaining step can have been interrupted.
                    let last_key = pending.last_completed_key.clone();
                    let last_key = last_key.filter(|_| number == pending.steps_done + 1);
                    self.run_in_batches(name, batches, last_key)
                        .and_then(|()| record_step(&mut self.conn, &record))
                }
            };
            done.map_err(|e| self.explain_failure(pending.migration, &e))?;
        }
        Ok(())
    }

    /// Creates the first partitions of the events, so that the service never starts without them. They may also be
    /// missing from a migrated database, if the process that migrated it was killed.
    fn create_event_partitions(&mut self) -> Result<(), OpenError> {
        let lacks_partitions = diesel::dsl::sql::<Bool>(
            "to_regclass('events_default') IS NOT NULL AND NOT EXISTS (SELECT FROM pg_inherits \
             WHERE inhparent = to_regclass('events') AND inhrelid <> to_regclass('events_default'))",
        );
        let created = self.run_with_lock_timeout("event partitions", |conn| {
            failpoint("postgres.migrate.partitions")?;
            if !diesel::select(lacks_partitions.clone()).get_result::<bool>(conn)? {
                return Ok(0); // they exist, or a test has replaced the program's migrations
            }
            let now: DbTimestamp =
                diesel::select(diesel::dsl::sql::<SqlTimestamp>("CURRENT_TIMESTAMP")).get_result(conn)?;
            create_event_partitions(conn, now.0, Some(DEFAULT_EVENT_RETENTION))
        });
        created.map(drop).map_err(|e| migration_error(&e))
    }

    /// Runs the statement once for each range of keys, in order. Progress is recorded with each batch, so that no
    /// row is visited twice.
    fn run_in_batches(
        &mut self,
        name: &str,
        batches: &BatchedUpdate,
        mut last_completed_key: Option<String>,
    ) -> QueryResult<()> {
        let key = &batches.key;
        let durations = BATCH_DURATION_TARGET..=BATCH_DURATION_TARGET;
        let mut rows = AdaptiveSize::new(FIRST_BATCH_ROWS, 1..=BATCH_ROWS_MAX, durations);
        loop {
            let after = match &last_completed_key {
                Some(last) => format!("{key} > {last}"),
                None => "TRUE".to_owned(),
            };
            let Some(end) = self.batch_end_key(batches, &after, rows.get())? else { return Ok(()) };
            let statement = batches.for_range(&format!("{after} AND {key} <= {end}"));
            let mut begun = Instant::now();
            let done = self.run_with_lock_timeout(name, |conn| {
                begun = Instant::now();
                conn.batch_execute(SET_BATCH_TIMEOUT)?;
                failpoint("postgres.migrate.batch")?;
                conn.batch_execute(&statement)?;
                diesel::sql_query("UPDATE schema_migrations SET reached = $1 WHERE name = $2")
                    .bind::<Text, _>(&end)
                    .bind::<Text, _>(name)
                    .execute(conn)
                    .map(drop)
            });
            match done {
                Ok(()) => last_completed_key = Some(end),
                Err(e) if rows.get() > 1 && message_contains(&e, &["statement timeout"]) => {}
                Err(e) => return Err(e),
            }
            rows.record_step(begun.elapsed());
        }
    }

    /// The last of the next `rows` keys, as a literal.
    fn batch_end_key(
        &mut self,
        batches: &BatchedUpdate,
        after: &str,
        rows: i64,
    ) -> QueryResult<Option<String>> {
        let BatchedUpdate { table, key, .. } = batches;
        let query = format!(
            "SELECT quote_literal({key}) FROM \
             (SELECT {key} FROM {table} WHERE {after} AND {key} IS NOT NULL ORDER BY {key} LIMIT {rows}) AS batch \
             ORDER BY {key} DESC LIMIT 1"
        );
        diesel::dsl::sql::<Text>(&query).get_result(&mut self.conn).optional()
    }

    /// Runs `work` in a transaction with a short lock timeout, repeatedly until it gets its locks or the
    /// total time has passed.
    fn run_with_lock_timeout<T>(
        &mut self,
        name: &str,
        mut work: impl FnMut(&mut Conn) -> QueryResult<T>,
    ) -> QueryResult<T> {
        let limit = format!("SET LOCAL lock_timeout = {}", self.retry_policy.lock_timeout.as_millis());
        self.retry_after_lock_failure(name, |conn| {
            conn.transaction(|conn| {
                conn.batch_execute(&limit)?;
                work(conn)
            })
        })
    }

    fn retry_after_lock_failure<T>(
        &mut self,
        name: &str,
        mut attempt: impl FnMut(&mut Conn) -> QueryResult<T>,
    ) -> QueryResult<T> {
        let (begun, mut pause) = (Instant::now(), self.retry_policy.initial_pause);
        loop {
            match attempt(&mut self.conn) {
                Err(e) if is_lock_failure(&e) && begun.elapsed() + pause < self.retry_policy.total_time => {
                    let oldest = self.oldest_transaction();
                    log::warn!(migration = name, pause:?, oldest = oldest.as_str(); "a migration waits for a lock, retrying");
                    std::thread::sleep(pause); // tidy: requests that queued for the lock continue meanwhile
                    pause = (pause * 2).min(self.retry_policy.initial_pause * PAUSE_FACTOR_MAX);
                }
                done => return done,
            }
        }
    }

    /// Creates or drops an index without blocking others. An interrupted run may have left an invalid index,
    /// or may have created the index without recording it.
    fn build_index_concurrently(&mut self, name: &str, index: &ConcurrentIndex) -> QueryResult<()> {
        let Some(index_name) = &index.created_index else {
            return self.retry_after_lock_failure(name, |conn| conn.batch_execute(&index.statement));
        };
        let drop_index = format!("DROP INDEX CONCURRENTLY {index_name}");
        match self.is_index_valid(index_name)? {
            Some(true) => return Ok(()),
            Some(false) => self.retry_after_lock_failure(name, |conn| conn.batch_execute(&drop_index))?,
            None => {}
        }
        self.retry_after_lock_failure(name, |conn| {
            failpoint("postgres.migrate.index")?;
            let created = conn.batch_execute(&index.statement);
            if created.is_err() {
                conn.batch_execute(&format!("DROP INDEX CONCURRENTLY IF EXISTS {index_name}"))?; // an invalid index slows down writes
            }
            created
        })
    }

    /// Whether an index is valid; `None` if it does not exist.
    fn is_index_valid(&mut self, index: &str) -> QueryResult<Option<bool>> {
        diesel::dsl::sql::<Bool>("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(")
            .bind::<Text, _>(index)
            .sql(")")
            .get_result(&mut self.conn)
            .optional()
    }

    fn explain_failure(&mut self, migration: &Migration, cause: &Error) -> OpenError {
        if !is_lock_failure(cause) {
            return migration.failed_because(cause);
        }
        let oldest = self.oldest_transaction();
        migration.failed_because(&format!(
            "another session holds a lock that the migration needs; run `guerdon migrate` again to continue{oldest} ({cause})"
        ))
    }

    /// Describes the transaction that the migration probably waits for.
    fn oldest_transaction(&mut self) -> String {
        let query = diesel::dsl::sql::<Text>(
            "coalesce((SELECT format(': the oldest transaction is that of process %s, %s, for %s s', pid, \
             coalesce(nullif(application_name, ''), 'unnamed'), \
             extract(epoch FROM now() - xact_start)::bigint) \
             FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() \
             AND xact_start IS NOT NULL ORDER BY xact_start LIMIT 1), '')",
        );
        diesel::select(query).get_result(&mut self.conn).unwrap_or_default()
    }
}

/// Records that a migration has started. Its floor applies from then on.
fn record_start(conn: &mut Conn, record: &str) -> QueryResult<()> {
    failpoint("postgres.migrate.start")?;
    conn.batch_execute(record)
}

/// Records that a step is done.
fn record_step(conn: &mut Conn, record: &str) -> QueryResult<()> {
    failpoint("postgres.migrate.record")?;
    conn.batch_execute(record)
}

/// Whether a statement failed because of concurrency. diesel has no kind for this; the server's messages are
/// in English.
fn is_lock_failure(error: &Error) -> bool {
    message_contains(error, &["lock timeout", "deadlock detected"])
}

fn message_contains(error: &Error, parts: &[&str]) -> bool {
    let text = error.to_string();
    parts.iter().any(|part| text.contains(part))
}
