//! Sends many more requests than can be served, from clients that do not wait for each other.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use guerdon_test_harness::HttpsConnection;

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

/// The durations of requests by status.
type DurationsByStatus = BTreeMap<u16, Vec<Duration>>;

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
        let (responses, offered) = send_at_rate(context, connections, peak * LOAD_FACTOR, &request)?;
        let recovery = wait_for_recovery(&other, &before)?;
        measurements.extend(judge_responses(clients, peak, offered, responses, period));
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

fn judge_responses(
    clients: usize,
    peak: f64,
    offered: f64,
    responses: DurationsByStatus,
    period: Duration,
) -> Vec<Measurement> {
    let counts: Vec<String> =
        responses.iter().map(|(status, all)| format!("{} x {status}", all.len())).collect();
    let goodput = per_second(responses.get(&201).map_or(0, Vec::len), period) / peak;
    let refused: Vec<Duration> =
        responses.into_iter().filter(|(status, _)| *status != 201).flat_map(|(_, times)| times).collect();
    let mut measurements = vec![
        Measurement::without_bound(format!("{clients} connections"), counts.join(", ")),
        Measurement::without_bound("  sent", format!("{:.1} x the peak", offered / peak)),
    ];
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
) -> Result<(DurationsByStatus, f64)> {
    let period = context.period(PERIODS);
    let (responses, next) = (Mutex::new(DurationsByStatus::new()), AtomicUsize::new(0));
    let start = Instant::now();
    std::thread::scope(|scope| -> Result<()> {
        for (thread, mut connection) in open.into_iter().enumerate() {
            let (responses, next) = (&responses, &next);
            let send_requests = move || {
                lower_priority();
                let mut thread_responses = DurationsByStatus::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let due = Duration::from_secs_f64(to_f64(number) / requests_per_second);
                    if due >= period || start.elapsed() >= period {
                        break;
                    }
                    std::thread::sleep(due.saturating_sub(start.elapsed()));
                    let bytes = request(thread + 1_000, number);
                    let sent = Instant::now();
                    let Ok(response) = connection.send_request(&bytes) else { break };
                    thread_responses.entry(response.status).or_default().push(sent.elapsed());
                }
                let mut all = responses.lock().unwrap_or_else(PoisonError::into_inner);
                for (status, times) in thread_responses {
                    all.entry(status).or_default().extend(times);
                }
            };
            std::thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, send_requests)
                .context("a thread")?;
        }
        Ok(())
    })?;
    let responses = responses.into_inner().unwrap_or_else(PoisonError::into_inner);
    let sent = responses.values().map(Vec::len).sum();
    Ok((responses, per_second(sent, period)))
}
