//! `guerdon dev`: a sandbox with temporary data and a receiver of events.

mod mails;
mod receiver;
mod sandbox;
mod style;

use std::ffi::OsString;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::rt::System;
use anyhow::{Context as _, Result};
use data_encoding::HEXLOWER;
use guerdon_webhook_dispatcher::RetrySchedule;
use rustix::process::{Signal, getpid, kill_process};

use self::mails::print_sent_mails;
use self::receiver::SandboxReceiver;
use self::sandbox::Sandbox;
use crate::application::Application;
use crate::commands::CommandOutput;
use crate::platform::random;
use crate::platform::signals::StopSignals;
use crate::settings::Settings;
use crate::terminal::logging;

/// Start a sandbox: temporary data with a provider, companies and funded users, and a receiver that verifies events
///
/// Prints ids and credentials as lines to paste, then each event and each mail as it arrives. Ctrl-C, or closing the
/// terminal, stops it and deletes the data. The ports are 8443 and 9090, or free ones if those are in use.
#[derive(Debug, clap::Args)]
#[command(after_help = r"Examples:
  guerdon dev
  guerdon dev --speed 10000")]
pub(crate) struct DevArguments {
    /// Divide every retry wait by this number, and send an event that the receiver refuses, to show the whole retry
    /// schedule
    #[arg(long, value_name = "N", default_value_t = 1.0, allow_negative_numbers = true, value_parser = parse_speed)]
    speed: f64,
    /// Use this database instead of a temporary one; to use it again later, set GUERDON_MASTER_KEY to the value that
    /// the first run prints
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// Run a self-test and exit
    #[arg(long)]
    check: bool,
}

const SPEED_FORMAT_ERROR: &str = "must be a number from 0.001 to 1000000000, such as 60: no sign, no comma";

fn parse_speed(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|speed| RetrySchedule::with_time_scale(*speed).is_some())
        .ok_or_else(|| SPEED_FORMAT_ERROR.to_owned())
}

/// Runs the sandbox until it is stopped.
pub(crate) fn run_sandbox(arguments: &DevArguments) -> Result<CommandOutput> {
    let schedule = RetrySchedule::with_time_scale(arguments.speed).context(SPEED_FORMAT_ERROR)?;
    let folder = tempfile::Builder::new().prefix("guerdon-dev-").tempdir()?;
    let variables = sandbox_variables(arguments, folder.path())?;
    let settings = load_settings(&variables)?;
    logging::start_logging(settings.log);
    let receiver = SandboxReceiver::start(schedule)?;
    let sandbox = Sandbox { settings, variables, folder: folder.path().to_owned(), receiver };
    let result = Arc::new(Mutex::new(Ok(())));
    System::new().block_on(serve_sandbox(Arc::new(sandbox), arguments.check, Arc::clone(&result)))?;
    std::mem::replace(&mut *result.lock().unwrap_or_else(PoisonError::into_inner), Ok(()))?;
    Ok(CommandOutput::default())
}

/// Runs the service while another thread fills the sandbox and prints examples to try. The program ends when that
/// thread fails or has finished the self-test.
async fn serve_sandbox(sandbox: Arc<Sandbox>, is_check: bool, ended: Arc<Mutex<Result<()>>>) -> Result<()> {
    let signals = Arc::new(tokio::sync::Mutex::new(StopSignals::listen()?.and_hangup()?));
    let application = Application::build(&sandbox.settings, print_sent_mails)?;
    let worker_sandbox = Arc::clone(&sandbox);
    std::thread::spawn(move || {
        let outcome = worker_sandbox.create_data().and_then(|filled| {
            filled.print_instructions();
            if worker_sandbox.is_accelerated() {
                filled.send_refused_event()?;
            }
            if is_check { filled.run_self_test() } else { Ok(()) }
        });
        if outcome.is_ok() && !is_check {
            return; // a signal stops the sandbox
        }
        *ended.lock().unwrap_or_else(PoisonError::into_inner) = outcome;
        let _gone = kill_process(getpid(), Signal::TERM);
    });
    let stop = || {
        let signals = Arc::clone(&signals);
        async move { signals.lock().await.next().await }
    };
    application.run_until_stopped(stop).await
}

/// The settings of the sandbox as environment variables. The actual environment is ignored.
fn sandbox_variables(arguments: &DevArguments, folder: &Path) -> Result<Vec<(&'static str, String)>> {
    let port = free_port(8443)?;
    let mut variables = vec![
        ("GUERDON_DATA_DIR", folder.display().to_string()),
        ("GUERDON_HTTP__LISTEN", format!("127.0.0.1:{port}")),
        ("GUERDON_HTTP__DRAIN_SECONDS", "0".to_owned()),
        ("GUERDON_OPERATOR__LISTEN", format!("127.0.0.1:{}", free_port(9090)?)),
        ("GUERDON_SERVICE_URL", format!("https://localhost:{port}")),
        ("GUERDON_WEBHOOKS__ALLOW_HTTP", "true".to_owned()),
        ("GUERDON_WEBHOOKS__ALLOW_PRIVATE_NETWORKS", "true".to_owned()),
        ("GUERDON_WEBHOOKS__TIME_SCALE", arguments.speed.to_string()),
        ("GUERDON_LOG__LEVEL", "error".to_owned()),
    ];
    if let Some(url) = &arguments.database {
        let key = match std::env::var("GUERDON_MASTER_KEY") {
            Ok(key) => key,
            Err(_unset) => HEXLOWER.encode(&random::generate_bytes::<32>()?),
        };
        variables.extend([("GUERDON_DATABASE__URL", url.clone()), ("GUERDON_MASTER_KEY", key)]);
    }
    if let Ok(value) = std::env::var("GUERDON_ALLOW_UNSAFE_POSTGRES") {
        variables.push(("GUERDON_ALLOW_UNSAFE_POSTGRES", value));
    }
    Ok(variables)
}

fn load_settings(variables: &[(&'static str, String)]) -> Result<Settings> {
    let environment = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Settings::from_sources(None, environment)
}

/// Returns the preferred port if it is free, otherwise a port that the system chooses.
fn free_port(preferred: u16) -> Result<u16> {
    let listener =
        TcpListener::bind(("127.0.0.1", preferred)).or_else(|_taken| TcpListener::bind(("127.0.0.1", 0)));
    Ok(listener.context("no free port")?.local_addr()?.port())
}

/// The path of the sandbox's self-signed certificate.
fn certificate_path(folder: &Path) -> PathBuf {
    folder.join("tls").join("certificate.pem")
}
