//! A private, temporary PostgreSQL on a Unix socket.

use std::fs::File;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use guerdon_test_harness::{ProcessGuard, Signal, StopSignal};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tempfile::TempDir;

use crate::memory_folder::temporary_folder;
use crate::postgres_binaries::{Binaries, is_reachable};
use crate::workspace::{Workspace, command_output};

/// Settings of every cluster. Many connections are allowed, because each test opens its own.
const COMMON_SETTINGS: [&str; 4] =
    ["listen_addresses=", "max_connections=400", "max_locks_per_transaction=128", "log_min_messages=warning"];

/// The data of a test's cluster is never reused, so it need not reach the disk.
const TEST_SETTINGS: [&str; 4] =
    ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off"];

/// All characters but those that never need encoding in a URL (RFC 3986, section 2.3).
const ENCODED_IN_HOST: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Typical settings for a server with a few gigabytes of memory. Commits are durable.
const DURABLE_SETTINGS: [&str; 3] = ["shared_buffers=1GB", "max_wal_size=4GB", "checkpoint_timeout=15min"];

/// A running cluster. Stopped and removed when it is dropped, and also when this process is killed.
pub(crate) struct Cluster {
    server: ProcessGuard,
    launch: ServerLaunch,
    folder: TempDir,
    psql: PathBuf,
}

/// A database on a PostgreSQL server, for a service.
#[derive(Clone)]
pub(crate) struct ServerDatabase {
    /// The connection URL.
    pub(crate) url: String,
    /// The process id of its main process.
    pub(crate) server_process_id: u32,
}

/// How a cluster is created.
struct Options<'a> {
    settings: &'static [&'static str],
    environment: Vec<(&'static str, String)>,
    /// The folder for the data of the cluster, which may already contain one; `None` for a temporary folder.
    files: Option<&'a Path>,
    temporary: PathBuf,
    is_removed_by_watchdog: bool,
}

/// How the server of a cluster is started.
struct ServerLaunch {
    binaries: Binaries,
    owner: Option<Owner>,
    data: PathBuf,
    settings: &'static [&'static str],
    environment: Vec<(&'static str, String)>,
}

/// The user and group that the server runs as; PostgreSQL refuses to run as root.
#[derive(Clone, Copy)]
pub(crate) struct Owner {
    user: u32,
    group: u32,
}

impl Cluster {
    /// Starts a cluster for tests, without durability.
    pub(crate) fn start(workspace: &Workspace) -> Result<Self> {
        let options =
            Options { settings: &TEST_SETTINGS, temporary: temporary_folder(), ..Options::durable() };
        Self::start_with(workspace, options)
    }

    /// Starts a cluster with durable commits.
    pub(crate) fn start_durable(workspace: &Workspace) -> Result<Self> {
        Self::start_with(workspace, Options::durable())
    }

    /// Starts a cluster with durable commits, whose server has additional variables in its environment and can be
    /// restarted. Its folder remains if this process is killed.
    pub(crate) fn start_restartable(
        workspace: &Workspace,
        environment: Vec<(&'static str, String)>,
    ) -> Result<Self> {
        Self::start_with(
            workspace,
            Options { environment, is_removed_by_watchdog: false, ..Options::durable() },
        )
    }

    /// Starts a cluster with durable commits in a persistent folder, which may contain one already.
    pub(crate) fn start_durable_in(workspace: &Workspace, files: &Path) -> Result<Self> {
        Self::start_with(workspace, Options { files: Some(files), ..Options::durable() })
    }

    fn start_with(workspace: &Workspace, options: Options<'_>) -> Result<Self> {
        let Options { settings, environment, files, temporary, is_removed_by_watchdog } = options;
        let (folder, owner) = new_folder_in(&temporary)?;
        let mut binaries = Binaries::find_or_fetch(workspace)?;
        if owner.is_some() {
            binaries = binaries.reachable_by_others(folder.path())?;
        }
        let data = files.map_or_else(|| folder.path().join("data"), Path::to_path_buf);
        if !data.exists() {
            initialize_cluster(&binaries, &data, owner, folder.path())?;
        }

        let psql = binaries.program_path("psql");
        let launch = ServerLaunch { binaries, owner, data, settings, environment };
        let removed = is_removed_by_watchdog.then_some(folder.path());
        let server = launch.start_server(folder.path(), removed)?;
        Ok(Self { server, launch, folder, psql })
    }

    /// Stops the server without a checkpoint, as `pg_ctl stop -m immediate` does, and starts it again on the same data.
    pub(crate) fn restart_immediately(&mut self) -> Result<()> {
        self.server.send_signal(Signal::QUIT)?;
        self.server.wait()?;
        self.server = self.launch.start_server(self.folder.path(), None)?;
        Ok(())
    }

    /// Returns the process id of the server's main process.
    pub(crate) fn process_id(&self) -> u32 {
        self.server.id()
    }

    /// Returns the superuser's connection URL for libpq.
    pub(crate) fn url(&self) -> String {
        self.database_url("postgres")
    }

    /// Returns the folder of the server's programs.
    pub(crate) fn program_folder(&self) -> &Path {
        self.psql.parent().unwrap_or(Path::new(""))
    }

    /// Returns a program from the server's folder or, if it is missing there, its bare name.
    pub(crate) fn program_path(&self, name: &str) -> PathBuf {
        sibling_program(&self.psql, name)
    }

    /// Creates an empty database and returns its URL.
    pub(crate) fn create_database(&self, name: &str) -> Result<String> {
        self.run_sql(&self.url(), &format!("CREATE DATABASE {name}"))?;
        Ok(self.database_url(name))
    }

    /// Creates an empty database for a service.
    pub(crate) fn create_service_database(&self, name: &str) -> Result<ServerDatabase> {
        Ok(ServerDatabase { url: self.create_database(name)?, server_process_id: self.process_id() })
    }

    /// Runs SQL with `psql` in one transaction and returns the rows.
    pub(crate) fn run_sql(&self, url: &str, sql: &str) -> Result<String> {
        run_psql(&self.program_path("psql"), url, sql)
    }

    /// Returns the URL of a database.
    pub(crate) fn database_url(&self, database: &str) -> String {
        let folder = self.folder.path().to_string_lossy();
        let host = utf8_percent_encode(&folder, ENCODED_IN_HOST);
        format!("postgres:///{database}?host={host}&user=postgres")
    }
}

impl Options<'_> {
    fn durable() -> Self {
        Self {
            settings: &DURABLE_SETTINGS,
            environment: Vec::new(),
            files: None,
            temporary: std::env::temp_dir(),
            is_removed_by_watchdog: true,
        }
    }
}

impl ServerLaunch {
    /// Starts the server with its socket in `folder`, and waits until it is ready. Its watchdog removes `removed`.
    fn start_server(&self, folder: &Path, removed: Option<&Path>) -> Result<ProcessGuard> {
        let Self { binaries, owner, data, settings, environment } = self;
        let (log, pid_file) = (folder.join("log"), data.join("postmaster.pid"));
        let mut command = command_as_owner(&binaries.program_path("postgres"), *owner, folder);
        command.envs(environment.iter().cloned()).arg("-D").arg(data).arg("-k").arg(folder);
        for setting in COMMON_SETTINGS.iter().chain(*settings) {
            command.args(["-c", setting]);
        }
        let file = File::create(&log)?;
        command.stdout(file.try_clone()?).stderr(file);
        let mut server = ProcessGuard::start(command, StopSignal::Interrupt, removed)?;
        server
            .wait_until(Duration::from_secs(60), || is_ready(&pid_file))
            .with_context(|| format!("PostgreSQL: {}", std::fs::read_to_string(&log).unwrap_or_default()))?;
        Ok(server)
    }
}

/// Returns a program in the folder of `other` or, if it is missing there, its bare name: some distributions install
/// the client apart from the server's programs.
pub(crate) fn sibling_program(other: &Path, name: &str) -> PathBuf {
    Some(other.with_file_name(name))
        .filter(|program| program.is_file())
        .unwrap_or_else(|| PathBuf::from(name))
}

/// Runs SQL with this `psql` in one transaction and returns the rows.
pub(crate) fn run_psql(program: &Path, url: &str, sql: &str) -> Result<String> {
    command_output(Command::new(program).args([
        "-X",
        "-q",
        "-A",
        "-t",
        "-v",
        "ON_ERROR_STOP=1",
        "-c",
        sql,
        url,
    ]))
}

pub(crate) fn initialize_cluster(
    binaries: &Binaries,
    data: &Path,
    owner: Option<Owner>,
    folder: &Path,
) -> Result<()> {
    std::fs::create_dir_all(data)?;
    if let Some(owner) = owner {
        std::os::unix::fs::chown(data, Some(owner.user), Some(owner.group))?;
    }
    let mut initdb = command_as_owner(&binaries.program_path("initdb"), owner, folder);
    initdb.args(["-A", "trust", "-E", "UTF8", "--locale=C", "-U", "postgres", "--no-sync", "-D"]).arg(data);
    command_output(&mut initdb)?;
    Ok(())
}

pub(crate) fn command_as_owner(program: &Path, owner: Option<Owner>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env_remove("PGDATA");
    if let Some(owner) = owner {
        command.uid(owner.user).gid(owner.group);
    }
    command
}

/// Creates a folder for temporary files and returns it; see [`new_folder_in`].
pub(crate) fn new_folder() -> Result<(TempDir, Option<Owner>)> {
    new_folder_in(&std::env::temp_dir())
}

/// Creates a folder and returns it. Root gives it to an unprivileged user, who is returned too.
fn new_folder_in(parent: &Path) -> Result<(TempDir, Option<Owner>)> {
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("guerdon-pg-");
        builder
    };
    let folder = builder().tempdir_in(parent)?;
    if folder.path().metadata()?.uid() != 0 {
        return Ok((folder, None));
    }
    // The temporary folder of root may be closed to other users.
    let parent_is_open = folder.path().parent().is_some_and(is_reachable);
    let folder = if parent_is_open { folder } else { builder().tempdir_in("/tmp")? };
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755))?;
    let owner = unprivileged_owner();
    std::os::unix::fs::chown(folder.path(), Some(owner.user), Some(owner.group))?;
    Ok((folder, Some(owner)))
}

fn unprivileged_owner() -> Owner {
    let id = |flag: &str, name: &str| {
        command_output(Command::new("id").args([flag, name])).ok()?.trim().parse().ok()
    };
    ["nobody", "postgres"]
        .into_iter()
        .find_map(|name| Some(Owner { user: id("-u", name)?, group: id("-g", name)? }))
        .unwrap_or(Owner { user: 65_534, group: 65_534 })
}

/// Whether the server is ready. Like `pg_ctl`, reads the eighth line of the pid file.
pub(crate) fn is_ready(pid_file: &Path) -> bool {
    let text = std::fs::read_to_string(pid_file).unwrap_or_default();
    text.lines().nth(7).is_some_and(|state| state.trim() == "ready")
}
