//! Measures how much many hanging receivers delay a healthy one.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use guerdon_test_harness::{Reply, WebhookReceiver};

use super::latency::HealthyReceiver;
use super::plan::Plan;
use super::results::{Goal, ResultRow};
use crate::measurement::fixture::{Company, Provider};
use crate::measurement::service::RunningService;

const RECEIVERS: u32 = 50;
const EVENTS_PER_RECEIVER: u32 = 2_000;
/// The number of events to the healthy receiver. They take twenty seconds, so that attempts at hanging receivers end
/// and restart within this time.
const HEALTHY_EVENTS: u32 = 400;

pub(super) fn measure(service: &RunningService, _plan: &Plan<'_>) -> Result<Vec<ResultRow>> {
    let healthy = HealthyReceiver::new(service)?;
    let receivers: Vec<_> = (0..RECEIVERS).map(|_| WebhookReceiver::start()).collect::<Result<_>>()?;
    // Never released, so they hang.
    receivers.iter().for_each(|receiver| receiver.set_default_reply(Reply::AfterRelease(200)));
    let providers: Vec<_> = receivers
        .iter()
        .map(|receiver| Provider::create(service, Some(&receiver.named_url())))
        .collect::<Result<_>>()?;

    // One company is transferred between the providers: an event goes to the provider that made the request, even if
    // the company changes its owner.
    let (first, others) = providers.split_first().context("no provider")?;
    let company = Company::create(service, first, "hanging", usize::try_from(EVENTS_PER_RECEIVER)?)?;
    company.recognize_all_users(service, first, 1)?;
    for provider in others {
        service.run_cli(&["company", "transfer", &company.id, "--to", &provider.id])?;
        company.recognize_all_users(service, provider, 1)?;
    }

    let paced = healthy.measure_paced(service, HEALTHY_EVENTS)?;
    let pending = service.pending_events()?;
    ensure!(pending >= f64::from(RECEIVERS * EVENTS_PER_RECEIVER), "only {pending} events are pending");
    Ok(vec![
        ResultRow::new(format!("hanging: 201 read to first byte, next to {RECEIVERS} that hang"))
            .with_rate(paced.rate)
            .with_times(paced.after_response)
            .with_goals(&[Goal::P99Below(Duration::from_secs(1))], &[])
            .with_note(format!("{pending} events pending")),
        ResultRow::new(format!("  request sent to first byte, next to {RECEIVERS} that hang"))
            .with_rate(paced.rate)
            .with_times(paced.after_request),
    ])
}
