//! Measures a distribution to many users, compared with writing the same rows in plain SQL.

use std::time::Instant;

use anyhow::{Context, Result};

use super::figures::{Round, Row, Wanted};
use super::plan::{Case, Plan};
use crate::harness::fixture::{Company, Provider};
use crate::harness::service::Service;
use crate::harness::times::per_second;

const USERS: usize = 100_000;
/// Creates users with two wallets each, as the API does.
const MANY_USERS: &str = include_str!("plain/users.sql");
/// Creates tables of the same shape, and their accounts.
const SAME_TABLES: &str = include_str!("plain/accounts.sql");
/// Writes the rows of a distribution to these tables.
const SAME_ROWS: &str = include_str!("plain/distribution.sql");

pub(super) fn measure(service: &Service, plan: &Plan<'_>) -> Result<Vec<Row>> {
    let (cluster, url) = plan.cluster.zip(plan.database).context("it is measured on PostgreSQL")?;
    let provider = Provider::create(service, None)?;
    let company = Company::create(service, &provider, "many", 0)?;
    cluster.psql(url, &MANY_USERS.replace("COMPANY", &company.id))?;
    cluster.psql(url, &SAME_TABLES.replace("COMPANY", &company.id))?;
    cluster.psql(url, "VACUUM ANALYZE")?;
    let (mut rounds, mut ceilings) = (Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        plan.settle()?;
        let start = Instant::now();
        cluster.psql(url, &SAME_ROWS.replace("COMPANY", &company.id))?;
        let most = per_second(USERS, start.elapsed());
        plan.settle()?;
        let meter = service.meter();
        let start = Instant::now();
        service.operate(&["distribution", "run", &company.id, "--wallet", "user_wallet", "--points", "1"])?;
        let rate = per_second(USERS, start.elapsed());
        let cpu = Some(meter.each(u32::try_from(USERS)?));
        rounds.push(Round { cpu, ceiling: Some(most), ..Round::rated(rate) });
        ceilings.push(Round::rated(most));
    }
    let ceiling = "the same rows by plain SQL";
    Ok(vec![
        Row::of(Case::Distribution.name(), rounds)
            .beside(ceiling)
            .wanted(&[Wanted::RatioAtLeast(0.5)], &[Wanted::RatioAtLeast(0.8)]),
        Row::of(format!("  ceiling: {ceiling}"), ceilings),
    ])
}
