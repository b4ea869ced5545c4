//! From the command line to the exit status.

use std::io::Write;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::thread::sleep; // tidy: another process holds the database for a moment
use std::time::Duration;

use actix_web::rt::System;
use anyhow::{anyhow, bail};
use clap::{CommandFactory as _, Parser};
use guerdon_domain::distributions::finish;
use guerdon_domain::ports::Wakes;
use guerdon_persistence::{Access, OpenError, Wakeups, migrate, open_waking};
use serde::Serialize;
use tokio::sync::Mutex;

use crate::application::{Application, prepare_folders};
use crate::cli::{Cli, Config, What};
use crate::command_socket::{Sent, send};
use crate::commands::{Command, Format, Output, Runnable as _, View, Workplace};
use crate::keys::{require, settle};
use crate::progress::Progress;
use crate::settings::Settings;
use crate::world::files;
use crate::world::signals::StopSignals;
use crate::{logging, tls};

/// How often a command looks for a way to a database that somebody holds.
const ATTEMPTS: u32 = 30;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(100);

/// The whole program: reads the command line, does what it says.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(output) => print(&output, &cli),
        Err(cause) => {
            let line = format!("{cause:#}").replace(['\n', '\r'], " ");
            let _closed = writeln!(std::io::stderr(), "guerdon: {line}");
            ExitCode::FAILURE
        }
    }
}

fn print(output: &Output, cli: &Cli) -> ExitCode {
    let text = output.rendered(cli.output);
    let mut out = std::io::stdout();
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    match write!(out, "{text}{end}").and_then(|()| out.flush()) {
        Ok(()) => ExitCode::from(output.status),
        Err(_closed) => ExitCode::FAILURE,
    }
}

fn run(cli: &Cli) -> anyhow::Result<Output> {
    let settings = Settings::load(cli.config.as_deref())?;
    match &cli.what {
        What::Serve => serve(&settings),
        What::Migrate => {
            logging::start(settings.log); // it may have to wait, and says for whom
            prepare_folders(&settings)?;
            Ok(Migrated { applied: migrate(&settings.database)? }.output()?)
        }
        What::Config(Config::Show) => {
            let shown = settings.shown();
            Ok(Output { text: shown.toml(), json: serde_json::to_string(&shown)?, status: 0 })
        }
        What::Config(Config::Check) => {
            tls::check(&settings)?;
            require(&settings)?;
            Ok(Checked { ok: true }.output()?)
        }
        What::Tool(tool) => tool.run(&settings, Cli::command()),
        What::Work(command) => {
            let is_shown = cli.output == Format::Text && command.may_take_long();
            let progress = if is_shown { Progress::on_terminal() } else { Progress::default() };
            let done = work(&settings, command, &progress);
            progress.finish();
            done
        }
    }
}

/// The migrations that were applied.
#[derive(Serialize)]
struct Migrated {
    applied: Vec<String>,
}

impl View for Migrated {
    fn text(&self) -> String {
        if self.applied.is_empty() {
            "the database is up to date".to_owned()
        } else {
            format!("applied {}", self.applied.join(", "))
        }
    }
}

/// The settings are sound.
#[derive(Serialize)]
struct Checked {
    ok: bool,
}

impl View for Checked {
    fn text(&self) -> String {
        "the settings are sound".to_owned()
    }
}

fn serve(settings: &Settings) -> anyhow::Result<Output> {
    logging::start(settings.log);
    System::new().block_on(async {
        let signals = Arc::new(Mutex::new(StopSignals::listen()?));
        let application = Application::build(settings)?;
        let stop = || {
            let signals = Arc::clone(&signals);
            async move { signals.lock().await.next().await }
        };
        application.run(stop).await
    })?;
    Ok(Output { text: String::new(), json: String::new(), status: 0 })
}

/// Runs a command: in this process, or in the `serve` that holds the embedded database.
fn work(settings: &Settings, command: &Command, progress: &Progress) -> anyhow::Result<Output> {
    if settings.embedded_database().is_some() {
        files::require_own(&settings.data_dir)?;
    }
    for _ in 0..ATTEMPTS {
        if let Some(database) = settings.embedded_database() {
            match send(&settings.data_dir, database, command) {
                Sent::Done(output) => return Ok(output),
                Sent::Refused(why) => bail!(why),
                Sent::NotRun => bail!("the running guerdon did not take the command: it was not run"),
                Sent::Unknown => bail!(
                    "the running guerdon did not answer: it is unknown whether the command ran; \
                     look before it is repeated, or repeat it with the same --key"
                ),
                Sent::Nobody => {}
            }
        }
        let wakes = Wakes::default();
        match open_waking(&settings.database, Access::Command, wakes.clone()) {
            Ok(opened) => {
                let store = opened.requests;
                let keys = Arc::new(settle(settings, store.as_ref())?);
                finish(store.as_ref(), &mut |_| ())?; // what another process left when it was killed
                let progress = progress.clone();
                let threads = available_parallelism().unwrap_or(NonZero::<usize>::MIN);
                let workplace =
                    Workplace { progress, threads, ..Workplace::new(store, keys, settings.webhooks) };
                let done = command.run(&workplace);
                if wakes.elsewhere.wait(Duration::ZERO) {
                    Wakeups::tell_once(&settings.database);
                }
                return Ok(done?);
            }
            Err(OpenError::Locked(_)) => sleep(BETWEEN_ATTEMPTS),
            Err(cause) => return Err(cause.into()),
        }
    }
    Err(anyhow!(
        "another process holds the database and takes no commands on {}: is its data_dir another?",
        settings.data_dir.join("guerdon.sock").display()
    ))
}
