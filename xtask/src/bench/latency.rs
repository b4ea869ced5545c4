//! Measures the time from an event's commit to its arrival at the receiver.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use guerdon_test_harness::WebhookReceiver;

use super::plan::Plan;
use super::results::{Goal, ResultRow};
use crate::measurement::fixture::{Company, Provider, create_object, first_id};
use crate::measurement::percentiles::per_second;
use crate::measurement::service::RunningService;

/// The interval between two events: twenty events per second.
const INTERVAL: Duration = Duration::from_millis(50);
const EVENTS: u32 = 300;
/// This many events are sent first and not counted: they open connections and start threads.
const WARM_UP: u32 = 25;
/// An event that has not arrived by then counts as lost.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(30);

/// The result for a rate of events.
pub(super) struct PacedLatencies {
    /// The times from the end of the 201 response to the first byte of the event.
    pub(super) after_response: Vec<Duration>,
    /// The times from the start of the request to the first byte of the event.
    pub(super) after_request: Vec<Duration>,
    /// The actual rate of events per second.
    pub(super) rate: f64,
}

/// A provider with a receiver that confirms, and a company.
pub(super) struct HealthyReceiver {
    receiver: WebhookReceiver,
    provider: Provider,
    company: Company,
}

pub(super) fn measure(service: &RunningService, _plan: &Plan<'_>) -> Result<Vec<ResultRow>> {
    let paced = HealthyReceiver::new(service)?.measure_paced(service, EVENTS)?;
    let required = [Goal::MedianBelow(Duration::from_millis(3)), Goal::P99Below(Duration::from_millis(7))];
    let target = [Goal::MedianBelow(Duration::from_micros(1_500))];
    Ok(vec![
        ResultRow::new("latency: 201 read to first byte at the receiver")
            .with_rate(paced.rate)
            .with_times(paced.after_response)
            .with_goals(&required, &target),
        ResultRow::new("  request sent to first byte at the receiver")
            .with_rate(paced.rate)
            .with_times(paced.after_request),
    ])
}

impl HealthyReceiver {
    pub(super) fn new(service: &RunningService) -> Result<Self> {
        let receiver = WebhookReceiver::start()?;
        let provider = Provider::create(service, Some(&receiver.named_url()))?;
        let company = Company::create(service, &provider, "healthy", 20)?;
        Ok(Self { receiver, provider, company })
    }

    /// Causes this many events at a fixed interval, and waits until all have arrived.
    pub(super) fn measure_paced(&self, service: &RunningService, events: u32) -> Result<PacedLatencies> {
        self.send_recognitions(service, WARM_UP)?;
        let start = Instant::now();
        let sent_recognitions = self.send_recognitions(service, events)?;
        let elapsed = start.elapsed();
        let arrived: HashMap<_, _> = self
            .receiver
            .unread_requests()
            .into_iter()
            .filter_map(|event| Some((first_id(&event.body)?, event.received_at)))
            .collect();
        let mut paced = PacedLatencies {
            after_response: Vec::new(),
            after_request: Vec::new(),
            rate: per_second(sent_recognitions.len(), elapsed.max(INTERVAL * events)),
        };
        for (id, sent, responded) in sent_recognitions {
            let arrived = arrived.get(&id).with_context(|| format!("no event of recognition {id}"))?;
            paced.after_response.push(arrived.saturating_duration_since(responded));
            paced.after_request.push(arrived.saturating_duration_since(sent));
        }
        Ok(paced)
    }

    /// Returns each recognition with the times before its request and after its response.
    fn send_recognitions(
        &self,
        service: &RunningService,
        events: u32,
    ) -> Result<Vec<(String, Instant, Instant)>> {
        drop(self.receiver.unread_requests());
        let mut connection = service.https().connect()?;
        let start = Instant::now();
        let mut recognitions = Vec::new();
        for number in 0..events {
            let receiver = self.company.users.iter().cycle().nth(usize::try_from(number)?).cloned();
            let body = self.company.company_recognition(receiver.as_slice());
            let request = self.provider.post_request("/v1/recognitions", &body);
            std::thread::sleep((start + INTERVAL * number).saturating_duration_since(Instant::now()));
            let sent = Instant::now();
            let id = create_object(&mut connection, &request)?;
            recognitions.push((id, sent, Instant::now()));
        }
        self.receiver.wait_for(recognitions.len(), DELIVERY_TIMEOUT)?;
        Ok(recognitions)
    }
}
