//! PostgreSQL servers on loopback with fixed ports, so that one can take the place of another.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use guerdon_test_harness::{ProcessGuard, StopSignal};
use tempfile::TempDir;

use super::sql::SqlClient;
use crate::measurement::cpu;
use crate::postgres::{
    Owner, ServerDatabase, command_as_owner, initialize_cluster, is_ready, new_folder, run_psql,
    sibling_program,
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
pub(super) const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// The programs of the servers, possibly copied for the user that runs them.
pub(super) struct Programs {
    binaries: Binaries,
    _copy: TempDir,
}

/// A folder for a server that is not started yet.
pub(super) struct ServerFolder {
    folder: TempDir,
    owner: Option<Owner>,
    port: u16,
}

/// A running server. Its folder is removed when it is dropped.
pub(super) struct PostgresServer {
    server: ProcessGuard,
    psql: PathBuf,
    folder: ServerFolder,
}

impl Programs {
    pub(super) fn find(workspace: &Workspace) -> Result<Self> {
        let (copy, owner) = new_folder()?;
        let mut binaries = Binaries::find_or_fetch(workspace)?;
        if owner.is_some() {
            binaries = binaries.reachable_by_others(copy.path())?;
        }
        Ok(Self { binaries, _copy: copy })
    }

    /// The programs of the installation that this `pg_config` describes.
    pub(super) fn of_installation(pg_config: &Path) -> Result<Self> {
        let (copy, owner) = new_folder()?;
        let mut binaries = Binaries::of_installation(pg_config)?;
        if owner.is_some() {
            binaries = binaries.reachable_by_others(copy.path())?;
        }
        Ok(Self { binaries, _copy: copy })
    }

    /// Returns the path of a client program such as `pg_basebackup`.
    fn client_program(&self, name: &str) -> PathBuf {
        sibling_program(&self.binaries.program_path("postgres"), name)
    }
}

impl ServerFolder {
    pub(super) fn new(port: u16) -> Result<Self> {
        let (folder, owner) = new_folder()?;
        Ok(Self { folder, owner, port })
    }

    pub(super) fn data_folder(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Creates an empty cluster.
    pub(super) fn initialize_cluster(&self, programs: &Programs) -> Result<()> {
        initialize_cluster(&programs.binaries, &self.data_folder(), self.owner, self.folder.path())
    }

    /// Copies the cluster of a running server with `pg_basebackup`.
    pub(super) fn copy_cluster(
        &self,
        programs: &Programs,
        source: &PostgresServer,
        options: &[&str],
    ) -> Result<()> {
        let program = programs.client_program("pg_basebackup");
        let mut copy = command_as_owner(&program, self.owner, self.folder.path());
        copy.args(["-X", "stream", "-c", "fast", "--no-sync", "-w"]).args(options);
        copy.args(source.connection_arguments()).arg("-D").arg(self.data_folder());
        command_output(&mut copy).map(drop)
    }

    /// Adds lines to the settings of the cluster. They take precedence over earlier lines.
    pub(super) fn append_settings(&self, lines: &str) -> Result<()> {
        let file = self.data_folder().join("postgresql.auto.conf");
        Ok(OpenOptions::new().append(true).open(file)?.write_all(lines.as_bytes())?)
    }

    /// Makes the server recover, as its settings specify, when it starts.
    pub(super) fn request_recovery(&self) -> Result<()> {
        Ok(std::fs::write(self.data_folder().join("recovery.signal"), "")?)
    }

    pub(super) fn start(self, programs: &Programs) -> Result<PostgresServer> {
        let server = self.start_process(programs, Some(self.folder.path()))?;
        Ok(PostgresServer { server, psql: programs.client_program("psql"), folder: self })
    }

    /// Starts a server that can be started again. Its folder remains if this process is killed.
    pub(super) fn start_restartable(self, programs: &Programs) -> Result<PostgresServer> {
        let server = self.start_process(programs, None)?;
        Ok(PostgresServer { server, psql: programs.client_program("psql"), folder: self })
    }

    /// Starts the server and waits until it is ready. The watchdog removes the folder `removed` if this process is
    /// killed.
    fn start_process(&self, programs: &Programs, removed: Option<&Path>) -> Result<ProcessGuard> {
        let (data, log) = (self.data_folder(), self.folder.path().join("log"));
        let mut command: Command =
            command_as_owner(&programs.binaries.program_path("postgres"), self.owner, self.folder.path());
        command.arg("-D").arg(&data).arg("-k").arg(self.folder.path()).args(["-p", &self.port.to_string()]);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        let file = File::create(&log)?;
        command.stdout(file.try_clone()?).stderr(file);
        let mut server = ProcessGuard::start(command, StopSignal::Interrupt, removed)?;
        let pid_file = data.join("postmaster.pid");
        server
            .wait_until(READY_TIMEOUT, || is_ready(&pid_file))
            .with_context(|| format!("PostgreSQL: {}", std::fs::read_to_string(&log).unwrap_or_default()))?;
        Ok(server)
    }
}

impl PostgresServer {
    pub(super) fn port(&self) -> u16 {
        self.folder.port
    }

    /// Kills all processes of a restartable server, and starts it again after a pause.
    pub(super) fn restart_after_kill(&mut self, programs: &Programs, pause: Duration) -> Result<()> {
        self.kill()?;
        self.server.wait()?;
        std::thread::sleep(pause);
        self.server = self.folder.start_process(programs, None)?;
        Ok(())
    }

    /// Returns the process id of the main process.
    pub(super) fn process_id(&self) -> u32 {
        self.server.id()
    }

    /// Returns the superuser's connection URL for a database.
    pub(super) fn database_url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.folder.port)
    }

    /// Returns an existing database for a service.
    pub(super) fn service_database(&self, name: &str) -> ServerDatabase {
        ServerDatabase { url: self.database_url(name), server_process_id: self.process_id() }
    }

    /// Returns a client for this connection URL.
    pub(super) fn sql_client(&self, url: String) -> SqlClient {
        SqlClient::Postgres { psql: self.psql.clone(), url }
    }

    /// Runs SQL with `psql` in one transaction and returns the rows.
    pub(super) fn run_sql(&self, database: &str, sql: &str) -> Result<String> {
        run_psql(&self.psql, &self.database_url(database), sql)
    }

    /// Starts `pg_receivewal`, which writes the write-ahead log to this folder through a replication slot.
    pub(super) fn receive_log(&self, programs: &Programs, slot: &str, folder: &Path) -> Result<ProcessGuard> {
        let program = programs.client_program("pg_receivewal");
        let command = || {
            let mut command = command_as_owner(&program, self.folder.owner, folder);
            command.args(self.connection_arguments()).arg(format!("--slot={slot}"));
            command
        };
        command_output(command().args(["--create-slot", "--if-not-exists"]))?;
        let mut receive = command();
        receive.arg("-D").arg(folder).stderr(Stdio::null()); // it reports the loss of the server
        ProcessGuard::start(receive, StopSignal::Interrupt, None)
    }

    /// Kills all processes of the server.
    pub(super) fn kill(&self) -> Result<()> {
        cpu::kill_tree(self.server.id())
    }

    fn connection_arguments(&self) -> [String; 6] {
        ["-h", "127.0.0.1", "-U", "postgres", "-p", &self.folder.port.to_string()].map(str::to_owned)
    }
}
