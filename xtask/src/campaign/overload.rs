//! Sends more requests than can be served, from clients that do not wait for each other.
//!
//! Each client waits for its response before it sends again, so the number of connections limits the load. Over as many
//! connections as may queue, the load can be as low as the peak; over twice as many, it must be an overload.

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
/// The number of connections of the closed loop that measures the peak.
const PEAK_CONNECTIONS: usize = 64;
/// The loads: as many connections as may queue, and twice as many, of which every other one is refused immediately.
/// Clients that send more over 2,000 connections on the same processors use the time that the database needs.
const LOADS: [Load; 2] = [
    Load {
        connections: 1_000,
        sent_max: 5.0,
        sent_min: None,
        goodput_min: 0.85,
        p99_max: Duration::from_secs(1),
    },
    Load {
        connections: 2_000,
        sent_max: 2.5,
        sent_min: Some(1.5),
        goodput_min: 0.35,
        p99_max: Duration::from_secs(2),
    },
];
/// Connections per address, below the limit of 256.
const CONNECTIONS_PER_ADDRESS: usize = 250;
const STACK_BYTES: usize = 256 << 10;
const REFUSAL_TIME_MAX: Duration = Duration::from_millis(20);
const RECOVERY_TIME_MAX: Duration = Duration::from_secs(5);

/// A number of connections, and the bounds of its results.
struct Load {
    connections: usize,
    /// The maximum of requests sent, as a multiple of the peak.
    sent_max: f64,
    /// The minimum of requests sent, as a multiple of the peak; `None` if the load need not be an overload.
    sent_min: Option<f64>,
    /// The minimum share of the peak that must still be served. The cost of refusals limits it.
    goodput_min: f64,
    /// The maximum p99 of the served requests.
    p99_max: Duration,
}

/// The outcomes of requests.
#[derive(Default)]
struct Outcomes {
    durations_by_status: BTreeMap<u16, Vec<Duration>>,
    /// How many requests were served before the end of the period.
    served_in_period: usize,
    /// Responses that are neither 201, nor 429 or 503 with `Retry-After`.
    unexpected: usize,
    broken_connections: usize,
}

impl Outcomes {
    fn record(&mut self, response: &HttpResponse, duration: Duration, is_in_period: bool) {
        self.served_in_period += usize::from(response.status == 201 && is_in_period);
        let is_refusal = matches!(response.status, 429 | 503) && response.header("retry-after").is_some();
        self.unexpected += usize::from(response.status != 201 && !is_refusal);
        self.durations_by_status.entry(response.status).or_default().push(duration);
    }

    fn merge(&mut self, other: Self) {
        for (status, durations) in other.durations_by_status {
            self.durations_by_status.entry(status).or_default().extend(durations);
        }
        self.served_in_period += other.served_in_period;
        self.unexpected += other.unexpected;
        self.broken_connections += other.broken_connections;
    }

    fn count_responses(&self) -> usize {
        self.durations_by_status.values().map(Vec::len).sum()
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
    for load in LOADS {
        let connections = open_connections(context, load.connections, &greeting)?;
        let outcomes = send_at_rate(context, connections, peak * load.sent_max, &request)?;
        let recovery = wait_for_recovery(&other, &before)?;
        measurements.extend(load.judge(outcomes, peak * period.as_secs_f64()));
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

impl Load {
    /// Compares the outcomes with the number of requests that are served in the same time at the peak.
    fn judge(&self, outcomes: Outcomes, served_at_peak: f64) -> Vec<Measurement> {
        let share_of_peak = |count: usize| to_f64(count) / served_at_peak;
        let sent = share_of_peak(outcomes.count_responses() + outcomes.broken_connections);
        let goodput = share_of_peak(outcomes.served_in_period) * 100.0;
        let Outcomes { mut durations_by_status, unexpected, broken_connections, .. } = outcomes;
        let counts: Vec<String> =
            durations_by_status.iter().map(|(status, all)| format!("{} x {status}", all.len())).collect();
        let served = Percentiles::from_durations(durations_by_status.remove(&201).unwrap_or_default());
        let refused = durations_by_status.into_values().flatten().collect();
        let mut measurements = vec![
            Measurement::without_bound(format!("{} connections", self.connections), counts.join(", ")),
            Measurement::at_most("  neither served nor refused", to_f64(unexpected), 0.0, ""),
            Measurement::at_most("  broken connections", to_f64(broken_connections), 0.0, ""),
            self.judge_sent(sent),
            Measurement::at_least("  goodput", goodput, self.goodput_min * 100.0, " %"),
        ];
        measurements.extend(
            served.map(|times| Measurement::duration_below("  p99 of the served", times.p99, self.p99_max)),
        );
        measurements.extend(Percentiles::from_durations(refused).map(|times| {
            Measurement::duration_below("  median of a refusal", times.median, REFUSAL_TIME_MAX)
        }));
        measurements
    }

    /// Checks the number of requests sent, as a multiple of the peak.
    fn judge_sent(&self, sent: f64) -> Measurement {
        let value = format!("{sent:.2} x the peak");
        match self.sent_min {
            Some(min) => Measurement::with_verdict("  sent", value, format!(">= {min:.1}"), sent >= min),
            None => Measurement::without_bound("  sent", value),
        }
    }
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

/// Sends at a fixed rate for the period, or as fast as the responses permit. Returns when all responses have arrived.
fn send_at_rate(
    context: &AttackContext<'_>,
    open: Vec<HttpsConnection>,
    requests_per_second: f64,
    request: &(dyn Fn(usize, usize) -> Vec<u8> + Sync),
) -> Result<Outcomes> {
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
                    thread_outcomes.record(&response, sent.elapsed(), start.elapsed() < period);
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
    Ok(outcomes.into_inner().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use guerdon_test_harness::HttpResponse;

    use super::{LOADS, Outcomes};
    use crate::campaign::report::Report;

    /// Returns the number of violations over 2,000 connections, if 100 requests are served at the peak.
    fn violations(served: usize, served_late: usize, refused: usize, duration: Duration) -> usize {
        let mut outcomes = Outcomes::default();
        let mut record = |status: u16, count: usize, duration: Duration, is_in_period: bool| {
            let head = "HTTP/1.1 503\r\nretry-after: 1\r\n".to_owned();
            let response = HttpResponse { status, head, body: Vec::new() };
            (0..count).for_each(|_| outcomes.record(&response, duration, is_in_period));
        };
        record(201, served, duration, true);
        record(201, served_late, duration, false);
        record(503, refused, Duration::from_millis(1), true);
        let [_, overload] = LOADS;
        Report::from(overload.judge(outcomes, 100.0)).count_violations()
    }

    #[test]
    fn an_overload_needs_enough_requests_and_enough_timely_responses() {
        let second = Duration::from_secs(1);
        assert_eq!(violations(40, 0, 160, second), 0);
        assert_eq!(violations(40, 0, 100, second), 1, "too few requests");
        assert_eq!(violations(30, 20, 160, second), 1, "responses after the period are not counted");
        assert_eq!(violations(40, 0, 160, second * 2), 1, "too slow");
    }
}
