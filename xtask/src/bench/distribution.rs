//! Measures a distribution to many users, compared with writing the same rows in plain SQL.

use std::time::Instant;

use anyhow::{Context, Result};

use super::plan::{Case, Plan};
use super::results::{Goal, ResultRow, Round};
use crate::measurement::fixture::{Company, Provider};
use crate::measurement::percentiles::per_second;
use crate::measurement::service::RunningService;
use crate::postgres::ServerDatabase;

const USERS: usize = 100_000;
/// Creates users with two wallets each, as the API does.
const CREATE_USERS: &str = include_str!("plain_sql/users.sql");
/// Creates tables of the same shape as the service's, and their accounts.
const CREATE_TABLES: &str = include_str!("plain_sql/accounts.sql");
/// Writes the rows of a distribution to these tables.
const INSERT_ROWS: &str = include_str!("plain_sql/distribution.sql");

pub(super) fn measure(service: &RunningService, plan: &Plan<'_>) -> Result<Vec<ResultRow>> {
    let on_postgres = plan.cluster.zip(plan.database.as_ref());
    let (cluster, ServerDatabase { url, .. }) = on_postgres.context("it is measured on PostgreSQL")?;
    let provider = Provider::create(service, None)?;
    let company = Company::create(service, &provider, "many", 0)?;
    cluster.run_sql(url, &CREATE_USERS.replace("COMPANY", &company.id))?;
    cluster.run_sql(url, &CREATE_TABLES.replace("COMPANY", &company.id))?;
    cluster.run_sql(url, "VACUUM ANALYZE")?;
    let (mut rounds, mut baselines) = (Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        plan.flush_writes()?;
        let start = Instant::now();
        cluster.run_sql(url, &INSERT_ROWS.replace("COMPANY", &company.id))?;
        let baseline = per_second(USERS, start.elapsed());
        plan.flush_writes()?;
        let meter = service.start_cpu_meter();
        let start = Instant::now();
        service.run_cli(&["distribution", "run", &company.id, "--wallet", "user_wallet", "--points", "1"])?;
        let rate = per_second(USERS, start.elapsed());
        let cpu = Some(meter.per_request(u32::try_from(USERS)?));
        rounds.push(Round { cpu, baseline: Some(baseline), ..Round::from_rate(rate) });
        baselines.push(Round::from_rate(baseline));
    }
    let baseline_name = "the same rows by plain SQL";
    Ok(vec![
        ResultRow::from_rounds(Case::Distribution.name(), rounds)
            .compared_with(baseline_name)
            .with_goals(&[Goal::RatioAtLeast(0.5)], &[Goal::RatioAtLeast(0.8)]),
        ResultRow::from_rounds(format!("  baseline: {baseline_name}"), baselines),
    ])
}
