//! Runs one round of requests and measures its cost.

use anyhow::Result;
use guerdon_test_harness::HttpsClient;

use super::plan::Plan;
use super::results::Round;
use crate::measurement::closed_loop::{RequestFactory, closed_loop};
use crate::measurement::percentiles::per_second;
use crate::measurement::service::RunningService;

const CONNECTIONS: usize = 32;

/// Runs a closed loop over 32 connections to `https`. The cost includes the service and its database.
pub(super) fn run_round(
    service: &RunningService,
    https: &HttpsClient,
    plan: &Plan<'_>,
    status: u16,
    request: &RequestFactory<'_>,
) -> Result<Round> {
    plan.flush_writes()?;
    let meter = service.start_cpu_meter();
    let result = closed_loop(https, CONNECTIONS, plan.period(), status, request)?;
    let cpu = Some(meter.per_request(result.responses));
    let unexpected = result.first_unexpected.as_ref().map(|response| {
        let body = String::from_utf8_lossy(&response.body);
        format!("{} not counted, such as {}: {body}", result.unexpected, response.status)
    });
    let rate = per_second(result.times.len(), result.elapsed);
    Ok(Round { cpu, unexpected, times: result.times, ..Round::from_rate(rate) })
}
