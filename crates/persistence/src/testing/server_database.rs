//! A test's database on the test server.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use parking_lot::Mutex;

/// Resets a session to its state after diesel has opened it.
const RESET_SESSION: &str = "RESET ALL; DISCARD TEMP; SET TIME ZONE 'UTC'; SET CLIENT_ENCODING TO 'UTF8'";

/// A database on the test server. Dropping this value deletes the database.
pub(super) struct ServerDatabase {
    name: String,
    /// The URL and the session opened with it. The helpers of a test reuse the session, because opening one takes
    /// several milliseconds.
    session: Mutex<Option<(String, PgConnection)>>,
}

impl ServerDatabase {
    pub(super) fn create_empty() -> Self {
        Self::create("")
    }

    /// Creates a database with these options of `CREATE DATABASE`.
    fn create(options: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("guerdon_{}_{}", process_tag(), NEXT.fetch_add(1, Ordering::Relaxed));
        execute_on_server(&format!("CREATE DATABASE {name} {options}")).expect("a new database");
        Self { name, session: Mutex::new(None) }
    }

    /// Creates a copy. No session may be open, except the kept one.
    pub(super) fn duplicate(&self) -> Self {
        if self.session.lock().is_some() {
            self.wait_for_end_of_sessions().expect("no open session");
        }
        // Copying the files of a small database is faster than copying it through the log.
        Self::create(&format!("TEMPLATE {} STRATEGY FILE_COPY", self.name))
    }

    pub(super) fn url(&self) -> String {
        let url = std::env::var("TEST_POSTGRES_URL").expect("TEST_POSTGRES_URL");
        let (scheme, rest) = url.split_once("://").expect("a postgres:// URL");
        let (authority_and_name, query) = rest.split_once('?').unwrap_or((rest, ""));
        let authority = authority_and_name.split('/').next().unwrap_or("");
        format!("{scheme}://{authority}/{}?{query}", self.name)
    }

    /// Calls `run` with the kept session, or with a new one if none is open for this URL or another thread is using it.
    /// Settings and temporary tables of an earlier use are reset. Defaults of the database that changed after the
    /// session was opened do not apply.
    pub(super) fn use_session<T>(&self, url: &str, run: impl FnOnce(&mut PgConnection) -> T) -> T {
        let kept = self.session.lock().take();
        let open = kept.and_then(|(opened_with, mut conn)| {
            let is_usable = opened_with == url && conn.batch_execute(RESET_SESSION).is_ok();
            is_usable.then_some(conn)
        });
        let mut conn = open.unwrap_or_else(|| PgConnection::establish(url).expect("the database"));
        let result = run(&mut conn);
        *self.session.lock() = Some((url.to_owned(), conn));
        result
    }

    /// Deletes the database. Before, refuses new sessions, ends the open ones, and waits for their end, because
    /// `DROP DATABASE ... WITH (FORCE)` checks only every 100 ms.
    fn delete(&self) -> QueryResult<()> {
        let name = &self.name;
        execute_on_server(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"))?;
        execute_on_server(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = '{name}' AND backend_type = 'client backend'"
        ))?;
        self.wait_for_end_of_sessions()?;
        execute_on_server(&format!("DROP DATABASE {name} WITH (FORCE)"))
    }

    /// Closes the kept session, and waits until all sessions have ended, and with them their reports of statistics.
    /// Fails after 10 s.
    pub(super) fn wait_for_end_of_sessions(&self) -> QueryResult<()> {
        drop(self.session.lock().take());
        execute_on_server(&format!(
            "DO $$ BEGIN
                WHILE EXISTS (SELECT FROM pg_stat_activity WHERE datname = '{}') LOOP
                    ASSERT clock_timestamp() < now() + interval '10 seconds', 'a session does not end';
                    PERFORM pg_sleep(0.001), pg_stat_clear_snapshot();
                END LOOP;
            END $$",
            self.name
        ))
    }
}

impl Drop for ServerDatabase {
    fn drop(&mut self) {
        let deleted = self.delete();
        // A second panic would end the process without the message of the first.
        if !std::thread::panicking() {
            deleted.unwrap_or_else(|e| panic!("{}: {e}", self.name));
        }
    }
}

/// Creates or deletes databases, over one connection for all tests of this process.
fn execute_on_server(sql: &str) -> QueryResult<()> {
    static SERVER: Mutex<Option<PgConnection>> = Mutex::new(None);
    let mut server = SERVER.lock();
    let conn = server.get_or_insert_with(|| {
        let url = std::env::var("TEST_POSTGRES_URL").expect("TEST_POSTGRES_URL");
        PgConnection::establish(&url).expect("the test server")
    });
    conn.batch_execute(sql)
}

/// A random string that distinguishes the databases of this process. Process ids do not: they are reused during a test
/// run, and a killed process leaves its databases behind.
fn process_tag() -> &'static str {
    static TAG: LazyLock<String> = LazyLock::new(|| format!("{:016x}", RandomState::new().hash_one(0)));
    &TAG
}
