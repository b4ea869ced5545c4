//! `cargo xtask bench`: how fast the service is, beside ceilings measured on the same machine in the same run.
//!
//! Nothing here is a test: a wanted figure that is missed is marked, and the exit status stays 0.

mod api;
mod ceiling;
mod cpu;
mod drain;
mod figures;
mod fixture;
mod hanging;
mod https;
mod latency;
mod machine;
mod receiver;
mod service;
mod wire;

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;

use self::figures::Row;
use self::service::Service;
use crate::postgres::Cluster;
use crate::workspace::{self, Workspace};

/// No run takes longer, the building left out.
const LONGEST_RUN: Duration = Duration::from_secs(600);

/// Measure the service on SQLite and on PostgreSQL, beside ceilings of the same machine
///
/// Builds the release binary, starts throw-away services on loopback, and prints a table. Takes some five minutes on
/// two cores, ten at most; keep the machine quiet meanwhile. docs/benchmarks.md says what each figure means.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Measure this only
    #[arg(long, value_name = "STAGE")]
    only: Option<Stage>,
    /// On this database only
    #[arg(long, value_name = "DATABASE")]
    database: Option<Database>,
    /// Measure this build of the service, in place of building one
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// How the figures are printed
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    output: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Stage {
    /// Commit to first byte at a healthy receiver
    Latency,
    /// 20,000 events that wait, to one receiver
    Drain,
    /// A healthy receiver beside 50 that hang
    Hanging,
    /// Requests of the provider API
    Api,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Database {
    Sqlite,
    Postgres,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Stage::Latency => "latency",
            Stage::Drain => "drain",
            Stage::Hanging => "hanging",
            Stage::Api => "api",
        }
    }

    fn measure(self, service: &Service) -> Result<Vec<Row>> {
        match self {
            Stage::Latency => latency::measure(service),
            Stage::Drain => drain::measure(service),
            Stage::Hanging => hanging::measure(service),
            Stage::Api => api::measure(service),
        }
    }
}

impl Database {
    fn name(self) -> &'static str {
        match self {
            Database::Sqlite => "sqlite",
            Database::Postgres => "postgres",
        }
    }
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    if cfg!(debug_assertions) {
        return run_optimised(workspace);
    }
    let program = arguments.program.clone().map_or_else(|| build(workspace), Ok)?;
    end_in_time()?;
    let mut rows = Vec::new();
    let outcome = measure_all(workspace, &program, arguments, &mut rows);
    // What was measured before something failed is shown too.
    let facts = machine::facts(workspace)?;
    match arguments.output {
        Format::Text => println!("{}", figures::table(&facts, &rows)),
        Format::Json => println!("{:#}", figures::json(&facts, &rows)),
    }
    outcome
}

fn measure_all(
    workspace: &Workspace,
    program: &Path,
    arguments: &Arguments,
    rows: &mut Vec<Row>,
) -> Result<()> {
    let databases = arguments.database.map_or(vec![Database::Sqlite, Database::Postgres], |it| vec![it]);
    let stages =
        arguments.only.map_or(vec![Stage::Latency, Stage::Drain, Stage::Hanging, Stage::Api], |it| vec![it]);
    for database in databases {
        let cluster = match database {
            Database::Sqlite => None,
            Database::Postgres => Some(Cluster::start_durable(workspace)?),
        };
        for stage in &stages {
            eprintln!("{}: {} …", database.name(), stage.name());
            let measured = measure(program, cluster.as_ref(), *stage)
                .with_context(|| format!("{} on {}", stage.name(), database.name()))?;
            rows.extend(measured.into_iter().map(|row| row.on(database.name())));
        }
    }
    Ok(())
}

/// One stage on a service of its own, so that none finds what another left.
fn measure(program: &Path, cluster: Option<&Cluster>, stage: Stage) -> Result<Vec<Row>> {
    let folder = tempfile::Builder::new().prefix("guerdon-bench-").tempdir()?;
    let database = cluster.map(|it| Ok::<_, anyhow::Error>((it.create_database(stage.name())?, it.id())));
    let database = database.transpose()?;
    let service = Service::start(program, folder.path(), database)?;
    stage.measure(&service)
}

/// This very command, built as the service is: a client without optimisation would measure itself.
fn run_optimised(workspace: &Workspace) -> Result<()> {
    let mut command =
        workspace.cargo(&["run", "--quiet", "--release", "--locked", "--package", "xtask", "--"]);
    let failed = command.args(std::env::args_os().skip(1)).exec();
    Err(failed).context("starting cargo")
}

fn build(workspace: &Workspace) -> Result<PathBuf> {
    workspace::run(&mut workspace.cargo(&["build", "--release", "--locked", "--package", "guerdon"]))?;
    Ok(workspace.target.join("release").join("guerdon"))
}

/// Ends this process when its time is over; the watchdogs of what it started then end that too.
fn end_in_time() -> Result<()> {
    std::thread::Builder::new().name("limit".to_owned()).spawn(|| {
        std::thread::sleep(LONGEST_RUN);
        eprintln!("error: the run did not end within {} s", LONGEST_RUN.as_secs());
        std::process::exit(1);
    })?;
    Ok(())
}
