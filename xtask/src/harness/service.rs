//! A throw-away service to measure.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use serde_json::Value;

use super::cpu;
use super::https::HttpsClient;
use crate::process_guard::{ProcessGuard, StopSignal};
use crate::workspace::{command_output, guerdon_command};

/// For throw-away secrets only.
const MASTER_KEY: &str = "5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e";
const LOG: &str = "serve.log";
const PENDING_EVENTS_METRIC: &str = "guerdon_outbox_pending_events ";

/// The database of a service.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Database {
    Sqlite,
    Postgres,
}

impl Database {
    /// Returns the named database, or both.
    pub(crate) fn one_or_all(named: Option<Self>) -> Vec<Self> {
        named.map_or(vec![Self::Sqlite, Self::Postgres], |database| vec![database])
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// A running `guerdon serve` on a temporary folder.
pub(crate) struct RunningService {
    server: ProcessGuard,
    /// The process id of the database server, if there is one.
    database: Option<u32>,
    installation: Installation,
    https: HttpsClient,
    operator: SocketAddr,
}

/// The program with a data folder and settings, to run commands. A service may be running on the same data.
#[derive(Clone)]
pub(crate) struct Installation {
    program: PathBuf,
    data: PathBuf,
    variables: Vec<(&'static str, String)>,
}

impl RunningService {
    /// Starts the service without rate limits, on the embedded database unless another is given.
    pub(crate) fn start(program: &Path, data: &Path, database: Option<(String, u32)>) -> Result<Self> {
        Self::start_in(program, data, data, database)
    }

    /// Like [`Self::start`], with additional settings and a log file in the service's folder.
    pub(crate) fn start_with(
        program: &Path,
        data: &Path,
        database: Option<(String, u32)>,
        extra_settings: &[(&'static str, String)],
    ) -> Result<Self> {
        Self::start_as(program, data, data, database, extra_settings, true)
    }

    /// Like [`Self::start_with`], with a persistent folder `data`; `scratch` is removed.
    pub(crate) fn start_in(
        program: &Path,
        data: &Path,
        scratch: &Path,
        database: Option<(String, u32)>,
    ) -> Result<Self> {
        Self::start_as(program, data, scratch, database, &[], false)
    }

    fn start_as(
        program: &Path,
        data: &Path,
        scratch: &Path,
        database: Option<(String, u32)>,
        extra_settings: &[(&'static str, String)],
        keeps_log: bool,
    ) -> Result<Self> {
        let (listen, operator) = (free_address()?, free_address()?);
        let mut variables = vec![
            ("GUERDON_DATA_DIR", data.display().to_string()),
            ("GUERDON_HTTP__LISTEN", listen.to_string()),
            ("GUERDON_OPERATOR__LISTEN", operator.to_string()),
            ("GUERDON_SERVICE_URL", format!("https://localhost:{}", listen.port())),
            ("GUERDON_RATE_LIMIT__REQUESTS_PER_SECOND", "0".to_owned()),
            ("GUERDON_WEBHOOKS__ALLOW_HTTP", "true".to_owned()),
            ("GUERDON_WEBHOOKS__ALLOW_PRIVATE_NETWORKS", "true".to_owned()),
            ("GUERDON_MASTER_KEY", MASTER_KEY.to_owned()),
            ("GUERDON_LOG__LEVEL", "warn".to_owned()),
        ];
        let (url, database) = database.unzip();
        variables.extend(url.map(|url| ("GUERDON_DATABASE__URL", url)));
        variables.extend_from_slice(extra_settings);
        let installation =
            Installation { program: program.to_path_buf(), data: data.to_path_buf(), variables };
        let mut serve = installation.cli_command(&["serve"]);
        if keeps_log {
            serve.stderr(File::create(data.join(LOG))?);
        }
        let mut server = ProcessGuard::start(serve, StopSignal::Terminate, scratch)?;
        let is_ready = || {
            let response = ureq::get(format!("http://{operator}/readyz")).call();
            response.is_ok_and(|ready| ready.status() == 200)
        };
        server.wait_until(Duration::from_secs(60), is_ready).context("guerdon serve")?;
        let https = HttpsClient::new(listen, &data.join("tls"))?;
        Ok(Self { server, database, installation, https, operator })
    }

    pub(crate) fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Returns the base URL.
    pub(crate) fn base_url(&self) -> String {
        let variable = self.installation.variables.iter().find(|(name, _)| *name == "GUERDON_SERVICE_URL");
        variable.map(|(_, url)| url.clone()).unwrap_or_default()
    }

    pub(crate) fn https(&self) -> &HttpsClient {
        &self.https
    }

    /// Starts measuring the processor time of the service and its database.
    pub(crate) fn start_cpu_meter(&self) -> CpuMeter<'_> {
        CpuMeter { service: self, before: self.processor_time() }
    }

    fn processor_time(&self) -> (Duration, Duration) {
        (cpu::cpu_time(self.server.id()), self.database.map(cpu::cpu_time).unwrap_or_default())
    }

    /// Returns the peak memory of the service so far.
    pub(crate) fn memory_peak(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        let kilobytes: u64 =
            line.and_then(|number| number.trim().parse().ok()).context("no peak memory in /proc")?;
        Ok(kilobytes << 10)
    }

    pub(crate) fn data_folder(&self) -> &Path {
        &self.installation.data
    }

    /// Runs an operator's command and returns its output.
    pub(crate) fn run_cli(&self, arguments: &[&str]) -> Result<Value> {
        self.installation.run_cli(arguments)
    }

    /// Assigns the first processor to the service and its database. Returns whether others are left for clients.
    pub(crate) fn partition_processors(&self) -> Result<bool> {
        let all: Vec<u32> = self.database.into_iter().chain([self.server.id()]).collect();
        cpu::partition_processors(&all)
    }

    /// Returns the log so far. The service must have been started with [`Self::start_with`].
    pub(crate) fn read_log(&self) -> Result<String> {
        Ok(std::fs::read_to_string(self.installation.data.join(LOG))?)
    }

    /// Checks that the service is healthy, and returns its response time.
    pub(crate) fn check_health(&self) -> Result<Duration> {
        let start = Instant::now();
        ureq::get(format!("http://{}/healthz", self.operator)).call()?;
        Ok(start.elapsed())
    }

    /// Returns a page of the console and its response time.
    pub(crate) fn get_console_page(&self, path: &str) -> Result<(Duration, String)> {
        let start = Instant::now();
        let text =
            ureq::get(format!("http://{}{path}", self.operator)).call()?.body_mut().read_to_string()?;
        Ok((start.elapsed(), text))
    }

    /// Returns the number of pending events as of the last count, which is two seconds old, or older if many are
    /// pending.
    pub(crate) fn pending_events(&self) -> Result<usize> {
        let mut response = ureq::get(format!("http://{}/metrics", self.operator)).call()?;
        let text = response.body_mut().read_to_string()?;
        let value = text.lines().find_map(|line| line.strip_prefix(PENDING_EVENTS_METRIC));
        value
            .and_then(|number| number.trim().parse().ok())
            .context("the metrics have no number of pending events")
    }

    /// Waits until no event is pending.
    pub(crate) fn wait_for_empty_outbox(&self, limit: Duration) -> Result<()> {
        let start = Instant::now();
        while self.pending_events()? > 0 {
            ensure!(start.elapsed() < limit, "events are still pending after {} s", limit.as_secs());
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

/// The processor time of the service and its database since the start of the measurement.
pub(crate) struct CpuMeter<'a> {
    service: &'a RunningService,
    before: (Duration, Duration),
}

impl CpuMeter<'_> {
    /// Divides the processor time by `count`.
    pub(crate) fn per_request(self, count: u32) -> (Duration, Duration) {
        let (after, count) = (self.service.processor_time(), count.max(1));
        ((after.0 - self.before.0) / count, (after.1 - self.before.1) / count)
    }
}

impl Installation {
    /// Returns the same settings for another folder and, if given, another database.
    pub(crate) fn at_location(&self, data: &Path, url: Option<String>) -> Self {
        let mut relocated = Self { data: data.to_path_buf(), ..self.clone() };
        for (name, value) in &mut relocated.variables {
            match (*name, &url) {
                ("GUERDON_DATA_DIR", _) => *value = data.display().to_string(),
                ("GUERDON_DATABASE__URL", Some(url)) => value.clone_from(url),
                _ => {}
            }
        }
        relocated
    }

    /// Returns the file of an embedded database.
    pub(crate) fn database_file(&self) -> PathBuf {
        self.data.join("guerdon.db")
    }

    /// Returns an operator's command.
    pub(crate) fn cli_command(&self, arguments: &[&str]) -> Command {
        let mut command = guerdon_command(&self.program);
        command.args(arguments).current_dir(&self.data);
        command.envs(self.variables.iter().map(|(name, value)| (*name, value.as_str())));
        command
    }

    /// Runs an operator's command and returns its output.
    pub(crate) fn run_cli(&self, arguments: &[&str]) -> Result<Value> {
        let printed = command_output(self.cli_command(arguments).args(["--output", "json"]))
            .with_context(|| format!("guerdon {}", arguments.join(" ")))?;
        serde_json::from_str(&printed)
            .with_context(|| format!("reading the output of guerdon {}", arguments.join(" ")))
    }
}

pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}
