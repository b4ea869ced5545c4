//! Runs the service's binary on a data folder, as an operator does.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use ureq::Agent;

use crate::https::HttpsClient;
use crate::process_guard::{ProcessGuard, Signal, StopSignal};

/// The master key of test databases, which contain only temporary secrets.
const MASTER_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const OPERATOR_TIMEOUT: Duration = Duration::from_secs(30);

/// The service's binary, with the data folder and the settings for its commands. A service may be running on the same
/// data.
#[derive(Clone)]
pub struct Installation {
    program: PathBuf,
    data: PathBuf,
    settings: Vec<(String, String)>,
}

/// A running `guerdon serve`.
pub struct ServiceProcess {
    pub api_url: String,
    pub operator_url: String,
    guard: ProcessGuard,
    https: HttpsClient,
    operator: Agent,
    log: Log,
}

/// A page of the operator's listener.
pub struct OperatorPage {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub body: String,
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

/// Returns a command for the service's binary without the `GUERDON_` variables of this shell, which may refer to a
/// database that matters. Only the master key is passed on, to reopen a database.
pub fn guerdon_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GUERDON_") && name != "GUERDON_MASTER_KEY" {
            command.env_remove(name);
        }
    }
    command
}

impl Installation {
    /// An installation without a rate limit, on free ports and on the embedded database. `settings` are environment
    /// variables and take precedence.
    pub fn new<'a>(
        program: &Path,
        data: &Path,
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let folder = data.to_string_lossy();
        let defaults = [
            ("GUERDON_DATA_DIR", &*folder),
            ("GUERDON_HTTP__LISTEN", "127.0.0.1:0"),
            ("GUERDON_OPERATOR__LISTEN", "127.0.0.1:0"),
            ("GUERDON_MASTER_KEY", MASTER_KEY),
            ("GUERDON_RATE_LIMIT__REQUESTS_PER_SECOND", "0"),
        ];
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let settings = defaults.map(owned).into_iter().chain(settings.into_iter().map(owned)).collect();
        Self { program: program.to_path_buf(), data: data.to_path_buf(), settings }
    }

    /// Returns the same settings for another folder and, if given, another database.
    pub fn at_location(&self, data: &Path, url: Option<String>) -> Self {
        let mut relocated = Self { data: data.to_path_buf(), ..self.clone() };
        relocated.settings.push(("GUERDON_DATA_DIR".to_owned(), data.display().to_string()));
        relocated.settings.extend(url.map(|url| ("GUERDON_DATABASE__URL".to_owned(), url)));
        relocated
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Returns the file of an embedded database.
    pub fn database_file(&self) -> PathBuf {
        self.data.join("guerdon.db")
    }

    /// Returns an operator's command.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = guerdon_command(&self.program);
        command.args(arguments).envs(self.settings.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs an operator's command, which must succeed. Returns its output, which is JSON.
    pub fn run_json(&self, arguments: &[&str]) -> Result<Value> {
        let words = || format!("guerdon {}", arguments.join(" "));
        let output = self.command(arguments).args(["--output", "json"]).output().with_context(words)?;
        let message = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
        let message = String::from_utf8_lossy(message);
        ensure!(output.status.success(), "{} failed ({}): {}", words(), output.status, message.trim());
        serde_json::from_slice(&output.stdout).with_context(|| format!("reading the output of {}", words()))
    }
}

impl ServiceProcess {
    /// Starts the service. It is killed when it is dropped.
    pub fn start(installation: &Installation) -> Result<Self> {
        let mut serve = installation.command(&["serve"]);
        Self::follow(installation, ProcessGuard::kill_on_drop(serve.stderr(Stdio::piped()))?)
    }

    /// Starts the service with a watchdog, which stops it and removes `folder`, if given, even if this process is
    /// killed.
    pub fn start_with_watchdog(installation: &Installation, folder: Option<&Path>) -> Result<Self> {
        let mut serve = installation.command(&["serve"]);
        serve.stderr(Stdio::piped());
        Self::follow(installation, ProcessGuard::start(serve, StopSignal::Terminate, folder)?)
    }

    /// Reads the log until the service listens, and in the background after that.
    fn follow(installation: &Installation, mut guard: ProcessGuard) -> Result<Self> {
        let output = guard.process().stderr.take().context("no log")?;
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let log = Log::default();
        let (mut api, mut operator) = (None, None);
        while api.is_none() || operator.is_none() {
            let Some(line) = lines.next() else { bail!("guerdon serve ended: {}", log.lock()) };
            api = api.or_else(|| url_in_field(&line, "api_url"));
            operator = operator.or_else(|| url_in_field(&line, "health_url"));
            log.add_line(&line);
        }
        let (api_url, operator_url) = (api.unwrap_or_default(), operator.unwrap_or_default());
        let shared_log = log.clone();
        std::thread::spawn(move || lines.for_each(|line| shared_log.add_line(&line)));
        let address = api_url.split("://").nth(1).unwrap_or_default().parse::<SocketAddr>();
        let certificate = installation.data.join("tls").join("certificate.pem");
        let https = HttpsClient::new(
            address.with_context(|| format!("{api_url} has no address"))?,
            Some(&*certificate).filter(|file| file.exists()),
        )?;
        // Reusing a connection fails if the service closes it at that moment because it was idle (RFC 9112, 9.3.1).
        let operator =
            Agent::config_builder().max_idle_connections(0).http_status_as_error(false).proxy(None);
        let operator = operator.timeout_global(Some(OPERATOR_TIMEOUT)).build().into();
        Ok(Self { api_url, operator_url, guard, https, operator, log })
    }

    pub fn id(&self) -> u32 {
        self.guard.id()
    }

    /// Returns a client of the API. It trusts the certificate in the data folder.
    pub fn https(&self) -> &HttpsClient {
        &self.https
    }

    /// Returns the log so far.
    pub fn read_log(&self) -> String {
        self.log.lock().clone()
    }

    /// Returns how often the log contains a string.
    pub fn count_in_log(&self, what: &str) -> usize {
        self.log.lock().matches(what).count()
    }

    /// Returns a page of the operator's listener.
    pub fn get_operator_page(&self, path: &str) -> Result<OperatorPage> {
        let mut response = self.operator.get(format!("{}{path}", self.operator_url)).call()?;
        let body = response.body_mut().read_to_string()?;
        Ok(OperatorPage { status: response.status().as_u16(), headers: response.headers().clone(), body })
    }

    /// Returns the status of a page of the operator's listener; 0 if the service does not respond.
    pub fn operator_page_status(&self, path: &str) -> u16 {
        self.get_operator_page(path).map_or(0, |page| page.status)
    }

    /// Returns the value of a metric, whose name includes its labels; `None` if nothing was recorded.
    pub fn read_metric(&self, name: &str) -> Result<Option<f64>> {
        let text = self.get_operator_page("/metrics")?.body;
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.map(|value| value.parse().with_context(|| format!("{name} {value}"))).transpose()
    }

    pub fn send_signal(&self, signal: Signal) -> Result<()> {
        self.guard.send_signal(signal)
    }

    /// Kills the service with SIGKILL, and waits until it has ended.
    pub fn kill(&mut self) -> Result<()> {
        self.guard.kill()
    }

    /// Asks the service to stop.
    pub fn terminate(&self) -> Result<()> {
        self.send_signal(Signal::TERM)
    }

    /// Waits until the process ends. Returns its exit status.
    pub fn wait_for_exit(&mut self) -> Result<Option<i32>> {
        Ok(self.guard.wait()?.code())
    }
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_line(&self, line: &str) {
        let mut log = self.lock();
        log.push_str(line);
        log.push('\n');
    }
}

/// The URL in a field of a line of the log, in text or JSON.
fn url_in_field(line: &str, field: &str) -> Option<String> {
    let value = line.split_once(field)?.1.trim_start_matches(['=', ':', '"']);
    let url = value.split([' ', '"']).next()?;
    url.starts_with("http").then(|| url.to_owned())
}
