//! `cargo xtask attack`: attacks a throw-away service and measures the effect on its other clients.
//!
//! Everything runs on one machine. The service and its database have the first processor, clients and attackers the
//! others, attackers at the lowest priority. So any effect on clients is caused by the service.

mod failover;
mod flood;
mod fuzz;
mod neighbour;
mod overload;
mod random;
mod refusals;
mod slow;
mod small_objects;
mod upkeep;
mod victim;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use crate::measurement::release;
use crate::measurement::service::{Database, RunningService};
use crate::postgres::Cluster;
use crate::workspace::Workspace;

/// The time limit of a run, without the build.
const RUN_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Attack a throw-away service and measure the effect on its other clients
///
/// Builds the release binary and starts a service on loopback for each attack, on SQLite and on PostgreSQL. Prints each
/// result with its bound, and fails if a bound is exceeded. All attacks take about ten minutes. Keep the machine
/// otherwise idle.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The attacks [default: all]
    #[arg(value_name = "ATTACK")]
    attacks: Vec<Attack>,
    /// Attack on this database only
    #[arg(long, value_name = "DATABASE")]
    database: Option<Database>,
    /// Duration of each measurement in seconds
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Number of fuzzed requests
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    requests: u32,
    /// Seed of the random generator
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Number of failovers, and of backups
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=100))]
    rounds: u8,
    /// Attack this build of the service instead of building one
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Attack {
    /// 4,000 connections that send their request heads line by line
    SlowHeads,
    /// 4,000 connections that send their request bodies byte by byte
    SlowBodies,
    /// 4,000 connections that send requests and do not read the responses
    SlowReads,
    /// 4,000 connections that request a thousand overlapping ranges
    Ranges,
    /// 1,000 handshakes per second from one address
    Handshakes,
    /// One provider at full load with large pages
    Neighbour,
    /// Request bodies of many small objects from three providers
    SmallObjects,
    /// Five times as many requests as can be served, in an open loop
    Overload,
    /// The cost of refusals: a POST compared with a GET
    Refusals,
    /// Randomly damaged requests
    Fuzz,
    /// The death of a PostgreSQL primary, with promotion of its standby
    Failover,
    /// Backups under load; then imports, prunes and backups that are killed on a restored copy
    Upkeep,
}

/// The parameters of an attack.
struct AttackContext<'a> {
    service: &'a RunningService,
    database: Database,
    period: Duration,
    requests: u32,
    seed: u64,
    rounds: u8,
    cluster: Option<&'a Cluster>,
    /// The program `guerdon-baseline`, one of whose commands runs SQL.
    baseline_program: &'a Path,
}

/// A result and its bound.
struct Measurement {
    name: String,
    value: String,
    bound: String,
    holds: bool,
}

impl Measurement {
    /// A duration with its upper bound.
    fn duration_below(name: impl Into<String>, time: Duration, bound: Duration) -> Self {
        let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1_000.0);
        Self { name: name.into(), value: ms(time), bound: format!("< {}", ms(bound)), holds: time < bound }
    }

    /// A number with its upper bound.
    fn at_most(name: impl Into<String>, count: f64, bound: f64, unit: &str) -> Self {
        Self {
            name: name.into(),
            value: format!("{count:.2}{unit}"),
            bound: format!("<= {bound}{unit}"),
            holds: count <= bound,
        }
    }

    /// A result without a bound.
    fn without_bound(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), bound: String::new(), holds: true }
    }
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    if cfg!(debug_assertions) {
        return release::rerun_as_release(workspace);
    }
    let program = release::build_release(workspace, &["guerdon-baseline"], arguments.program.as_deref())?;
    release::exit_after(RUN_TIMEOUT)?;
    let mut exceeded = 0;
    for database in Database::one_or_all(arguments.database) {
        for attack in Attack::value_variants() {
            if !arguments.attacks.is_empty() && !arguments.attacks.contains(attack) {
                continue;
            }
            let attack_name =
                attack.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
            let measurements = run_attack(workspace, &program, arguments, database, *attack)
                .with_context(|| format!("{attack_name} on {}", database.name()))?;
            for Measurement { name, value, bound, holds } in measurements {
                let verdict = if holds { "" } else { "BROKEN" };
                println!(
                    "{:8}  {attack_name:13}  {name:52}  {value:>16}  {bound:14}  {verdict}",
                    database.name()
                );
                exceeded += u32::from(!holds);
            }
        }
    }
    ensure!(exceeded == 0, "{exceeded} bounds are exceeded");
    Ok(())
}

fn run_attack(
    workspace: &Workspace,
    program: &Path,
    arguments: &Arguments,
    database: Database,
    attack: Attack,
) -> Result<Vec<Measurement>> {
    if attack == Attack::Failover {
        return match database {
            Database::Sqlite => Ok(Vec::new()),
            Database::Postgres => failover::run(workspace, program, usize::from(arguments.rounds)),
        };
    }
    let folder = tempfile::Builder::new().prefix("guerdon-attack-").tempdir()?;
    let cluster = match database {
        Database::Sqlite => None,
        Database::Postgres => Some(Cluster::start_durable(workspace)?),
    };
    let url = cluster
        .as_ref()
        .map(|cluster| anyhow::Ok((cluster.create_database("attack")?, cluster.process_id())))
        .transpose()?;
    let extra_settings = match attack {
        Attack::Refusals => refusals::extra_settings(),
        Attack::Fuzz => fuzz::extra_settings(),
        _ => Vec::new(),
    };
    let service = RunningService::start(program, folder.path(), url, &extra_settings)?;
    if !service.partition_processors()? {
        eprintln!(
            "the service and its attackers share one processor: effects may be caused by the attackers"
        );
    }
    let context = AttackContext {
        service: &service,
        database,
        period: Duration::from_secs(arguments.seconds),
        requests: arguments.requests,
        seed: arguments.seed,
        rounds: arguments.rounds,
        cluster: cluster.as_ref(),
        baseline_program: &workspace.target.join("release").join("guerdon-baseline"),
    };
    let mut measurements = match attack {
        Attack::SlowHeads => slow::run(&context, slow::SlowMode::Heads),
        Attack::SlowBodies => slow::run(&context, slow::SlowMode::Bodies),
        Attack::SlowReads => slow::run(&context, slow::SlowMode::Reads),
        Attack::Ranges => slow::run(&context, slow::SlowMode::Ranges),
        Attack::Handshakes => flood::run(&context),
        Attack::Neighbour => neighbour::run(&context),
        Attack::SmallObjects => small_objects::run(&context),
        Attack::Overload => overload::run(&context),
        Attack::Refusals => refusals::run(&context),
        Attack::Fuzz => fuzz::run(&context),
        Attack::Upkeep => upkeep::run(&context),
        Attack::Failover => Ok(Vec::new()), // starts its own servers and instances
    }?;
    let log = service.read_log();
    ensure!(!log.contains("panicked"), "the service panicked:\n{log}");
    service.run_cli(&["verify"]).context("afterwards")?;
    let mebibytes = service.memory_peak()? >> 20;
    let mebibytes = f64::from(u32::try_from(mebibytes).unwrap_or(u32::MAX));
    measurements.push(Measurement::at_most("memory of the service", mebibytes, 256.0, " MiB"));
    Ok(measurements)
}

/// Gives the calling thread the lowest priority.
fn lower_priority() {
    if let Err(error) = rustix::process::nice(19) {
        eprintln!("the attackers run at the service's own priority: {error}");
    }
}
