//! Attacks on a running service: each measures the effect on the service's other clients.
//!
//! Everything runs on one machine. The service and its database run on the first processor, clients and attackers on
//! the others, attackers at the lowest priority. So any effect on clients is caused by the service.

use anyhow::{Context, Result, ensure};

use super::context::{ATTACK_DATABASE, AttackContext, Setup, temporary_folder};
use super::report::{Measurement, Report};
use super::slow::{self, SlowMode};
use super::{damaged_requests, flood, neighbour, overload, refusals, small_objects, upkeep};
use crate::measurement::service::RunningService;

const MEMORY_MIB_MAX: f64 = 256.0;
/// The labels of responses that acknowledge a recognition, and the query that counts recognitions with at least one
/// receiver in the ledger. The requests have no keys, so only the numbers of recognitions can be compared.
const ACKNOWLEDGED_RECOGNITIONS: [&str; 3] =
    [r#"method="POST""#, r#"route="/v1/recognitions""#, r#"status="201""#];
const RECORDED_RECOGNITIONS: &str = "SELECT count(DISTINCT journal_entry_id) FROM recognitions";

/// An attack on a running service.
#[derive(Clone, Copy)]
pub(super) enum Attack {
    Slow(SlowMode),
    Handshakes,
    Neighbour,
    SmallObjects,
    Overload,
    Refusals,
    Upkeep,
    /// Randomly damaged requests.
    DamagedRequests,
}

impl Attack {
    /// Starts a service, attacks it, and verifies its ledger.
    pub(super) fn run(self, setup: &Setup<'_>) -> Result<Report> {
        let folder = temporary_folder()?;
        let cluster = setup.database.start_cluster(setup.workspace)?;
        let database =
            cluster.as_ref().map(|cluster| cluster.create_service_database(ATTACK_DATABASE)).transpose()?;
        let service = RunningService::start(setup.program, folder.path(), database, &self.extra_settings())?;
        if !service.partition_processors()? {
            eprintln!(
                "the service and its attackers share one processor: effects may be caused by the attackers"
            );
        }
        let context = AttackContext { setup, service: &service, cluster: cluster.as_ref() };
        let mut report = self.attack(&context)?;
        let log = service.read_log();
        ensure!(!log.contains("panicked"), "the service panicked:\n{log}");
        service.run_cli(&["verify"]).context("afterwards")?;
        let mebibytes = service.memory_peak()? >> 20;
        let mebibytes = f64::from(u32::try_from(mebibytes).unwrap_or(u32::MAX));
        report.measurements.push(Measurement::at_most(
            "memory of the service",
            mebibytes,
            MEMORY_MIB_MAX,
            " MiB",
        ));
        report.operations = service.count_responses(&[])?;
        let acknowledged = service.count_responses(&ACKNOWLEDGED_RECOGNITIONS)?;
        let recorded = context.sql_client()?.run_sql(RECORDED_RECOGNITIONS)?;
        report.lost = Some(acknowledged.saturating_sub(recorded.trim().parse()?));
        Ok(report)
    }

    fn extra_settings(self) -> Vec<(&'static str, String)> {
        match self {
            Self::Refusals => refusals::extra_settings(),
            Self::DamagedRequests => damaged_requests::extra_settings(),
            _ => Vec::new(),
        }
    }

    fn attack(self, context: &AttackContext<'_>) -> Result<Report> {
        let measurements = match self {
            Self::Slow(mode) => slow::run(context, mode)?,
            Self::Handshakes => flood::run(context)?,
            Self::Neighbour => neighbour::run(context)?,
            Self::SmallObjects => small_objects::run(context)?,
            Self::Overload => overload::run(context)?,
            Self::Refusals => refusals::run(context)?,
            Self::DamagedRequests => damaged_requests::run(context)?,
            Self::Upkeep => return upkeep::run(context),
        };
        Ok(measurements.into())
    }
}
