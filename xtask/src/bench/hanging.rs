//! Measures how much many hanging receivers delay a healthy one.

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::figures::{Row, Wanted};
use super::latency::Healthy;
use super::plan::Plan;
use crate::harness::fixture::{Company, Provider};
use crate::harness::receiver::{Manner, Receiver};
use crate::harness::service::Service;

const RECEIVERS: usize = 50;
const EVENTS_EACH: usize = 2_000;
/// Twenty seconds of events, so that attempts at hanging receivers end and restart meanwhile.
const HEALTHY_EVENTS: u32 = 400;

pub(super) fn measure(service: &Service, _plan: &Plan<'_>) -> Result<Vec<Row>> {
    let healthy = Healthy::new(service)?;
    let receivers: Vec<_> = (0..RECEIVERS).map(|_| Receiver::start(Manner::Hangs)).collect::<Result<_>>()?;
    let providers: Vec<_> = receivers
        .iter()
        .map(|receiver| Provider::create(service, Some(&receiver.url())))
        .collect::<Result<_>>()?;

    // One company is transferred between the providers: an event goes to the provider that made the request, even if
    // the company changes its owner.
    let (first, others) = providers.split_first().context("no provider")?;
    let company = Company::create(service, first, "hanging", EVENTS_EACH)?;
    company.thank_everybody(service, first, 1)?;
    for provider in others {
        service.operate(&["company", "transfer", &company.id, "--to", &provider.id])?;
        company.thank_everybody(service, provider, 1)?;
    }

    let paced = healthy.paced(service, HEALTHY_EVENTS)?;
    let waiting = service.events_waiting()?;
    ensure!(waiting >= RECEIVERS * EVENTS_EACH, "only {waiting} events wait");
    Ok(vec![
        Row::new(format!("hanging: 201 read to first byte, beside {RECEIVERS} that hang"))
            .rate(paced.rate)
            .times(paced.after_answer)
            .wanted(&[Wanted::P99Below(Duration::from_secs(1))], &[])
            .note(format!("{waiting} events wait")),
        Row::new(format!("  request sent to first byte, beside {RECEIVERS} that hang"))
            .rate(paced.rate)
            .times(paced.after_request),
    ])
}
