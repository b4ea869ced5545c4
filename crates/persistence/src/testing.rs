//! Temporary databases for tests. Each test owns one, which is created from a template and deleted when it is
//! dropped.
//!
//! The SQLite half of the tests runs unless `TEST_ONLY` is `postgres`. The PostgreSQL half runs if
//! `TEST_POSTGRES_URL` names a server on which databases can be created, unless `TEST_ONLY` is `sqlite`.
//! `cargo xtask test` starts a server, and fails if either half did not run.

#![expect(clippy::expect_used, clippy::panic, reason = "a test cannot continue without its database")]

mod deliveries;
mod server_database;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use guerdon_domain::ports::{Notifiers, Store};
use guerdon_test_support::{record_database, record_skip};
use tempfile::TempDir;

use self::server_database::ServerDatabase;
use crate::access::{Access, OpenDatabase, OpenError};
use crate::migrations;
use crate::open::{migrate, open_with_notifiers};
use crate::postgres::open::open_postgres;
use crate::postgres::pooled_store::StoreLimits;
use crate::url::DatabaseUrl;
use crate::write_form::WriteForm;

#[cfg(feature = "failpoints")]
pub use crate::failpoint::{
    Database, FAILPOINTS, Failpoint, Fault, InjectedError, MUTANTS, Mutant, Place, clear_all, hit_counts,
    inject, start_mutant,
};
pub use crate::migrations::{LockRetryPolicy, Migration};
pub use deliveries::StoredDelivery;

/// A step of a query plan in SQLite.
#[derive(QueryableByName)]
struct SqliteStep {
    #[diesel(sql_type = diesel::sql_types::Text)]
    detail: String,
}

/// A step of the program that SQLite runs for a statement.
#[derive(QueryableByName)]
struct SqliteOperation {
    #[diesel(sql_type = diesel::sql_types::Text)]
    opcode: String,
}

/// A database that belongs to a test.
pub struct TestDatabase {
    /// Its URL, in the form of the setting `database.url`.
    pub url: String,
    home: Location,
}

enum Location {
    Folder {
        _kept: TempDir,
    },
    Server(ServerDatabase),
    /// Another process created it and deletes it.
    OfAnotherProcess,
}

/// Whether this run covers SQLite: `TEST_ONLY` is not `postgres`.
pub fn covers_sqlite() -> bool {
    std::env::var("TEST_ONLY").as_deref() != Ok("postgres")
}

/// Whether this run covers PostgreSQL: `TEST_POSTGRES_URL` names a server, and `TEST_ONLY` is not `sqlite`. Panics
/// without a server if `TEST_ONLY` is `postgres`, or in CI, which skips no tests.
pub fn covers_postgres() -> bool {
    let only = std::env::var("TEST_ONLY").ok();
    if only.as_deref() == Some("sqlite") {
        return false;
    }
    let has_server = std::env::var_os("TEST_POSTGRES_URL").is_some();
    assert!(
        has_server || (only.is_none() && std::env::var_os("CI").is_none()),
        "TEST_POSTGRES_URL is not set: run `cargo xtask test`, or set TEST_ONLY=sqlite"
    );
    has_server
}

/// A new database of each kind that this run covers.
pub fn create_databases() -> Vec<TestDatabase> {
    let sqlite = covers_sqlite().then(create_sqlite);
    let postgres = covers_postgres().then(create_postgres);
    sqlite.into_iter().chain(postgres).collect()
}

/// A new embedded database. `None`, recorded as a skipped test, if this run does not cover SQLite.
pub fn sqlite_if_covered() -> Option<TestDatabase> {
    create_if(covers_sqlite(), "SQLite", create_sqlite)
}

/// A new database on the test server. `None`, recorded as a skipped test, if this run does not cover PostgreSQL.
pub fn postgres_if_covered() -> Option<TestDatabase> {
    create_if(covers_postgres(), "PostgreSQL", create_postgres)
}

fn create_if(is_covered: bool, kind: &str, create: fn() -> TestDatabase) -> Option<TestDatabase> {
    if !is_covered {
        record_skip(&format!("this run does not cover {kind}"));
    }
    is_covered.then(create)
}

/// A new embedded database.
pub fn create_sqlite() -> TestDatabase {
    static TEMPLATE: OnceLock<Vec<u8>> = OnceLock::new();
    record_database("sqlite");
    let template = TEMPLATE.get_or_init(|| {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("template.db");
        migrate(&DatabaseUrl::Sqlite(path.clone())).expect("a migrated database");
        std::fs::read(path).expect("the template")
    });
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("guerdon.db");
    std::fs::write(&path, template).expect("a copy of the template");
    TestDatabase { url: format!("sqlite://{}", path.display()), home: Location::Folder { _kept: folder } }
}

/// A new database on the test server.
pub fn create_postgres() -> TestDatabase {
    static TEMPLATE: OnceLock<ServerDatabase> = OnceLock::new();
    record_database("postgres");
    let template = TEMPLATE.get_or_init(|| {
        let template = ServerDatabase::create_empty();
        migrate(&DatabaseUrl::Postgres(template.url())).expect("a migrated database");
        template
    });
    TestDatabase::on_server(template.duplicate())
}

/// Applies a test's migrations instead of the program's.
pub fn migrate_with(
    url: &DatabaseUrl,
    known: &[Migration],
    retry_policy: LockRetryPolicy,
) -> Result<Vec<String>, OpenError> {
    migrations::apply_migrations(url, known, retry_policy)
}

/// Returns the result that a program with these migrations would get when it opens the database.
pub fn check_with(url: &DatabaseUrl, known: &[Migration]) -> Result<(), OpenError> {
    migrations::check_applied(url, known)
}

fn open_postgres_with(url: &str, limits: &StoreLimits) -> OpenDatabase {
    open_postgres(url, Access::ServeWithoutDurability, limits, Notifiers::default())
        .expect("an open database")
}

impl TestDatabase {
    /// A database that another process created and deletes.
    pub fn of_another_process(url: String) -> Self {
        Self { url, home: Location::OfAnotherProcess }
    }

    fn on_server(database: ServerDatabase) -> Self {
        Self { url: database.url(), home: Location::Server(database) }
    }

    /// Creates a copy of this database. No connection to the original may be open.
    pub fn duplicate(&self) -> Self {
        match &self.home {
            Location::Folder { .. } => {
                let DatabaseUrl::Sqlite(path) = self.database_url() else { panic!("an embedded database") };
                record_database("sqlite");
                let folder = TempDir::new().expect("a folder");
                let copy = folder.path().join("guerdon.db");
                std::fs::copy(path, &copy).expect("a copy");
                Self { url: format!("sqlite://{}", copy.display()), home: Location::Folder { _kept: folder } }
            }
            Location::Server(database) => {
                record_database("postgres");
                Self::on_server(database.duplicate())
            }
            Location::OfAnotherProcess => panic!("the process that created the database copies it"),
        }
    }

    /// Opens the database like the service, even on a server that would lose commits in a crash.
    pub fn open_store(&self) -> Arc<dyn Store> {
        self.open_for_service().requests
    }

    /// Opens the database like the service, for requests, commands and background jobs.
    pub fn open_for_service(&self) -> OpenDatabase {
        open_with_notifiers(&self.database_url(), Access::ServeWithoutDurability, Notifiers::default())
            .expect("an open database")
    }

    /// Opens the database like a command of the operator, with fewer connections and threads.
    pub fn open_for_command(&self) -> Arc<dyn Store> {
        open_with_notifiers(&self.database_url(), Access::Command, Notifiers::default())
            .expect("an open database")
            .requests
    }

    /// Opens the database like the service with another time limit for requests. The embedded database
    /// ignores the limit.
    pub fn open_with_limit(&self, time_limit: Duration) -> OpenDatabase {
        match self.database_url() {
            DatabaseUrl::Sqlite(_) => self.open_for_service(),
            DatabaseUrl::Postgres(url) => {
                open_postgres_with(&url, &StoreLimits { time_limit, ..StoreLimits::default() })
            }
        }
    }

    /// Opens the database as a service on Citus does: each table is written with a separate statement.
    pub fn open_with_statement_per_table(&self) -> OpenDatabase {
        match self.database_url() {
            DatabaseUrl::Sqlite(_) => self.open_for_service(),
            DatabaseUrl::Postgres(url) => {
                let write_form = Some(WriteForm::StatementPerTable);
                open_postgres_with(&url, &StoreLimits { write_form, ..StoreLimits::default() })
            }
        }
    }

    /// Its parsed URL.
    pub fn database_url(&self) -> DatabaseUrl {
        DatabaseUrl::parse(&self.url).expect("a database URL")
    }

    /// Whether it is an embedded database.
    pub fn is_embedded(&self) -> bool {
        matches!(self.database_url(), DatabaseUrl::Sqlite(_))
    }

    /// The number of rows that a FROM clause selects, such as `events WHERE state = 1`.
    pub fn count_rows(&self, from: &str) -> i64 {
        self.count_each(&[from]).into_iter().sum()
    }

    /// The numbers of rows that several FROM clauses select.
    pub fn count_each(&self, from: &[&str]) -> Vec<i64> {
        let select = |from: &str| {
            diesel::select(
                diesel::dsl::sql::<diesel::sql_types::BigInt>("(SELECT count(*) FROM ").sql(from).sql(")"),
            )
        };
        let counted: QueryResult<Vec<i64>> = match self.database_url() {
            DatabaseUrl::Sqlite(path) => {
                let mut conn = SqliteConnection::establish(&path.to_string_lossy()).expect("the database");
                from.iter().map(|from| select(from).get_result(&mut conn)).collect()
            }
            DatabaseUrl::Postgres(url) => {
                self.use_session(&url, |conn| from.iter().map(|from| select(from).get_result(conn)).collect())
            }
        };
        counted.unwrap_or_else(|e| panic!("{from:?}: {e}"))
    }

    /// The query plan of a statement in a new session, one line per step. The plan does not depend on the values of the
    /// parameters.
    pub fn query_plan(&self, statement: &str) -> Vec<String> {
        #[derive(QueryableByName)]
        struct PlanLine {
            #[diesel(sql_type = diesel::sql_types::Text)]
            line: String,
        }
        let lines: QueryResult<Vec<PlanLine>> = match self.database_url() {
            DatabaseUrl::Sqlite(path) => {
                let mut conn = SqliteConnection::establish(&path.to_string_lossy()).expect("the database");
                let explain = format!("EXPLAIN QUERY PLAN {statement}");
                diesel::sql_query(explain)
                    .load::<SqliteStep>(&mut conn)
                    .map(|steps| steps.into_iter().map(|step| PlanLine { line: step.detail }).collect())
            }
            DatabaseUrl::Postgres(url) => {
                let mut conn = PgConnection::establish(&url).expect("the database");
                let parameters =
                    (1..=99).take_while(|number| statement.contains(&format!("${number}"))).count();
                let unknown = if parameters == 0 {
                    String::new()
                } else {
                    format!("({})", vec!["NULL"; parameters].join(", "))
                };
                conn.batch_execute(&format!(
                    "SET plan_cache_mode = force_generic_plan; PREPARE statement AS {statement}; \
                     CREATE FUNCTION pg_temp.explain_statement() RETURNS SETOF text LANGUAGE plpgsql AS \
                     $body$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN EXECUTE statement{unknown}'; END $body$"
                ))
                .unwrap_or_else(|e| panic!("{statement}: {e}"));
                diesel::sql_query("SELECT line FROM pg_temp.explain_statement() AS line").load(&mut conn)
            }
        };
        lines.unwrap_or_else(|e| panic!("{statement}: {e}")).into_iter().map(|row| row.line).collect()
    }

    /// The operations of the program that SQLite runs for a statement.
    pub fn sqlite_opcodes(&self, statement: &str) -> Vec<String> {
        let DatabaseUrl::Sqlite(path) = self.database_url() else { panic!("{} is not SQLite", self.url) };
        let mut conn = SqliteConnection::establish(&path.to_string_lossy()).expect("the database");
        let operations: QueryResult<Vec<SqliteOperation>> =
            diesel::sql_query(format!("EXPLAIN {statement}")).load(&mut conn);
        operations
            .unwrap_or_else(|e| panic!("{statement}: {e}"))
            .into_iter()
            .map(|step| step.opcode)
            .collect()
    }

    /// The deadlocks in this database since it was created. All sessions must have been closed: they report their
    /// counts at the end.
    pub fn count_deadlocks(&self) -> i64 {
        let Location::Server(database) = &self.home else { return 0 };
        database.wait_for_end_of_sessions().expect("no open session");
        self.count_rows(
            "pg_stat_database AS d, generate_series(1, d.deadlocks) WHERE d.datname = current_database()",
        )
    }

    /// Runs SQL that bypasses the service, to simulate damage. It must not leave a transaction open.
    pub fn execute_sql(&self, sqlite: &str, postgres: &str) {
        match self.database_url() {
            DatabaseUrl::Sqlite(path) => execute_on_file(&path, sqlite),
            DatabaseUrl::Postgres(url) => self
                .use_session(&url, |conn| conn.batch_execute(postgres))
                .unwrap_or_else(|e| panic!("{postgres}: {e}")),
        }
    }

    /// Calls `run` with a session of this PostgreSQL database.
    fn use_session<T>(&self, url: &str, run: impl FnOnce(&mut PgConnection) -> T) -> T {
        match &self.home {
            Location::Server(database) => database.use_session(url, run),
            Location::Folder { .. } | Location::OfAnotherProcess => {
                run(&mut PgConnection::establish(url).expect("the database"))
            }
        }
    }
}

/// Runs SQL on a database file, which is created if it does not exist. Waits for the writer of a service.
pub fn execute_on_file(path: &std::path::Path, sql: &str) {
    let mut conn = SqliteConnection::establish(&path.to_string_lossy()).expect("the database");
    conn.batch_execute("PRAGMA busy_timeout = 5000").expect("a setting of the connection");
    conn.batch_execute(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
}

/// A PostgreSQL session of a test with an open transaction. Dropping it releases its locks.
pub struct OpenTransaction(#[expect(dead_code, reason = "it is held, not used")] PgConnection);

impl TestDatabase {
    /// Starts a transaction on PostgreSQL and runs SQL in it, like another process.
    pub fn begin_and_execute(&self, sql: &str) -> OpenTransaction {
        let mut conn = PgConnection::establish(&self.url).expect("the database");
        conn.batch_execute(&format!("BEGIN; {sql}")).unwrap_or_else(|e| panic!("{sql}: {e}"));
        OpenTransaction(conn)
    }
}
