//! `cargo xtask bench`: measures the service and compares it with minimal programs on the same machine in the same
//! run.
//!
//! This is not a test: a missed goal is marked, and the exit status stays 0.

mod accept;
mod api;
mod baseline;
mod chart;
mod deliver;
mod distribution;
mod hanging;
mod large;
mod latency;
mod load;
mod machine;
mod plan;
mod results;
mod table;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;

use self::baseline::BaselineProgram;
use self::plan::{Case, Plan};
use self::results::{Goal, ResultRow};
use crate::measurement::release;
use crate::measurement::service::{Database, RunningService};
use crate::workspace::Workspace;

/// The time limit of a run, without the build.
const RUN_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Measure the service on SQLite and on PostgreSQL, and compare it with minimal programs on the same machine
///
/// Builds the release binary, starts temporary services on loopback, and prints a table. Also writes the results as
/// CSV, and the ratios as an SVG chart, to target/bench/. All cases take a quarter of an hour on two cores, a single
/// one takes one or two minutes. Keep the machine otherwise idle. docs/performance.md explains each number.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The cases to measure [default: all]
    #[arg(value_name = "NAME")]
    cases: Vec<Case>,
    /// Measure on this database only
    #[arg(long, value_name = "DATABASE")]
    database: Option<Database>,
    /// Seconds per round, for each case and for each program to compare with
    #[arg(long, value_name = "S", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// Number of rounds; the result is the median
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=25))]
    rounds: u8,
    /// Measure this build of the service instead of building one
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    output: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

type MeasureStage = fn(&RunningService, &Plan<'_>) -> Result<Vec<ResultRow>>;

/// The cases that are measured on one service, and the function that measures them.
const STAGES: [(&str, &[Case], MeasureStage); 6] = [
    (
        "api",
        &[
            Case::Post,
            Case::PostKeyed,
            Case::PostReserve,
            Case::PostTen,
            Case::GetUser,
            Case::GetBalances,
            Case::GetTransactions,
        ],
        api::measure,
    ),
    ("deliver", &[Case::Deliver], deliver::measure),
    ("accept", &[Case::AcceptAndDeliver], accept::measure),
    ("latency", &[Case::Latency], latency::measure),
    ("hanging", &[Case::Hanging], hanging::measure),
    ("distribution", &[Case::Distribution], distribution::measure),
];

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    if cfg!(debug_assertions) {
        return release::rerun_as_release(workspace);
    }
    let program = release::build_release(workspace, &["guerdon-baseline"], arguments.program.as_deref())?;
    let baseline_program = BaselineProgram::in_folder(&workspace.target.join("release"));
    release::exit_after(RUN_TIMEOUT)?;
    let mut rows = Vec::new();
    let outcome = measure_all(workspace, &program, &baseline_program, arguments, &mut rows);
    // Rows that were measured before a failure are printed too.
    let properties = machine::describe_machine(workspace)?;
    match arguments.output {
        Format::Text => println!("{}", table::format_table(&properties, &rows)),
        Format::Json => println!("{:#}", table::format_json(&properties, &rows)),
    }
    let folder = workspace.target.join("bench");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("figures.csv"), table::format_csv(&rows))?;
    std::fs::write(folder.join("figures.svg"), chart::render_svg(&rows))?;
    eprintln!("written to {}: figures.csv, figures.svg", folder.display());
    outcome
}

fn measure_all(
    workspace: &Workspace,
    program: &Path,
    baseline_program: &BaselineProgram,
    arguments: &Arguments,
    rows: &mut Vec<ResultRow>,
) -> Result<()> {
    let is_wanted = |case: &Case| arguments.cases.is_empty() || arguments.cases.contains(case);
    for database in Database::one_or_all(arguments.database) {
        if arguments.cases.contains(&Case::Large) {
            eprintln!("{}: large …", database.name());
            let parameters = large::Parameters {
                workspace,
                program,
                on_postgres: database == Database::Postgres,
                period: Duration::from_secs(arguments.seconds),
                rounds: usize::from(arguments.rounds),
            };
            let measured =
                large::measure(&parameters).with_context(|| format!("large on {}", database.name()))?;
            rows.extend(measured.into_iter().map(|row| row.on_database(database.name())));
        }
        for (name, cases, measure) in STAGES {
            let cases: Vec<Case> = cases.iter().copied().filter(is_wanted).collect();
            if cases.is_empty() {
                continue;
            }
            if name == "distribution" && database == Database::Sqlite {
                eprintln!("sqlite: {name} is measured on PostgreSQL only");
                continue;
            }
            eprintln!("{}: {} …", database.name(), name);
            // Each stage has its own service and database server, so that it does not depend on earlier ones.
            let cluster = database.start_cluster(workspace)?;
            let service_database = cluster.as_ref().map(|cluster| cluster.create_service_database(name));
            let plan = Plan {
                cases: &cases,
                seconds: arguments.seconds,
                rounds: usize::from(arguments.rounds),
                baseline_program,
                cluster: cluster.as_ref(),
                database: service_database.transpose()?,
            };
            let measured = measure_stage(program, &plan, name, measure)
                .with_context(|| format!("{name} on {}", database.name()))?;
            rows.extend(measured.into_iter().map(|row| row.on_database(database.name())));
        }
    }
    Ok(())
}

fn measure_stage(
    program: &Path,
    plan: &Plan<'_>,
    name: &str,
    measure: MeasureStage,
) -> Result<Vec<ResultRow>> {
    let folder = tempfile::Builder::new().prefix("guerdon-bench-").tempdir()?;
    let service = RunningService::start(program, folder.path(), plan.database.clone(), &[])?;
    let mut rows = measure(&service, plan)?;
    let memory = ResultRow::new(format!("  memory of the service in all of {name}"))
        .with_memory(service.memory_peak()?);
    rows.push(memory.with_goals(&[Goal::MebibytesBelow(192)], &[Goal::MebibytesBelow(96)]));
    service.run_cli(&["verify"]).context("after the measurements")?;
    Ok(rows)
}
