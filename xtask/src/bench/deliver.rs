//! Measures how fast a backlog is delivered, compared with a bare loop that sends the same events.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use guerdon_test_harness::WebhookReceiver;
use guerdon_webhooks::{sign, standard_signature};

use super::plan::{Case, Plan};
use super::results::{Goal, ResultRow, Round};
use crate::measurement::fixture::{Company, Provider, first_id};
use crate::measurement::percentiles::per_second;
use crate::measurement::service::RunningService;

const USERS: usize = 1_000;
/// The number of recognitions that each user receives.
const RECOGNITIONS_PER_USER: usize = 20;
const EVENTS: usize = USERS * RECOGNITIONS_PER_USER;
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(120);
/// The number of threads of the bare loop.
const THREADS: usize = 4;

pub(super) fn measure(service: &RunningService, plan: &Plan<'_>) -> Result<Vec<ResultRow>> {
    let provider = Provider::create(service, None)?;
    let company = Company::create(service, &provider, "drained", USERS)?;
    let mut rounds = Vec::new();
    let mut baselines = Vec::new();
    let mut duplicate_count = 0;
    for _ in 0..plan.rounds {
        plan.flush_writes()?;
        let (round, duplicates) = deliver_backlog(service, &provider, &company)?;
        baselines.extend(round.baseline.map(Round::from_rate));
        rounds.push(round);
        duplicate_count += duplicates;
    }
    let baseline_name = "ureq, 4 threads";
    Ok(vec![
        ResultRow::from_rounds(Case::Deliver.name(), rounds)
            .compared_with(baseline_name)
            .with_goals(&[Goal::RatioAtLeast(0.6)], &[Goal::RatioAtLeast(0.8)])
            .with_note(format!("{duplicate_count} sent twice")),
        ResultRow::from_rounds(format!("  baseline: {baseline_name}"), baselines),
    ])
}

/// Returns the results of a round, and the number of events that arrived twice.
fn deliver_backlog(
    service: &RunningService,
    provider: &Provider,
    company: &Company,
) -> Result<(Round, usize)> {
    // Without a callback URL, events are stored without being sent.
    service.run_cli(&["provider", "set", &provider.id, "--no-callback-url"])?;
    company.recognize_all_users(service, provider, RECOGNITIONS_PER_USER)?;
    service.wait_for_empty_outbox(DELIVERY_TIMEOUT)?;
    let receiver = WebhookReceiver::start()?;
    service.run_cli(&["provider", "set", &provider.id, "--callback-url", &receiver.named_url()])?;
    let meter = service.start_cpu_meter();
    service.run_cli(&["event", "replay", "--provider", &provider.id, "--state", "unaddressed"])?;
    receiver.wait_for(EVENTS, DELIVERY_TIMEOUT)?;
    service.wait_for_empty_outbox(DELIVERY_TIMEOUT)?;
    let cpu = Some(meter.per_request(u32::try_from(EVENTS)?));
    let arrived = receiver.unread_requests();
    let distinct: HashSet<_> = arrived.iter().filter_map(|event| first_id(&event.body)).collect();
    ensure!(distinct.len() == EVENTS, "{} distinct events arrived, expected {EVENTS}", distinct.len());
    let first = arrived.iter().map(|event| event.received_at).min().context("nothing arrived")?;
    let last = arrived.iter().map(|event| event.received_at).max().context("nothing arrived")?;
    let bodies: Vec<_> = arrived.into_iter().map(|event| event.body).collect();
    let round = Round {
        cpu,
        baseline: Some(measure_bare_loop(&receiver, &provider.shared_secret, &bodies)?),
        ..Round::from_rate(per_second(EVENTS, last - first))
    };
    Ok((round, bodies.len().saturating_sub(EVENTS)))
}

/// Signs and sends events from a few threads, and returns the events per second.
fn measure_bare_loop(receiver: &WebhookReceiver, secret: &str, bodies: &[Vec<u8>]) -> Result<f64> {
    let agent: ureq::Agent =
        ureq::Agent::config_builder().proxy(None).max_idle_connections_per_host(THREADS).build().into();
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    let send_events = || -> Result<()> {
        while let Some(body) = bodies.get(next.fetch_add(1, Ordering::Relaxed)) {
            send_event(&agent, &receiver.named_url(), secret, body)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(send_events)).collect();
        for thread in threads {
            match thread.join() {
                Ok(sent) => sent?,
                Err(_panic) => bail!("a thread of the bare loop panicked"),
            }
        }
        Ok(())
    })?;
    Ok(per_second(bodies.len(), start.elapsed()))
}

fn send_event(agent: &ureq::Agent, url: &str, secret: &str, body: &[u8]) -> Result<()> {
    let event_id = "01a1fdd4-8a51-741c-a29d-73192bacd34c";
    let (timestamp, nonce) = ("2026-11-20T20:01:02.345Z", "000102030405060708090a0b0c0d0e0f");
    let timestamp_seconds = 1_795_204_862;
    let request = agent
        .post(url)
        .header("Content-Type", "application/json")
        .header("User-Agent", "Guerdon-Webhooks")
        .header("X-Service-Event-Id", event_id)
        .header("X-Service-Timestamp", timestamp)
        .header("X-Service-Nonce", nonce)
        .header("X-Service-Signature", sign(secret, url, timestamp, nonce, body))
        .header("webhook-id", event_id)
        .header("webhook-timestamp", timestamp_seconds)
        .header("webhook-signature", standard_signature(secret, event_id, timestamp_seconds, body));
    request.send(body)?.body_mut().read_to_vec()?;
    Ok(())
}
