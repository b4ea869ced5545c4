//! `guerdon dev`: a sandbox with temporary data and a receiver of events.

mod mails;
mod receiver;
mod sandbox;
mod style;

use std::ffi::OsString;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
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
use crate::settings::{ListenAddresses, Settings};
use crate::terminal::logging;

/// Start a sandbox: temporary data with a provider, companies and funded users, and a receiver that verifies events
///
/// Prints ids and credentials as lines to paste, then each event and each email as it arrives. Ctrl-C, or closing the
/// terminal, stops it and deletes the data. It listens on 127.0.0.1, on ports 8443 and 9090, or on free ones if those
/// are in use. The settings http.listen and operator.listen change the addresses, such as to 0.0.0.0:8443 in a
/// container. All other settings are ignored, except GUERDON_MASTER_KEY with --database.
#[derive(Debug, clap::Args)]
#[command(after_help = r"Examples:
  guerdon dev
  guerdon dev --speed 10000
  GUERDON_HTTP__LISTEN=0.0.0.0:8443 guerdon dev")]
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

/// Runs the sandbox until it is stopped. `settings_file` and the environment may set the addresses to listen on.
pub(crate) fn run_sandbox(arguments: &DevArguments, settings_file: Option<&Path>) -> Result<CommandOutput> {
    let folder = tempfile::Builder::new().prefix("guerdon-dev-").tempdir()?;
    let configured = ListenAddresses::load(settings_file, std::env::vars_os())?;
    let variables = sandbox_variables(arguments, folder.path(), configured)?;
    let settings = load_settings(&variables)?;
    logging::start_logging(settings.log);
    let receiver = SandboxReceiver::start(settings.webhooks.schedule)?;
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
        let _ignored = kill_process(getpid(), Signal::TERM);
    });
    let stop = || {
        let signals = Arc::clone(&signals);
        async move { signals.lock().await.next().await }
    };
    application.run_until_stopped(stop).await.map(drop)
}

/// Returns the settings of the sandbox as environment variables. Only the addresses, the master key of a given database
/// and `GUERDON_ALLOW_UNSAFE_POSTGRES` may come from the actual environment.
fn sandbox_variables(
    arguments: &DevArguments,
    folder: &Path,
    configured: ListenAddresses,
) -> Result<Vec<(&'static str, String)>> {
    let http = choose_address(configured.http, 8443)?;
    let operator = choose_address(configured.operator, 9090)?;
    let mut variables = vec![
        ("GUERDON_DATA_DIR", folder.display().to_string()),
        ("GUERDON_HTTP__LISTEN", http.to_string()),
        ("GUERDON_HTTP__DRAIN_SECONDS", "0".to_owned()),
        ("GUERDON_OPERATOR__LISTEN", operator.to_string()),
        ("GUERDON_SERVICE_URL", local_url(http)),
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

/// Returns the configured address, or one on this machine with the preferred port if that is free.
fn choose_address(configured: Option<SocketAddr>, preferred_port: u16) -> Result<SocketAddr> {
    match configured {
        Some(mut address) => {
            if address.port() == 0 {
                address.set_port(free_port(preferred_port)?);
            }
            Ok(address)
        }
        None => Ok((Ipv4Addr::LOCALHOST, free_port(preferred_port)?).into()),
    }
}

/// Returns the URL under which a program on this machine reaches a listener.
fn local_url(listen: SocketAddr) -> String {
    let (ip, port) = (listen.ip(), listen.port());
    if ip.is_unspecified() || ip == Ipv4Addr::LOCALHOST || ip == Ipv6Addr::LOCALHOST {
        format!("https://localhost:{port}")
    } else {
        format!("https://{listen}")
    }
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

#[cfg(test)]
mod tests {
    use super::local_url;

    #[test]
    fn the_url_is_reachable_from_this_machine() {
        for (listen, url) in [
            ("127.0.0.1:8443", "https://localhost:8443"),
            ("0.0.0.0:443", "https://localhost:443"),
            ("[::]:8443", "https://localhost:8443"),
            ("127.0.0.2:8443", "https://127.0.0.2:8443"),
            ("192.0.2.1:8443", "https://192.0.2.1:8443"),
            ("[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
        ] {
            assert_eq!(local_url(listen.parse().unwrap()), url);
        }
    }
}
