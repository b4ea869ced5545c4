//! `cargo xtask campaign`: long runs against temporary services, with attacks, faults or load, that must show no
//! violation.
//!
//! A campaign fits its work into the given number of minutes, prints its measurements with their bounds, and ends with
//! `guerdon verify` and one summary line. Campaigns whose requests have idempotency keys also compare the ledger with
//! the journal of acknowledged requests.

mod attack;
mod authz;
mod cells;
mod citus;
mod comparison;
mod context;
mod crash;
mod damaged_requests;
mod event_log;
mod failover;
mod faults;
mod flood;
mod fuzz;
mod ledger;
mod load;
mod moves;
mod neighbour;
mod overload;
mod parity;
mod postgres_server;
mod power_failure;
mod preload;
mod refusals;
mod repeated_tests;
mod report;
mod request_log;
mod restore;
mod server_pair;
mod slow;
mod small_objects;
mod soak;
mod sql;
mod subject;
mod upkeep;
mod victim;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::ValueEnum;

use self::attack::Attack;
use self::context::Setup;
use self::report::{Measurement, Report};
use self::slow::SlowMode;
use crate::measurement::release;
use crate::measurement::service::Database;
use crate::workspace::Workspace;

/// The time limit of a campaign, in addition to twice its minutes. The verification of the ledger that a long load has
/// written may take a good part of them.
const OVERHEAD_MAX: Duration = Duration::from_secs(1_800);

/// Run campaigns against temporary services: attacks, faults, load, each of which must show no violation
///
/// Starts a service on loopback for each campaign, on SQLite and on PostgreSQL. Prints each measurement with its bound
/// and one summary line for each campaign and database, and fails on any violation. Keep the machine otherwise idle.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The campaigns
    #[arg(value_name = "NAME", required = true)]
    campaigns: Vec<Campaign>,
    /// Duration of each campaign on each database, without its preparations
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_440))]
    minutes: u32,
    /// Run on this database only
    #[arg(long, value_name = "DATABASE")]
    database: Option<Database>,
    /// Seed of the random generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The load of the campaign `soak`, in percent of the peak
    #[arg(long, value_name = "PERCENT", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=100))]
    load: u32,
    /// The `pg_config` of a PostgreSQL installation with Citus, for the campaign `citus`
    #[arg(long, value_name = "FILE")]
    pg_config: Option<PathBuf>,
    /// Use this build of the service instead of building one
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Campaign {
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
    /// More requests than can be served, over 1,000 and 2,000 connections, in an open loop
    Overload,
    /// The cost of refusals: a POST compared with a GET
    Refusals,
    /// Randomly damaged requests, in pipelines whose client closes its side before it reads
    DamagedRequests,
    /// Damaged input for each parser, then `damaged-requests`
    Fuzz,
    /// Failure of a PostgreSQL primary, and promotion of its standby
    Failover,
    /// Two cells behind HAProxy: a failover in one, reloads and rolling restarts
    Cells,
    /// Two cells as schemas of a Citus cluster: killed workers, moves between workers, and delayed commits
    Citus,
    /// Companies that move to another cell under load, with kills of the commands and services
    Moves,
    /// Backups under load; then imports, prunes and backups that are killed on a restored copy
    Upkeep,
    /// SIGKILL of the service at random times under load
    Crash,
    /// Failures of PostgreSQL, its standby and the network, full disks, I/O errors, clock jumps
    Faults,
    /// A share of the peak load for a long time: memory, descriptors, latency and unused space must not grow
    Soak,
    /// Every route with every kind of caller and of foreign id
    Authz,
    /// Generated requests to both databases, which must give the same responses
    Parity,
    /// Loss of the machine under load, and restores from streamed backups and to a point in time
    Restore,
}

impl Campaign {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Whether the speed of the clients affects the results. If so, the clients must be built with optimizations.
    fn measures_speed(self) -> bool {
        !matches!(
            self,
            Self::Crash
                | Self::Faults
                | Self::Authz
                | Self::Parity
                | Self::Restore
                | Self::Failover
                | Self::Cells
                | Self::Citus
                | Self::Moves
                | Self::Upkeep
        )
    }

    fn run(self, setup: &Setup<'_>) -> Result<Report> {
        match self {
            Self::SlowHeads => Attack::Slow(SlowMode::Heads).run(setup),
            Self::SlowBodies => Attack::Slow(SlowMode::Bodies).run(setup),
            Self::SlowReads => Attack::Slow(SlowMode::Reads).run(setup),
            Self::Ranges => Attack::Slow(SlowMode::Ranges).run(setup),
            Self::Handshakes => Attack::Handshakes.run(setup),
            Self::Neighbour => Attack::Neighbour.run(setup),
            Self::SmallObjects => Attack::SmallObjects.run(setup),
            Self::Overload => Attack::Overload.run(setup),
            Self::Refusals => Attack::Refusals.run(setup),
            Self::Upkeep => Attack::Upkeep.run(setup),
            Self::DamagedRequests => Attack::DamagedRequests.run(setup),
            Self::Fuzz => fuzz::run(setup),
            Self::Failover => failover::run(setup),
            Self::Cells => cells::run(setup),
            Self::Citus => citus::run(setup),
            Self::Moves => moves::run(setup),
            Self::Crash => crash::run(setup),
            Self::Faults => faults::run(setup),
            Self::Soak => soak::run(setup),
            Self::Authz => authz::run(setup),
            Self::Parity => parity::run(setup),
            Self::Restore => restore::run(setup),
        }
    }
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    if cfg!(debug_assertions) && arguments.campaigns.iter().any(|campaign| campaign.measures_speed()) {
        return release::rerun_as_release(workspace);
    }
    let program = release::build_release(workspace, &[], arguments.program.as_deref())?;
    let duration = Duration::from_secs(60) * arguments.minutes;
    let databases = Database::one_or_all(arguments.database);
    let runs = u32::try_from(databases.len() * arguments.campaigns.len())?;
    release::exit_after((2 * duration + OVERHEAD_MAX) * runs)?;
    let mut violations = 0;
    for campaign in &arguments.campaigns {
        for database in &databases {
            let (database, seed, load_percent) = (*database, arguments.seed, arguments.load);
            let pg_config = arguments.pg_config.as_deref();
            let setup =
                Setup { workspace, program: &program, database, duration, load_percent, pg_config, seed };
            violations += run_and_print(&setup, *campaign);
        }
    }
    ensure!(violations == 0, "{violations} violations");
    Ok(())
}

/// Runs a campaign on one database and prints its results. Returns the number of violations; an error counts as one.
fn run_and_print(setup: &Setup<'_>, campaign: Campaign) -> usize {
    let (name, database, start) = (campaign.name(), setup.database.name(), Instant::now());
    let result = campaign.run(setup);
    let report = result.unwrap_or_else(|error| Report::from(vec![Measurement::failure(&error)]));
    report.print_measurements(database, &name);
    println!("{}", report.format_summary(database, &name, start.elapsed()));
    report.count_violations()
}
