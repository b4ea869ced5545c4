//! A primary and its synchronous standby: two PostgreSQL servers on loopback with fixed addresses.

use std::fs::File;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use guerdon_test_harness::{ProcessGuard, StopSignal};
use tempfile::TempDir;

use super::super::sql::SqlClient;
use crate::measurement::cpu;
use crate::measurement::service::free_address;
use crate::postgres::{
    Owner, command_as_owner, initialize_cluster, is_ready, new_folder, run_psql, sibling_program,
};
use crate::postgres_binaries::Binaries;
use crate::workspace::{Workspace, command_output};

/// Commits are durable, and `max_connections` is enough for two instances of the service.
const SETTINGS: [&str; 5] = [
    "listen_addresses=127.0.0.1",
    "max_connections=200",
    "max_locks_per_transaction=128",
    "shared_buffers=256MB",
    "log_min_messages=fatal",
];
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// The two servers and the programs that run them.
pub(super) struct ServerPair {
    primary: PostgresServer,
    /// `None` between the death of a primary and its return as a standby.
    standby: Option<PostgresServer>,
    programs: Programs,
}

/// The folder of the programs, possibly a copy for the user that runs them.
struct Programs {
    binaries: Binaries,
    _copy: TempDir,
}

/// A running server in a fresh folder.
struct PostgresServer {
    server: ProcessGuard,
    port: u16,
    psql: PathBuf,
    _folder: TempDir,
}

/// A folder for a server that is not started yet.
struct ServerFolder {
    folder: TempDir,
    owner: Option<Owner>,
    port: u16,
}

impl ServerPair {
    pub(super) fn start(workspace: &Workspace) -> Result<Self> {
        let (copy, owner) = new_folder()?;
        let mut binaries = Binaries::find_or_fetch(workspace)?;
        if owner.is_some() {
            binaries = binaries.reachable_by_others(copy.path())?;
        }
        let programs = Programs { binaries, _copy: copy };
        let folder = ServerFolder::new(free_address()?.port())?;
        initialize_cluster(&programs.binaries, &folder.data_folder(), folder.owner, folder.path())?;
        let primary = folder.start(&programs)?;
        let mut pair = Self { primary, standby: None, programs };
        pair.add_standby(free_address()?.port())?;
        Ok(pair)
    }

    /// Creates an empty database and returns a connection URL that names both servers.
    pub(super) fn create_database(&self, name: &str) -> Result<String> {
        self.run_sql("postgres", &format!("CREATE DATABASE {name}"))?;
        let standby = self.standby.as_ref().context("no standby")?;
        let hosts = format!("127.0.0.1:{},127.0.0.1:{}", self.primary.port, standby.port);
        Ok(format!("postgres://postgres@{hosts}/{name}?target_session_attrs=read-write"))
    }

    /// Returns a client of the current primary, by a URL that names both servers.
    pub(super) fn sql_client(&self, url: &str) -> SqlClient {
        SqlClient::Postgres { psql: self.primary.psql.clone(), url: url.to_owned() }
    }

    /// Returns the process id of the primary's main process.
    pub(super) fn process_id(&self) -> u32 {
        self.primary.server.id()
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
        cpu::kill_tree(self.primary.server.id())?;
        let dead = std::mem::replace(&mut self.primary, standby);
        let promoted = self.primary.run_sql("postgres", "SELECT pg_promote(true, 60)")?;
        ensure!(promoted.trim() == "t", "the standby was not promoted");
        Ok((killed, Instant::now(), dead.port))
    }

    /// Starts a server on this port as a standby with a copy of the primary. The primary waits for it before it
    /// confirms a commit.
    pub(super) fn add_standby(&mut self, port: u16) -> Result<()> {
        let folder = ServerFolder::new(port)?;
        let program = sibling_program(&self.programs.binaries.program_path("postgres"), "pg_basebackup");
        let mut copy = command_as_owner(&program, folder.owner, folder.path());
        copy.args([
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
            "--no-sync",
            "-w",
            "-h",
            "127.0.0.1",
            "-U",
            "postgres",
        ]);
        copy.args(["-p", &self.primary.port.to_string(), "-D"]).arg(folder.data_folder());
        command_output(&mut copy)?;
        self.standby = Some(folder.start(&self.programs)?);
        // Set after the copy was made: a standby with this setting would wait for its own standby after its
        // promotion.
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

impl ServerFolder {
    fn new(port: u16) -> Result<Self> {
        let (folder, owner) = new_folder()?;
        Ok(Self { folder, owner, port })
    }

    fn path(&self) -> &std::path::Path {
        self.folder.path()
    }

    fn data_folder(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn start(self, programs: &Programs) -> Result<PostgresServer> {
        let (data, log) = (self.data_folder(), self.folder.path().join("log"));
        let mut command: Command =
            command_as_owner(&programs.binaries.program_path("postgres"), self.owner, self.folder.path());
        command.arg("-D").arg(&data).arg("-k").arg(self.folder.path()).args(["-p", &self.port.to_string()]);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        let file = File::create(&log)?;
        command.stdout(file.try_clone()?).stderr(file);
        let mut server = ProcessGuard::start(command, StopSignal::Interrupt, Some(self.folder.path()))?;
        let pid_file = data.join("postmaster.pid");
        server
            .wait_until(READY_TIMEOUT, || is_ready(&pid_file))
            .with_context(|| format!("PostgreSQL: {}", std::fs::read_to_string(&log).unwrap_or_default()))?;
        let psql = sibling_program(&programs.binaries.program_path("postgres"), "psql");
        Ok(PostgresServer { server, port: self.port, psql, _folder: self.folder })
    }
}

impl PostgresServer {
    fn run_sql(&self, database: &str, sql: &str) -> Result<String> {
        run_psql(&self.psql, &format!("postgres://postgres@127.0.0.1:{}/{database}", self.port), sql)
    }
}
