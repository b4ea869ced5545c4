//! Runs the command, prints its output, and sets the exit status.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::{Builder, sleep}; // tidy: the last seconds of a process
use std::time::Duration;

use actix_web::rt::System;
use anyhow::Context as _;
use clap::CommandFactory as _;
use guerdon_persistence::migrate;
use serde::Serialize;
use tokio::sync::Mutex;

use super::help::prepare_help;
use super::{Cli, Config, Invocation};
use crate::application::{Application, StopReport, prepare_folders, run_command};
use crate::commands::{Command, CommandOutput, CommandView, Format, ImportCommand, RunnableCommand as _};
use crate::platform::clock;
use crate::platform::signals::StopSignals;
use crate::settings::Settings;
use crate::terminal::{Progress, logging, printable};
use crate::tools::check_config;
use crate::{command_socket, dev};

/// How long background work may take to end, after everything else has ended.
const BACKGROUND_EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    let cli = Cli::parse_or_exit();
    match clock::require_sane_clock().and_then(|()| dispatch_command(&cli)) {
        Ok(output) => print_output(&output, &cli),
        Err(cause) => {
            let line = format!("{cause:#}");
            let _closed = writeln!(std::io::stderr(), "guerdon: {}", printable::escape_line(&line));
            ExitCode::FAILURE
        }
    }
}

fn print_output(output: &CommandOutput, cli: &Cli) -> ExitCode {
    for note in &output.notes {
        let _closed = writeln!(std::io::stderr(), "{}", printable::escape_line(note));
    }
    let text = printable::escape_lines(output.in_format(cli.output));
    if text.is_empty() {
        return ExitCode::from(output.status);
    }
    let mut out = std::io::stdout();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    match write!(out, "{text}{end}").and_then(|()| out.flush()) {
        Ok(()) => ExitCode::from(output.status),
        // The reader closed the pipe, so the output is incomplete: fail, but print no error.
        Err(cause) if cli.invocation.is_read_only() && cause.kind() == ErrorKind::BrokenPipe => {
            ExitCode::FAILURE
        }
        Err(cause) => {
            let problem = if cli.invocation.is_read_only() {
                format!("the output could not be written: {cause}")
            } else {
                format!(
                    "the command succeeded, but its output could not be written ({cause}): check the result before you run it again"
                )
            };
            let _closed = writeln!(std::io::stderr(), "guerdon: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch_command(cli: &Cli) -> anyhow::Result<CommandOutput> {
    let settings = || Settings::load(cli.config.as_deref());
    match &cli.invocation {
        Invocation::Serve => run_service(&settings()?, cli.config.as_deref()),
        Invocation::Dev(arguments) => dev::run_sandbox(arguments, cli.config.as_deref()),
        Invocation::Migrate => {
            let settings = settings()?;
            logging::start_logging(settings.log); // migrations may have to wait for another process, and log this
            prepare_folders(&settings)?;
            Ok(MigrationView { applied: migrate(&settings.database)? }.to_output()?)
        }
        Invocation::Config(Config::Show) => {
            let settings = settings()?;
            let masked = settings.to_masked();
            Ok(CommandOutput {
                text: masked.to_toml(),
                json: serde_json::to_string(&masked)?,
                status: 0,
                ..CommandOutput::default()
            })
        }
        Invocation::Config(Config::Check { connect }) => check_config(&settings()?, *connect),
        Invocation::Tool(tool) => run_with_progress(cli, tool.may_take_long(), |progress| {
            tool.run_tool(&settings()?, prepare_help(Cli::command()), progress)
        }),
        Invocation::Database(command) => run_with_progress(cli, command.may_take_long(), |progress| {
            let settings = settings()?;
            match command {
                Command::Import(ImportCommand::Users(import)) if is_served(&settings) => import
                    .import_in_requests(progress, |part| {
                        run_command(
                            &settings,
                            &Command::Import(ImportCommand::Users(part)),
                            &Progress::default(),
                        )
                    }),
                command => run_command(&settings, command, progress),
            }
        }),
    }
}

/// Returns whether a running service holds the embedded database and therefore runs the commands.
fn is_served(settings: &Settings) -> bool {
    settings.embedded_database().is_some() && command_socket::is_service_listening(&settings.data_dir)
}

/// Runs a command. Shows its progress on the terminal if it may take long and its output is text.
fn run_with_progress(
    cli: &Cli,
    may_take_long: bool,
    run: impl FnOnce(&Progress) -> anyhow::Result<CommandOutput>,
) -> anyhow::Result<CommandOutput> {
    let is_shown = cli.output == Format::Text && may_take_long;
    let progress = if is_shown { Progress::on_terminal() } else { Progress::default() };
    let done = run(&progress);
    progress.finish();
    done
}

/// The migrations that were applied.
#[derive(Serialize)]
struct MigrationView {
    applied: Vec<String>,
}

impl CommandView for MigrationView {
    fn to_text(&self) -> String {
        if self.applied.is_empty() {
            "the database is up to date".to_owned()
        } else {
            format!("applied {}", self.applied.join(", "))
        }
    }
}

fn run_service(settings: &Settings, config_file: Option<&Path>) -> anyhow::Result<CommandOutput> {
    logging::start_logging(settings.log);
    let report = System::new().block_on(async {
        let signals = Arc::new(Mutex::new(StopSignals::listen()?));
        let application = Application::build(settings, |transport| transport).inspect_err(|cause| {
            let cause = format!("{cause:#}"); // `main` prints it
            log::error!(cause = cause.as_str(); "the service could not start");
        })?;
        application.log_next_step(config_file);
        let stop = || {
            let signals = Arc::clone(&signals);
            async move { signals.lock().await.next().await }
        };
        let ended = application.run_until_stopped(stop).await.inspect_err(|cause| {
            let cause = format!("{cause:#}"); // `main` prints it
            log::error!(cause = cause.as_str(); "stopped: the service failed");
        });
        exit_after_grace(ended.as_ref().ok().copied())?;
        ended
    })?;
    report.log_stopped();
    Ok(CommandOutput::default())
}

/// Ends the process after five seconds if background work is still running. Open transactions are rolled back, and work
/// in steps continues after the next start. The exit status is 0 if the service stopped gracefully, with a report.
fn exit_after_grace(report: Option<StopReport>) -> anyhow::Result<()> {
    let wait = move || {
        sleep(BACKGROUND_EXIT_TIMEOUT);
        log::warn!("stopping while work is in progress: it continues after the next start");
        report.iter().for_each(StopReport::log_stopped);
        std::process::exit(i32::from(report.is_none()))
    };
    Builder::new().name("end".to_owned()).spawn(wait).map(drop).context("cannot start a thread")
}
