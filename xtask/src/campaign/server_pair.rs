//! A primary and its synchronous standby: two PostgreSQL servers on loopback with fixed addresses.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::postgres_server::{PostgresServer, Programs, READY_TIMEOUT, ServerFolder};
use super::sql::SqlClient;
use crate::measurement::service::free_address;
use crate::postgres::ServerDatabase;
use crate::workspace::Workspace;

/// The two servers and the programs that run them.
pub(super) struct ServerPair {
    primary: PostgresServer,
    /// `None` between the death of a primary and its return as a standby.
    standby: Option<PostgresServer>,
    programs: Programs,
}

impl ServerPair {
    pub(super) fn start(workspace: &Workspace) -> Result<Self> {
        let programs = Programs::find(workspace)?;
        let folder = ServerFolder::new(free_address()?.port())?;
        folder.initialize_cluster(&programs)?;
        let primary = folder.start(&programs)?;
        let mut pair = Self { primary, standby: None, programs };
        pair.add_standby(free_address()?.port())?;
        Ok(pair)
    }

    /// Creates an empty database and returns a connection URL that names both servers.
    pub(super) fn create_database(&self, name: &str) -> Result<String> {
        self.run_sql("postgres", &format!("CREATE DATABASE {name}"))?;
        let standby = self.standby.as_ref().context("no standby")?;
        let hosts = format!("127.0.0.1:{},127.0.0.1:{}", self.primary.port(), standby.port());
        Ok(format!("postgres://postgres@{hosts}/{name}?target_session_attrs=read-write"))
    }

    /// Returns a client of the current primary, by a URL that names both servers.
    pub(super) fn sql_client(&self, url: &str) -> SqlClient {
        self.primary.sql_client(url.to_owned())
    }

    /// Returns the database of this URL, on the current primary, for a service.
    pub(super) fn service_database(&self, url: &str) -> ServerDatabase {
        ServerDatabase { url: url.to_owned(), server_process_id: self.primary.process_id() }
    }

    /// Runs SQL on the current primary.
    fn run_sql(&self, database: &str, sql: &str) -> Result<String> {
        self.primary.run_sql(database, sql)
    }

    /// Terminates the standby's connection to the primary. From then on nothing reaches the standby, and no commit
    /// may be acknowledged.
    pub(super) fn disconnect_standby(&self) -> Result<()> {
        let standby = self.standby.as_ref().context("no standby")?;
        standby.run_sql("postgres", "ALTER SYSTEM SET primary_conninfo = ''")?;
        standby.run_sql("postgres", "SELECT pg_reload_conf()")?;
        Ok(())
    }

    /// Kills all processes of the primary and promotes the standby. Returns the times of the kill and of the
    /// promotion, and the port of the killed server.
    pub(super) fn fail_over(&mut self) -> Result<(Instant, Instant, u16)> {
        let standby = self.standby.take().context("no standby")?;
        let killed = Instant::now();
        self.primary.kill()?;
        let dead = std::mem::replace(&mut self.primary, standby);
        let promoted = self.primary.run_sql("postgres", "SELECT pg_promote(true, 60)")?;
        ensure!(promoted.trim() == "t", "the standby was not promoted");
        Ok((killed, Instant::now(), dead.port()))
    }

    /// Starts a server on this port as a standby with a copy of the primary. The primary waits for it before it
    /// confirms a commit.
    pub(super) fn add_standby(&mut self, port: u16) -> Result<()> {
        let folder = ServerFolder::new(port)?;
        folder.copy_cluster(&self.programs, &self.primary, &["-R"])?;
        self.standby = Some(folder.start(&self.programs)?);
        // The setting is changed after the copy was made: a standby with this setting would wait for its own standby
        // after its promotion.
        self.run_sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'")?;
        self.run_sql("postgres", "SELECT pg_reload_conf()")?;
        let start = Instant::now();
        let query = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        while self.run_sql("postgres", query)?.trim() != "1" {
            ensure!(start.elapsed() < READY_TIMEOUT, "the standby does not replicate the primary");
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}
