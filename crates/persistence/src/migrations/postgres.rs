//! Migrates PostgreSQL step by step, while other processes use the database.

use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use diesel::result::Error;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};

use super::journal;
use super::migration::{Migration, Patience};
use super::record::{APPLIED, Applied, Pending, TABLE, pending};
use super::script::{Batches, Concurrently, Step};
use super::statements::run_each;
use crate::access::{Access, OpenError};
use crate::postgres::connect::{patience as patience_of, require_english, unreachable};
use crate::postgres::hosts::Hosts;
use crate::postgres::sessions::require_own;
use diesel::PgConnection as Conn;

/// The advisory lock of migrations: "guerdon" in ASCII.
const TURN: i64 = 0x67_7565_7264_6f6e;
/// The number of rows of the first batch. Later batches have as many as fit into `BATCH_TIME`.
const FIRST_BATCH: u32 = 1_000;
const LARGEST_BATCH: u32 = 20_000;
/// The target duration of a batch. Transactions that need a row of the batch wait until it ends.
const BATCH_TIME: Duration = Duration::from_millis(100);
/// A batch that takes longer is rolled back, and a smaller one is tried.
const BATCH_TIME_MOST: &str = "SET LOCAL statement_timeout = 1000";
/// The longest pause, as a multiple of the first.
const LONGEST_PAUSE: u32 = 10;

pub(super) fn migrate(url: &str, known: &[Migration], patience: Patience) -> Result<Vec<String>, OpenError> {
    let hosts = Hosts::of(url);
    let connection = || hosts.connect(patience_of(Access::Command)).map_err(|e| unreachable(&e));
    let mut conn = connection()?;
    require_own(&mut conn, &mut connection()?)?; // the lock belongs to the session
    require_english(&mut conn)?; // failures are recognised by their messages
    conn.batch_execute("SET statement_timeout = 0; SET lock_timeout = 0").map_err(|e| failed(&e))?;
    let mut runner = Runner { conn, patience };
    runner.take_turn()?;
    stay_in_schema(&mut runner.conn)?;
    runner.conn.batch_execute(TABLE).map_err(|e| failed(&e))?;
    let pending = pending(&applied(&mut runner.conn)?.unwrap_or_default(), known)?;
    for it in &pending {
        runner.apply(it)?;
    }
    if journal::is_behind(&mut runner.conn)? {
        journal::catch_up(&mut runner.conn, known)?;
    }
    Ok(pending.iter().map(|pending| pending.migration.name.to_owned()).collect())
}

fn failed(cause: &dyn std::fmt::Display) -> OpenError {
    OpenError::failed("cannot migrate the database", cause)
}

/// Limits the session's `search_path` to the schema in which the tables are created, so that functions
/// declared `SET search_path FROM CURRENT` are bound to it: the usual path starts with `"$user"`, which
/// depends on the caller.
fn stay_in_schema(conn: &mut Conn) -> Result<(), OpenError> {
    let path = diesel::dsl::sql::<Nullable<Text>>(
        "CASE WHEN current_schema() IS NOT NULL \
         THEN set_config('search_path', quote_ident(current_schema()) || ', pg_temp', false) END",
    );
    match diesel::select(path).get_result::<Option<String>>(conn).map_err(|e| failed(&e))? {
        Some(_) => Ok(()),
        None => Err(failed(&"the connection's search_path names no schema that exists")),
    }
}

/// The applied migrations; `None` if the database has no table of migrations. Does not create the table.
pub(super) fn applied(conn: &mut Conn) -> Result<Option<Vec<Applied>>, OpenError> {
    let failed = |e: Error| OpenError::failed("cannot read the migrations", &e);
    let there = diesel::dsl::sql::<Bool>("to_regclass('schema_migrations') IS NOT NULL");
    if !diesel::select(there).get_result::<bool>(conn).map_err(failed)? {
        return Ok(None);
    }
    diesel::sql_query(APPLIED).load(conn).map(Some).map_err(failed)
}

struct Runner {
    conn: Conn,
    patience: Patience,
}

impl Runner {
    /// Waits until no other process migrates, and takes the lock, which the connection holds until it closes.
    /// The lock is polled, because a session that waits in the server would block the other process's `CREATE
    /// INDEX CONCURRENTLY`: a deadlock.
    fn take_turn(&mut self) -> Result<(), OpenError> {
        let mut waits = false;
        loop {
            let mine = diesel::dsl::sql::<Bool>("pg_try_advisory_lock(").bind::<BigInt, _>(TURN).sql(")");
            if diesel::select(mine).get_result(&mut self.conn).map_err(|e| failed(&e))? {
                return Ok(());
            }
            if !waits {
                log::warn!("another process migrates the database: waiting for it");
            }
            waits = true;
            std::thread::sleep(self.patience.pause); // tidy: polls for a lock of another process
        }
    }

    fn apply(&mut self, pending: &Pending<'_>) -> Result<(), OpenError> {
        let (name, steps) = (pending.migration.name, pending.script.steps.len());
        let is_one_transaction = matches!(pending.script.steps.as_slice(), [Step::Together(_)]);
        if !is_one_transaction && !pending.begun {
            self.conn.batch_execute(&pending.note(0)).map_err(|e| failed(&e))?; // its floor applies from now on
        }
        for (number, step) in (1..).zip(&pending.script.steps).skip(pending.steps_done) {
            if steps > 1 {
                log::info!("migration {name}: step {number} of {steps}");
            }
            let note = pending.note(number);
            let done = match step {
                Step::Together(sql) => self.patiently(name, |conn| {
                    run_each(conn, sql)?;
                    conn.batch_execute(&note)
                }),
                Step::Concurrently(index) => {
                    self.concurrently(name, index).and_then(|()| self.conn.batch_execute(&note))
                }
                Step::Batches(batches) => {
                    // Only the first remaining step can have been interrupted.
                    let reached = pending.reached.clone().filter(|_| number == pending.steps_done + 1);
                    self.in_batches(name, batches, reached).and_then(|()| self.conn.batch_execute(&note))
                }
            };
            done.map_err(|e| self.explained(pending.migration, &e))?;
        }
        Ok(())
    }

    /// Runs the statement for one range of keys after the other. Progress is recorded with each batch, so
    /// that no row is visited twice.
    fn in_batches(&mut self, name: &str, batches: &Batches, mut reached: Option<String>) -> QueryResult<()> {
        let key = &batches.key;
        let mut rows = FIRST_BATCH;
        loop {
            let after =
                reached.as_ref().map_or_else(|| "TRUE".to_owned(), |reached| format!("{key} > {reached}"));
            let Some(end) = self.key_after(batches, &after, rows)? else { return Ok(()) };
            let statement = batches.of(&format!("{after} AND {key} <= {end}"));
            let mut begun = Instant::now();
            let done = self.patiently(name, |conn| {
                begun = Instant::now();
                conn.batch_execute(BATCH_TIME_MOST)?;
                conn.batch_execute(&statement)?;
                diesel::sql_query("UPDATE schema_migrations SET reached = $1 WHERE name = $2")
                    .bind::<Text, _>(&end)
                    .bind::<Text, _>(name)
                    .execute(conn)
                    .map(drop)
            });
            match done {
                Ok(()) => reached = Some(end),
                Err(e) if rows > 1 && says(&e, &["statement timeout"]) => {}
                Err(e) => return Err(e),
            }
            let is_slow = begun.elapsed() > BATCH_TIME;
            rows = if is_slow { (rows / 2).max(1) } else { (rows * 2).min(LARGEST_BATCH) };
        }
    }

    /// The last of the next `rows` keys, as a literal.
    fn key_after(&mut self, batches: &Batches, after: &str, rows: u32) -> QueryResult<Option<String>> {
        #[derive(QueryableByName)]
        struct Key {
            #[diesel(sql_type = Text)]
            literal: String,
        }
        let Batches { table, key, .. } = batches;
        let found = diesel::sql_query(format!(
            "SELECT quote_literal({key}) AS literal FROM \
             (SELECT {key} FROM {table} WHERE {after} AND {key} IS NOT NULL ORDER BY {key} LIMIT {rows}) AS batch \
             ORDER BY {key} DESC LIMIT 1"
        ));
        Ok(found.get_result::<Key>(&mut self.conn).optional()?.map(|key| key.literal))
    }

    /// Runs `work` in a transaction with a short lock timeout, repeatedly until it gets its locks or the time
    /// is over.
    fn patiently<T>(
        &mut self,
        name: &str,
        mut work: impl FnMut(&mut Conn) -> QueryResult<T>,
    ) -> QueryResult<T> {
        let limit = format!("SET LOCAL lock_timeout = {}", self.patience.lock.as_millis());
        self.again(name, |conn| {
            conn.transaction(|conn| {
                conn.batch_execute(&limit)?;
                work(conn)
            })
        })
    }

    fn again<T>(
        &mut self,
        name: &str,
        mut attempt: impl FnMut(&mut Conn) -> QueryResult<T>,
    ) -> QueryResult<T> {
        let (begun, mut pause) = (Instant::now(), self.patience.pause);
        loop {
            match attempt(&mut self.conn) {
                Err(e) if is_lost_lock(&e) && begun.elapsed() + pause < self.patience.in_all => {
                    let held = self.oldest_transaction();
                    log::warn!("migration {name} waits for a lock, and tries again in {pause:?}{held}");
                    std::thread::sleep(pause); // tidy: requests that queued for the lock continue meanwhile
                    pause = (pause * 2).min(self.patience.pause * LONGEST_PAUSE);
                }
                done => return done,
            }
        }
    }

    /// Creates or drops an index without blocking others. An interrupted run may have left an invalid index,
    /// or may have created the index without recording it.
    fn concurrently(&mut self, name: &str, it: &Concurrently) -> QueryResult<()> {
        let Some(index) = &it.makes else {
            return self.again(name, |conn| conn.batch_execute(&it.statement));
        };
        let drop_it = format!("DROP INDEX CONCURRENTLY {index}");
        match self.is_valid(index)? {
            Some(true) => return Ok(()),
            Some(false) => self.again(name, |conn| conn.batch_execute(&drop_it))?,
            None => {}
        }
        self.again(name, |conn| {
            let made = conn.batch_execute(&it.statement);
            if made.is_err() {
                conn.batch_execute(&format!("DROP INDEX CONCURRENTLY IF EXISTS {index}"))?; // an invalid index slows down writes
            }
            made
        })
    }

    /// Whether an index is valid; `None` if it does not exist.
    fn is_valid(&mut self, index: &str) -> QueryResult<Option<bool>> {
        #[derive(QueryableByName)]
        struct Index {
            #[diesel(sql_type = Bool)]
            indisvalid: bool,
        }
        let found = diesel::sql_query("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)")
            .bind::<Text, _>(index)
            .get_result::<Index>(&mut self.conn)
            .optional()?;
        Ok(found.map(|found| found.indisvalid))
    }

    fn explained(&mut self, migration: &Migration, cause: &Error) -> OpenError {
        if !is_lost_lock(cause) {
            return migration.failed(cause);
        }
        let held = self.oldest_transaction();
        migration.failed(&format!(
            "others hold what it must lock; run `guerdon migrate` again to go on{held} ({cause})"
        ))
    }

    /// A description of the transaction that it probably waits for.
    fn oldest_transaction(&mut self) -> String {
        let told = diesel::dsl::sql::<Text>(
            "coalesce((SELECT format(': the oldest transaction is that of process %s, %s, for %s s', pid, \
             coalesce(nullif(application_name, ''), 'unnamed'), \
             extract(epoch FROM now() - xact_start)::bigint) \
             FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() \
             AND xact_start IS NOT NULL ORDER BY xact_start LIMIT 1), '')",
        );
        diesel::select(told).get_result(&mut self.conn).unwrap_or_default()
    }
}

/// Whether a statement failed because of concurrency. diesel has no kind for this; the server's messages are
/// in English.
fn is_lost_lock(error: &Error) -> bool {
    says(error, &["lock timeout", "deadlock detected"])
}

fn says(error: &Error, parts: &[&str]) -> bool {
    let text = error.to_string();
    parts.iter().any(|part| text.contains(part))
}
