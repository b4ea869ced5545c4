//! How fast a backlog leaves, beside a bare loop that sends the same.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use ring::hmac;

use super::figures::{Row, Wanted, per_second};
use super::fixture::{Company, Provider};
use super::receiver::{Manner, Receiver};
use super::service::Service;
use super::wire::first_id;

const USERS: usize = 1_000;
/// How often each of them is sent a recognition.
const TIMES: usize = 20;
const EVENTS: usize = USERS * TIMES;
const ROUNDS: usize = 3;
const LIMIT: Duration = Duration::from_secs(120);

/// Rates of the service and of the bare loop right after it, and how many events came twice.
struct Round {
    drained: f64,
    bare: f64,
    repeated: usize,
}

pub(super) fn measure(service: &Service) -> Result<Vec<Row>> {
    let provider = Provider::create(service, None)?;
    let company = Company::create(service, &provider, "drained", USERS)?;
    let mut rounds: Vec<_> =
        (0..ROUNDS).map(|_| drain(service, &provider, &company)).collect::<Result<_>>()?;
    // Whatever else the machine did falls on one round or another: the middle one counts.
    rounds.sort_by(|one, other| (one.drained / one.bare).total_cmp(&(other.drained / other.bare)));
    let ratios: Vec<_> = rounds.iter().map(|it| format!("{:.2}", it.drained / it.bare)).collect();
    let repeated: usize = rounds.iter().map(|it| it.repeated).sum();
    let middle = rounds.get(ROUNDS / 2).context("no round")?;
    let ceiling = Row::new("ceiling: a bare ureq loop, same bodies, same receiver").rate(middle.bare);
    let row = Row::new(format!("{EVENTS} events drained"))
        .rate(middle.drained)
        .beside(&ceiling, "the bare loop")
        .wanted(&[Wanted::RatioAtLeast(0.5)])
        .note(format!("rounds {}; {repeated} sent twice", ratios.join(", ")));
    Ok(vec![ceiling, row])
}

fn drain(service: &Service, provider: &Provider, company: &Company) -> Result<Round> {
    // Without a callback URL the events are kept as they are made.
    service.operate(&["provider", "set", &provider.id, "--no-callback-url"])?;
    company.thank_everybody(service, provider, TIMES)?;
    service.wait_until_settled(LIMIT)?;
    let receiver = Receiver::start(Manner::Confirms)?;
    service.operate(&["provider", "set", &provider.id, "--callback-url", &receiver.url()])?;
    service.operate(&["event", "replay", "--provider", &provider.id, "--state", "unaddressed"])?;
    receiver.wait_for(EVENTS, LIMIT)?;
    service.wait_until_settled(LIMIT)?;
    let arrived = receiver.take();
    let distinct: HashSet<_> = arrived.iter().filter_map(|it| first_id(&it.body)).collect();
    ensure!(distinct.len() == EVENTS, "{} different events arrived", distinct.len());
    let first = arrived.iter().map(|it| it.first_byte).min().context("nothing arrived")?;
    let last = arrived.iter().map(|it| it.first_byte).max().context("nothing arrived")?;
    let bodies: Vec<_> = arrived.into_iter().map(|it| it.body).collect();
    Ok(Round {
        drained: per_second(EVENTS, last - first),
        bare: bare_loop(&receiver, &provider.shared_secret, &bodies)?,
        repeated: bodies.len().saturating_sub(EVENTS),
    })
}

/// Signs and sends one after the other over one connection; answers events per second.
fn bare_loop(receiver: &Receiver, secret: &str, bodies: &[Vec<u8>]) -> Result<f64> {
    let agent: ureq::Agent = ureq::Agent::config_builder().proxy(None).build().into();
    let url = receiver.url();
    let timestamp = "2026-11-20T20:01:02.345Z";
    let start = Instant::now();
    for (number, body) in bodies.iter().enumerate() {
        let nonce = format!("{number:032x}");
        let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()));
        for line in [url.as_str(), timestamp, &nonce] {
            context.update(line.as_bytes());
            context.update(b"\n");
        }
        context.update(body);
        let signature: String = context.sign().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        let request = agent
            .post(&url)
            .header("Content-Type", "application/json")
            .header("User-Agent", "Guerdon-Webhooks")
            .header("X-Service-Event-Id", "01a1fdd4-8a51-741c-a29d-73192bacd34c")
            .header("X-Service-Timestamp", timestamp)
            .header("X-Service-Nonce", nonce)
            .header("X-Service-Signature", signature);
        request.send(body.as_slice())?.body_mut().read_to_vec()?;
    }
    Ok(per_second(bodies.len(), start.elapsed()))
}
