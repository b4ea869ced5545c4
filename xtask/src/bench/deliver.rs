//! Measures how fast a backlog is delivered, compared with a bare loop that sends the same events.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use ring::hmac;

use super::figures::{Round, Row, Wanted};
use super::plan::{Case, Plan};
use crate::harness::fixture::{Company, Provider};
use crate::harness::receiver::{Manner, Receiver};
use crate::harness::service::Service;
use crate::harness::times::per_second;
use crate::harness::wire::first_id;

const USERS: usize = 1_000;
/// The number of recognitions that each user receives.
const TIMES: usize = 20;
const EVENTS: usize = USERS * TIMES;
const LIMIT: Duration = Duration::from_secs(120);
/// The number of threads of the bare loop.
const HANDS: usize = 4;

pub(super) fn measure(service: &Service, plan: &Plan<'_>) -> Result<Vec<Row>> {
    let provider = Provider::create(service, None)?;
    let company = Company::create(service, &provider, "drained", USERS)?;
    let mut rounds = Vec::new();
    let mut bare = Vec::new();
    let mut repeated = 0;
    for _ in 0..plan.rounds {
        plan.settle()?;
        let (round, twice) = drain(service, &provider, &company)?;
        bare.extend(round.ceiling.map(Round::rated));
        rounds.push(round);
        repeated += twice;
    }
    let ceiling = "ureq, 4 threads";
    Ok(vec![
        Row::of(Case::Deliver.name(), rounds)
            .beside(ceiling)
            .wanted(&[Wanted::RatioAtLeast(0.6)], &[Wanted::RatioAtLeast(0.8)])
            .note(format!("{repeated} sent twice")),
        Row::of(format!("  ceiling: {ceiling}"), bare),
    ])
}

/// Returns the results of a round, and the number of events that arrived twice.
fn drain(service: &Service, provider: &Provider, company: &Company) -> Result<(Round, usize)> {
    // Without a callback URL, events are stored without being sent.
    service.operate(&["provider", "set", &provider.id, "--no-callback-url"])?;
    company.thank_everybody(service, provider, TIMES)?;
    service.wait_until_settled(LIMIT)?;
    let receiver = Receiver::start(Manner::Confirms)?;
    service.operate(&["provider", "set", &provider.id, "--callback-url", &receiver.url()])?;
    let meter = service.meter();
    service.operate(&["event", "replay", "--provider", &provider.id, "--state", "unaddressed"])?;
    receiver.wait_for(EVENTS, LIMIT)?;
    service.wait_until_settled(LIMIT)?;
    let cpu = Some(meter.each(u32::try_from(EVENTS)?));
    let arrived = receiver.take();
    let distinct: HashSet<_> = arrived.iter().filter_map(|delivery| first_id(&delivery.body)).collect();
    ensure!(distinct.len() == EVENTS, "{} different events arrived", distinct.len());
    let first = arrived.iter().map(|delivery| delivery.first_byte).min().context("nothing arrived")?;
    let last = arrived.iter().map(|delivery| delivery.first_byte).max().context("nothing arrived")?;
    let bodies: Vec<_> = arrived.into_iter().map(|delivery| delivery.body).collect();
    let round = Round {
        cpu,
        ceiling: Some(bare_loops(&receiver, &provider.shared_secret, &bodies)?),
        ..Round::rated(per_second(EVENTS, last - first))
    };
    Ok((round, bodies.len().saturating_sub(EVENTS)))
}

/// Signs and sends events from a few threads, and returns the events per second.
fn bare_loops(receiver: &Receiver, secret: &str, bodies: &[Vec<u8>]) -> Result<f64> {
    let agent: ureq::Agent =
        ureq::Agent::config_builder().proxy(None).max_idle_connections_per_host(HANDS).build().into();
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    let hand = || -> Result<()> {
        while let Some(body) = bodies.get(next.fetch_add(1, Ordering::Relaxed)) {
            send(&agent, &receiver.url(), secret, body)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let hands: Vec<_> = (0..HANDS).map(|_| scope.spawn(hand)).collect();
        for hand in hands {
            match hand.join() {
                Ok(sent) => sent?,
                Err(_panic) => bail!("a thread of the bare loop panicked"),
            }
        }
        Ok(())
    })?;
    Ok(per_second(bodies.len(), start.elapsed()))
}

fn send(agent: &ureq::Agent, url: &str, secret: &str, body: &[u8]) -> Result<()> {
    let (timestamp, nonce) = ("2026-11-20T20:01:02.345Z", "000102030405060708090a0b0c0d0e0f");
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()));
    for line in [url, timestamp, nonce] {
        context.update(line.as_bytes());
        context.update(b"\n");
    }
    context.update(body);
    let signature: String = context.sign().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let request = agent
        .post(url)
        .header("Content-Type", "application/json")
        .header("User-Agent", "Guerdon-Webhooks")
        .header("X-Service-Event-Id", "01a1fdd4-8a51-741c-a29d-73192bacd34c")
        .header("X-Service-Timestamp", timestamp)
        .header("X-Service-Nonce", nonce)
        .header("X-Service-Signature", signature);
    request.send(body)?.body_mut().read_to_vec()?;
    Ok(())
}
