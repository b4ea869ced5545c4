//! Runs one round of requests and measures its cost.

use anyhow::Result;

use super::figures::Round;
use super::plan::Plan;
use crate::harness::https::{Https, Request, closed_loop};
use crate::harness::service::Service;
use crate::harness::times::per_second;

const CONNECTIONS: usize = 32;

/// Runs a closed loop over 32 connections to `https`. The cost includes the service and its database.
pub(super) fn round(
    service: &Service,
    https: &Https,
    plan: &Plan<'_>,
    status: u16,
    request: &Request<'_>,
) -> Result<Round> {
    plan.settle()?;
    let meter = service.meter();
    let done = closed_loop(https, CONNECTIONS, plan.period(), status, request)?;
    let cpu = Some(meter.each(done.answered));
    let refused = done.refusal.as_ref().map(|it| {
        let said = String::from_utf8_lossy(&it.body);
        format!("{} not counted, such as {}: {said}", done.refused, it.status)
    });
    let rate = per_second(done.times.len(), done.took);
    Ok(Round { cpu, refused, times: done.times, ..Round::rated(rate) })
}
