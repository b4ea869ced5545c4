//! Sends many more requests than can be served, from clients that do not wait for each other.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use guerdon_test_harness::{HttpResponse, HttpsConnection};

use super::context::{AttackContext, lower_priority};
use super::report::Measurement;
use super::victim::{Victim, VictimMeasurements};
use crate::measurement::closed_loop::closed_loop;
use crate::measurement::percentiles::{Percentiles, per_second, to_f64};

/// The periods of measurement: the peak, another client before the load, and one load for each number of clients.
const PERIODS: u32 = 4;
/// The request rate as a multiple of the peak.
const LOAD_FACTOR: f64 = 5.0;
/// The number of connections of the closed loop that measures the peak.
const PEAK_CONNECTIONS: usize = 64;
/// The number of clients: as many as may queue, and twice as many, of which every other one is refused immediately.
const CLIENT_COUNTS: [usize; 2] = [1_000, 2_000];
/// Connections per address, below the limit of 256.
const CONNECTIONS_PER_ADDRESS: usize = 250;
const STACK_BYTES: usize = 256 << 10;
/// The minimum share of the peak that must still be served.
const GOODPUT_MIN: f64 = 0.85;
const RECOVERY_TIME_MAX: Duration = Duration::from_secs(5);

/// The outcomes of requests.
#[derive(Default)]
struct Outcomes {
    durations_by_status: BTreeMap<u16, Vec<Duration>>,
    /// Responses that are neither 201, nor 429 or 503 with `Retry-After`.
    unexpected: usize,
    broken_connections: usize,
}

impl Outcomes {
    fn record(&mut self, response: &HttpResponse, duration: Duration) {
        let is_refusal = matches!(response.status, 429 | 503) && response.header("retry-after").is_some();
        self.unexpected += usize::from(response.status != 201 && !is_refusal);
        self.durations_by_status.entry(response.status).or_default().push(duration);
    }

    fn merge(&mut self, other: Self) {
        for (status, durations) in other.durations_by_status {
            self.durations_by_status.entry(status).or_default().extend(durations);
        }
        self.unexpected += other.unexpected;
        self.broken_connections += other.broken_connections;
    }
}

pub(super) fn run(context: &AttackContext<'_>) -> Result<Vec<Measurement>> {
    let period = context.period(PERIODS);
    let victim = Victim::create(context.service)?;
    let other = Victim::create_named(context.service, "other")?;
    let request = |at: usize, number: usize| {
        victim
            .provider()
            .post_request("/v1/recognitions", &victim.company().random_recognition(at, number, 1))
    };
    let peak = closed_loop(context.service.https(), PEAK_CONNECTIONS, period, 201, &request)?;
    ensure!(peak.unexpected == 0, "{} were refused at the peak", peak.unexpected);
    let peak = per_second(peak.times.len(), peak.elapsed);
    let before = other.measure_for(period)?;
    let greeting = victim.provider().get_request(&format!("/v1/users/{}", victim.company().user_id(0)));
    let mut measurements = vec![Measurement::without_bound("peak", format!("{peak:.0}/s"))];
    for clients in CLIENT_COUNTS {
        let connections = open_connections(context, clients, &greeting)?;
        let (outcomes, offered) = send_at_rate(context, connections, peak * LOAD_FACTOR, &request)?;
        let recovery = wait_for_recovery(&other, &before)?;
        measurements.extend(judge_outcomes(clients, peak, offered, outcomes, period));
        measurements.push(Measurement::duration_below("recovery time", recovery, RECOVERY_TIME_MAX));
    }
    Ok(measurements)
}

/// Returns the time until another client is served as before.
fn wait_for_recovery(other: &Victim<'_>, before: &VictimMeasurements) -> Result<Duration> {
    let ended = Instant::now();
    while ended.elapsed() < RECOVERY_TIME_MAX * 2 {
        let measured = other.measure_for(Duration::from_secs(1))?;
        if measured.refused == 0 && measured.times.median <= before.times.median * 2 {
            break;
        }
    }
    Ok(ended.elapsed())
}

fn judge_outcomes(
    clients: usize,
    peak: f64,
    offered: f64,
    outcomes: Outcomes,
    period: Duration,
) -> Vec<Measurement> {
    let Outcomes { mut durations_by_status, unexpected, broken_connections } = outcomes;
    let counts: Vec<String> =
        durations_by_status.iter().map(|(status, all)| format!("{} x {status}", all.len())).collect();
    let served = durations_by_status.remove(&201).unwrap_or_default();
    let goodput = per_second(served.len(), period) / peak;
    let refused: Vec<Duration> = durations_by_status.into_values().flatten().collect();
    let mut measurements = vec![
        Measurement::without_bound(format!("{clients} connections"), counts.join(", ")),
        Measurement::at_most("  neither served nor refused", to_f64(unexpected), 0.0, ""),
        Measurement::at_most("  broken connections", to_f64(broken_connections), 0.0, ""),
        Measurement::without_bound("  sent", format!("{:.1} x the peak", offered / peak)),
    ];
    if let Some(times) = Percentiles::from_durations(served) {
        measurements.push(Measurement::without_bound("  p99 of the served", format!("{:.1?}", times.p99)));
    }
    let [waiting, _] = CLIENT_COUNTS;
    measurements.push(if clients == waiting {
        Measurement::at_least("  goodput", goodput * 100.0, GOODPUT_MIN * 100.0, " %")
    } else {
        Measurement::without_bound("  goodput", format!("{:.0} %", goodput * 100.0)) // limited by the cost of refusals
    });
    if let Some(times) = Percentiles::from_durations(refused) {
        measurements.push(Measurement::duration_below(
            "  median of a refusal",
            times.median,
            Duration::from_millis(20),
        ));
    }
    measurements
}

/// Opens the connections and sends an authenticated request on each, so that none is closed while idle.
fn open_connections(
    context: &AttackContext<'_>,
    clients: usize,
    greeting: &[u8],
) -> Result<Vec<HttpsConnection>> {
    let mut open = Vec::new();
    for number in 0..clients {
        let last = u8::try_from(number / CONNECTIONS_PER_ADDRESS + 1).unwrap_or(u8::MAX);
        let mut connection = context.service.https().connect_from(Ipv4Addr::new(127, 0, 5, last))?;
        connection.expect_status(200, greeting)?;
        open.push(connection);
    }
    Ok(open)
}

/// Sends at a fixed rate for the period, whatever the responses. Returns the responses and the actual rate.
fn send_at_rate(
    context: &AttackContext<'_>,
    open: Vec<HttpsConnection>,
    requests_per_second: f64,
    request: &(dyn Fn(usize, usize) -> Vec<u8> + Sync),
) -> Result<(Outcomes, f64)> {
    let period = context.period(PERIODS);
    let (outcomes, next) = (Mutex::new(Outcomes::default()), AtomicUsize::new(0));
    let start = Instant::now();
    std::thread::scope(|scope| -> Result<()> {
        for (thread, mut connection) in open.into_iter().enumerate() {
            let (outcomes, next) = (&outcomes, &next);
            let send_requests = move || {
                lower_priority();
                let mut thread_outcomes = Outcomes::default();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let due = Duration::from_secs_f64(to_f64(number) / requests_per_second);
                    if due >= period || start.elapsed() >= period {
                        break;
                    }
                    std::thread::sleep(due.saturating_sub(start.elapsed()));
                    let bytes = request(thread + 1_000, number);
                    let sent = Instant::now();
                    let Ok(response) = connection.send_request(&bytes) else {
                        thread_outcomes.broken_connections += 1;
                        break;
                    };
                    thread_outcomes.record(&response, sent.elapsed());
                }
                outcomes.lock().unwrap_or_else(PoisonError::into_inner).merge(thread_outcomes);
            };
            std::thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, send_requests)
                .context("a thread")?;
        }
        Ok(())
    })?;
    let outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    let sent = outcomes.durations_by_status.values().map(Vec::len).sum();
    Ok((outcomes, per_second(sent, period)))
}
