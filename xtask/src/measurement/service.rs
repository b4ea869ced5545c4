//! A temporary service to measure.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use guerdon_test_harness::{HttpsClient, Installation, ProcessGuard, ServiceProcess, Signal};
use serde_json::Value;

use super::cpu;
use crate::postgres::{Cluster, ServerDatabase};
use crate::workspace::Workspace;

const START_POLL_INTERVAL: Duration = Duration::from_millis(20);
const START_TIMEOUT: Duration = Duration::from_secs(60);
const RESPONSE_COUNT_METRIC: &str = "guerdon_http_request_duration_seconds_count";
const PENDING_EVENTS_METRIC: &str = "guerdon_outbox_pending_events";

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

    /// Starts a cluster with durable commits, if this is PostgreSQL.
    pub(crate) fn start_cluster(self, workspace: &Workspace) -> Result<Option<Cluster>> {
        (self == Self::Postgres).then(|| Cluster::start_durable(workspace)).transpose()
    }
}

/// A running `guerdon serve` on a temporary folder.
pub(crate) struct RunningService {
    process: ServiceProcess,
    /// The process id of the database server, if there is one.
    database: Option<u32>,
    installation: Installation,
}

impl RunningService {
    /// Starts the service without rate limits, on the embedded database unless another is given, with additional
    /// settings.
    pub(crate) fn start(
        program: &Path,
        data: &Path,
        database: Option<ServerDatabase>,
        extra_settings: &[(&str, String)],
    ) -> Result<Self> {
        Self::start_in(program, data, data, database, extra_settings)
    }

    /// Like [`Self::start`], with a persistent folder `data`. The folder `scratch` is removed when the service has
    /// ended.
    pub(crate) fn start_in(
        program: &Path,
        data: &Path,
        scratch: &Path,
        database: Option<ServerDatabase>,
        extra_settings: &[(&str, String)],
    ) -> Result<Self> {
        let (url, database) = database.map(|database| (database.url, database.server_process_id)).unzip();
        let settings =
            [("GUERDON_WEBHOOKS__ALLOW_HTTP", "true"), ("GUERDON_WEBHOOKS__ALLOW_PRIVATE_NETWORKS", "true")];
        let url = url.as_deref().map(|url| ("GUERDON_DATABASE__URL", url));
        let extra = extra_settings.iter().map(|(name, value)| (*name, value.as_str()));
        let installation = Installation::new(program, data, settings.into_iter().chain(url).chain(extra));
        let process = ServiceProcess::start_with_watchdog(&installation, Some(scratch))?;
        wait_until_ready(&process)?;
        Ok(Self { process, database, installation })
    }

    /// Asks the service to stop.
    pub(crate) fn terminate(&self) -> Result<()> {
        self.process.terminate()
    }

    /// Kills the service, like a power failure.
    pub(crate) fn kill(&self) -> Result<()> {
        self.process.send_signal(Signal::KILL)
    }

    /// Waits until the killed service has ended.
    pub(crate) fn wait_for_exit(&mut self) -> Result<()> {
        self.process.wait_for_exit().map(drop)
    }

    /// Starts the service again on the same data after it was killed or stopped. Returns the time until `request` gets
    /// status 200.
    pub(crate) fn restart(&mut self, request: &[u8]) -> Result<Duration> {
        self.process.wait_for_exit()?;
        let start = Instant::now();
        let process = ServiceProcess::start_with_watchdog(&self.installation, None)?;
        while process.https().connect()?.send_request(request)?.status != 200 {
            ensure!(start.elapsed() < START_TIMEOUT, "guerdon serve is not ready: {}", process.read_log());
            std::thread::sleep(START_POLL_INTERVAL);
        }
        let start_time = start.elapsed();
        self.process = process;
        Ok(start_time)
    }

    /// Starts the killed service again, and waits until it is ready.
    pub(crate) fn restart_until_ready(&mut self) -> Result<()> {
        self.process.wait_for_exit()?;
        self.process = ServiceProcess::start_with_watchdog(&self.installation, None)?;
        wait_until_ready(&self.process)
    }

    /// Starts the service again after it was killed, and kills it after this time, possibly before it is ready.
    pub(crate) fn kill_during_start(&mut self, time_to_kill: Duration) -> Result<()> {
        self.process.wait_for_exit()?;
        let mut serve = self.installation.command(&["serve"]);
        let mut process = ProcessGuard::kill_on_drop(serve.stderr(Stdio::null()))?;
        std::thread::sleep(time_to_kill);
        process.kill()
    }

    pub(crate) fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Returns the base URL. Its host name is in the certificate.
    pub(crate) fn base_url(&self) -> String {
        format!("https://localhost:{}", self.https().address().port())
    }

    pub(crate) fn https(&self) -> &HttpsClient {
        self.process.https()
    }

    /// Starts measuring the processor time of the service and its database.
    pub(crate) fn start_cpu_meter(&self) -> CpuMeter<'_> {
        CpuMeter { service: self, before: self.processor_time() }
    }

    fn processor_time(&self) -> (Duration, Duration) {
        (cpu::cpu_time(self.process.id()), self.database.map(cpu::cpu_time).unwrap_or_default())
    }

    /// Returns the peak memory of the service so far.
    pub(crate) fn memory_peak(&self) -> Result<u64> {
        self.read_memory("VmHWM:")
    }

    /// Returns the present memory of the service.
    pub(crate) fn resident_memory(&self) -> Result<u64> {
        self.read_memory("VmRSS:")
    }

    fn read_memory(&self, field: &str) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(field)?.trim().strip_suffix(" kB"));
        let kilobytes: u64 =
            line.and_then(|number| number.trim().parse().ok()).context("no memory in /proc")?;
        Ok(kilobytes << 10)
    }

    /// Returns the number of open descriptors of the service.
    pub(crate) fn count_descriptors(&self) -> Result<usize> {
        Ok(std::fs::read_dir(format!("/proc/{}/fd", self.process.id()))?.count())
    }

    pub(crate) fn data_folder(&self) -> &Path {
        self.installation.data()
    }

    /// Runs an operator's command and returns its output.
    pub(crate) fn run_cli(&self, arguments: &[&str]) -> Result<Value> {
        self.installation.run_json(arguments)
    }

    /// Assigns the first processor to the service and its database. Returns whether others are left for clients.
    pub(crate) fn partition_processors(&self) -> Result<bool> {
        let all: Vec<u32> = self.database.into_iter().chain([self.process.id()]).collect();
        cpu::partition_processors(&all)
    }

    /// Returns the log so far.
    pub(crate) fn read_log(&self) -> String {
        self.process.read_log()
    }

    /// Checks that the service is healthy, and returns its response time.
    pub(crate) fn check_health(&self) -> Result<Duration> {
        let start = Instant::now();
        let status = self.process.operator_page_status("/healthz");
        ensure!(status == 200, "/healthz responds with {status}");
        Ok(start.elapsed())
    }

    /// Returns a page of the console and its response time.
    pub(crate) fn get_console_page(&self, path: &str) -> Result<(Duration, String)> {
        let start = Instant::now();
        let page = self.process.get_operator_page(path)?;
        ensure!(page.status == 200, "{path} responds with {}", page.status);
        Ok((start.elapsed(), page.body))
    }

    /// Returns the number of pending events as of the last count, which is two seconds old, or older if many are
    /// pending.
    pub(crate) fn pending_events(&self) -> Result<f64> {
        self.process
            .read_metric(PENDING_EVENTS_METRIC)?
            .context("the metrics have no number of pending events")
    }

    /// Returns the number of responses that the service has sent to requests with all of these labels, such as
    /// `status="201"`.
    pub(crate) fn count_responses(&self, labels: &[&str]) -> Result<usize> {
        let page = self.process.get_operator_page("/metrics")?.body;
        let counts = page.lines().filter(|line| line.starts_with(RESPONSE_COUNT_METRIC));
        let counts = counts.filter(|line| labels.iter().all(|label| line.contains(label)));
        let counts = counts.filter_map(|line| line.rsplit_once(' ')?.1.parse::<usize>().ok());
        Ok(counts.sum())
    }

    /// Waits until no event is pending.
    pub(crate) fn wait_for_empty_outbox(&self, limit: Duration) -> Result<()> {
        let start = Instant::now();
        while self.pending_events()? > 0.0 {
            ensure!(start.elapsed() < limit, "events are still pending after {} s", limit.as_secs());
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

fn wait_until_ready(process: &ServiceProcess) -> Result<()> {
    let start = Instant::now();
    while process.operator_page_status("/readyz") != 200 {
        ensure!(start.elapsed() < START_TIMEOUT, "guerdon serve is not ready: {}", process.read_log());
        std::thread::sleep(START_POLL_INTERVAL);
    }
    Ok(())
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

pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}
