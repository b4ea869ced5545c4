//! Runs one command against the database: in this process, or in the running `serve` that holds the embedded database.

use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::thread::sleep; // tidy: another process may hold the database briefly
use std::time::Duration;

use anyhow::{anyhow, bail};
use guerdon_domain::ports::Notifiers;
use guerdon_persistence::{Access, CrossProcessNotifier, OpenError, open_with_notifiers};

use super::distributions::resume_distributions_before_command;
use crate::command_socket::{SOCKET_NAME, SendOutcome, send_command};
use crate::commands::{Command, CommandEnvironment, CommandOutput, RunnableCommand as _};
use crate::keys::{open_existing_keys, open_or_create_keys};
use crate::platform::files;
use crate::settings::Settings;
use crate::terminal::Progress;
use crate::terminal::logging;

/// How many times a command tries to open a database that another process has locked.
const ATTEMPTS_MAX: u32 = 30;
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// Runs a command and returns its output. If `serve` holds the embedded database, the command is sent to it over the
/// socket in the data folder; otherwise this process opens the database. Retries for three seconds while another
/// process has the database locked.
pub(crate) fn run_command(
    settings: &Settings,
    command: &Command,
    progress: &Progress,
) -> anyhow::Result<CommandOutput> {
    if settings.embedded_database().is_some() {
        files::require_own_folder(&settings.data_dir)?;
    }
    for _ in 0..ATTEMPTS_MAX {
        if let Some(database) = settings.embedded_database() {
            match send_command(&settings.data_dir, database, command) {
                SendOutcome::Done(output) => return Ok(output),
                SendOutcome::Refused(why) => bail!(why),
                SendOutcome::NotRun => {
                    bail!("the running `guerdon serve` did not accept the command; it was not run: retry it")
                }
                SendOutcome::Disconnected => bail!(
                    "the connection to the running `guerdon serve` ended without a reply; {}",
                    retry_advice(command)
                ),
                SendOutcome::NoReply(timeout) => bail!(
                    "the running `guerdon serve` has not replied within {} s and may still be running the command; {}",
                    timeout.as_secs(),
                    retry_advice(command)
                ),
                SendOutcome::NotServed => {}
            }
        }
        let notifiers = Notifiers::default();
        match open_with_notifiers(&settings.database, Access::Command, notifiers.clone()) {
            Ok(opened) => {
                let store = opened.requests;
                let find_keys = if command.is_read_only() { open_existing_keys } else { open_or_create_keys };
                let keys = Arc::new(find_keys(settings, store.as_ref())?);
                if !command.is_read_only() {
                    logging::start_logging(settings.log);
                    resume_distributions_before_command(settings, store.as_ref(), &opened.commands);
                }
                let progress = progress.clone();
                let threads = available_parallelism().unwrap_or(NonZero::<usize>::MIN);
                let defaults = CommandEnvironment::new(store, opened.commands, keys, settings);
                let environment = CommandEnvironment { progress, threads, in_service: false, ..defaults };
                let result = command.execute_and_log(&environment);
                if notifiers.other_processes.wait_timeout(Duration::ZERO) {
                    CrossProcessNotifier::notify_once(&settings.database);
                }
                return Ok(result?);
            }
            Err(OpenError::Locked(_)) => sleep(RETRY_INTERVAL),
            Err(cause) => return Err(cause.into()),
        }
    }
    Err(anyhow!(
        "another process holds the database and does not accept commands on {}: a `guerdon serve` that is starting or \
         stopping, or another command (wait, then run this again); or a `guerdon serve` with another data_dir, or whose \
         socket was deleted (restart it)",
        settings.data_dir.join(SOCKET_NAME).display()
    ))
}

/// What to do if it is unknown whether a command ran.
fn retry_advice(command: &Command) -> &'static str {
    if command.is_read_only() {
        "it changes no data, so run it again"
    } else {
        "it is unknown whether the command ran; check the result before you retry, or retry with the same --key (an \
         import can always be retried)"
    }
}
