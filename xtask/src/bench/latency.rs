//! Measures the time from an event's commit to its arrival at the receiver.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::figures::{Row, Wanted};
use super::plan::Plan;
use crate::harness::fixture::{Company, Provider, create};
use crate::harness::receiver::{Manner, Receiver};
use crate::harness::service::Service;
use crate::harness::times::per_second;
use crate::harness::wire::first_id;

/// Twenty events per second.
const INTERVAL: Duration = Duration::from_millis(50);
const EVENTS: u32 = 300;
/// This many events are sent first and not counted: they open connections and start threads.
const WARM_UP: u32 = 25;
/// An event that has not arrived by then counts as lost.
const LIMIT: Duration = Duration::from_secs(30);

/// The result for a rate of events.
pub(super) struct Paced {
    /// From the end of the 201 response to the first byte of the event.
    pub(super) after_answer: Vec<Duration>,
    /// From the start of the request to the first byte of the event.
    pub(super) after_request: Vec<Duration>,
    /// The actual rate of events per second.
    pub(super) rate: f64,
}

/// A provider with a receiver that confirms, and a company.
pub(super) struct Healthy {
    receiver: Receiver,
    provider: Provider,
    company: Company,
}

pub(super) fn measure(service: &Service, _plan: &Plan<'_>) -> Result<Vec<Row>> {
    let paced = Healthy::new(service)?.paced(service, EVENTS)?;
    let must = [Wanted::MedianBelow(Duration::from_millis(3)), Wanted::P99Below(Duration::from_millis(7))];
    let reach = [Wanted::MedianBelow(Duration::from_micros(1_500))];
    Ok(vec![
        Row::new("latency: 201 read to first byte at the receiver")
            .rate(paced.rate)
            .times(paced.after_answer)
            .wanted(&must, &reach),
        Row::new("  request sent to first byte at the receiver").rate(paced.rate).times(paced.after_request),
    ])
}

impl Healthy {
    pub(super) fn new(service: &Service) -> Result<Self> {
        let receiver = Receiver::start(Manner::Confirms)?;
        let provider = Provider::create(service, Some(&receiver.url()))?;
        let company = Company::create(service, &provider, "healthy", 20)?;
        Ok(Self { receiver, provider, company })
    }

    /// Causes this many events at a fixed interval, and waits until all have arrived.
    pub(super) fn paced(&self, service: &Service, events: u32) -> Result<Paced> {
        self.make(service, WARM_UP)?;
        let start = Instant::now();
        let made = self.make(service, events)?;
        let took = start.elapsed();
        let arrived: HashMap<_, _> = self
            .receiver
            .take()
            .into_iter()
            .filter_map(|delivery| Some((first_id(&delivery.body)?, delivery.first_byte)))
            .collect();
        let mut paced = Paced {
            after_answer: Vec::new(),
            after_request: Vec::new(),
            rate: per_second(made.len(), took.max(INTERVAL * events)),
        };
        for (id, sent, answered) in made {
            let arrived = arrived.get(&id).with_context(|| format!("no event of recognition {id}"))?;
            paced.after_answer.push(arrived.saturating_duration_since(answered));
            paced.after_request.push(arrived.saturating_duration_since(sent));
        }
        Ok(paced)
    }

    /// Returns each recognition with the times before its request and after its response.
    fn make(&self, service: &Service, events: u32) -> Result<Vec<(String, Instant, Instant)>> {
        drop(self.receiver.take());
        let mut connection = service.https().connect()?;
        let start = Instant::now();
        let mut made = Vec::new();
        for number in 0..events {
            let receiver = self.company.users.iter().cycle().nth(usize::try_from(number)?).cloned();
            let thanks = self.company.thanks(receiver.as_slice());
            let request = self.provider.post("/v1/recognitions", &thanks);
            std::thread::sleep((start + INTERVAL * number).saturating_duration_since(Instant::now()));
            let sent = Instant::now();
            let id = create(&mut connection, &request)?;
            made.push((id, sent, Instant::now()));
        }
        self.receiver.wait_for(made.len(), LIMIT)?;
        Ok(made)
    }
}
