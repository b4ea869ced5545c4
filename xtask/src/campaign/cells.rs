//! Two cells behind HAProxy under load from twenty providers: the primary of one is killed, the map is reloaded, and
//! all instances are restarted one after the other.
//!
//! Each cell has two instances of the service on a primary with a synchronous standby. A failover in one cell must not
//! slow down the other, nothing acknowledged may be lost or duplicated in either, and a reload or a rolling restart
//! must not cause any response other than 201.
//!
//! In operation, the cells run on different machines. Here they run on different processors; the router, the clients
//! and the disk are shared.

mod cell;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use guerdon_test_harness::{CellRouter, ROUTED_CELLS, WebhookReceiver};

use self::cell::Cell;
use super::comparison::{Comparison, compare_all, retry_uncertain};
use super::context::Setup;
use super::event_log::EventLog;
use super::load::{Load, LoadTarget};
use super::report::{Measurement, Report};
use super::request_log::RequestLog;
use crate::measurement::cpu::run_on_processor;
use crate::measurement::percentiles::{Percentiles, to_f64};
use crate::measurement::service::Database;

const PROVIDERS_PER_CELL: usize = 10;
const CLIENTS_PER_PROVIDER: usize = 2;
/// The interval between two recognitions of a client: a total load of 200 a second.
const REQUEST_INTERVAL: Duration = Duration::from_millis(200);
const LOAD_BEFORE_FAULT: Duration = Duration::from_secs(8);
const WARM_UP: Duration = Duration::from_secs(2);
const LOAD_AFTER_RECOVERY: Duration = Duration::from_secs(2);
/// The share of the rate before the failover that counts as the full rate.
const FULL_RATE_SHARE: f64 = 0.9;
const RECOVERY_TIME_MAX: Duration = Duration::from_secs(10);
const ROUND_TIMEOUT: Duration = Duration::from_secs(40);
/// The maximum factor by which a failover may raise the 99th percentile of the other cell.
const OTHER_CELL_SLOWDOWN_MAX: f64 = 2.0;
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(120);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The results of all rounds.
#[derive(Default)]
struct Results {
    failovers: usize,
    slowest_recovery: Duration,
    largest_slowdown: f64,
    /// Responses other than 201, and broken connections, during reloads and rolling restarts.
    dropped: usize,
    first_dropped: Option<String>,
    unavailable: usize,
    comparison: Comparison,
    /// The requests of each provider of each cell.
    logs: [Vec<RequestLog>; 2],
}

pub(super) fn run(setup: &Setup<'_>) -> Result<Report> {
    if setup.database == Database::Sqlite {
        return Ok(vec![Measurement::without_bound("failovers", "0: PostgreSQL only")].into());
    }
    let receiver = WebhookReceiver::start()?;
    let start_cell = |number: usize| {
        let name = ROUTED_CELLS.get(number).context("no such cell")?;
        run_on_processor(number, || Cell::start(setup, &receiver, name, PROVIDERS_PER_CELL))
    };
    let mut cells = [start_cell(0)?, start_cell(1)?];
    let map: Vec<(String, &str)> = cells
        .iter()
        .zip(ROUTED_CELLS)
        .flat_map(|(cell, name)| cell.api_keys().map(move |key| (key, name)))
        .collect();
    let map: Vec<(&str, &str)> = map.iter().map(|(key, name)| (key.as_str(), *name)).collect();
    let routed = [cells[0].routed()?, cells[1].routed()?];
    let router = CellRouter::start(Path::new("haproxy"), &routed, &map)
        .context("this campaign needs haproxy (Debian: haproxy)")?;
    let mut results = Results::default();
    let (start, mut round) = (Instant::now(), 0);
    while round == 0 || start.elapsed() < setup.duration {
        fail_over(&mut cells, &router, round, &mut results).with_context(|| format!("round {round}"))?;
        restart_all(&mut cells, &router, round, &mut results).with_context(|| format!("round {round}"))?;
        round += 1;
    }
    compare_cells(&cells, &receiver, results)
}

/// Kills the primary of one cell under load, and compares both cells before and after.
fn fail_over(cells: &mut [Cell; 2], router: &CellRouter, round: usize, results: &mut Results) -> Result<()> {
    let [first, second] = &mut *cells;
    let (first_targets, first_pair) = first.split_pair(router);
    let (second_targets, second_pair) = second.split_pair(router);
    let is_first = round.is_multiple_of(2);
    let (pair, processor) = if is_first { (first_pair, 0) } else { (second_pair, 1) };
    let targets = [first_targets, second_targets];
    let loads = create_loads(&targets, round * 2);
    let [first_loads, second_loads] = &loads;
    let failing = if is_first { first_loads } else { second_loads };
    let began = Instant::now();
    let ((killed, recovery), mut logs) = run_loads(&loads, || {
        std::thread::sleep(LOAD_BEFORE_FAULT);
        let rate_before = rate_of(failing, WARM_UP, began.elapsed());
        let (killed, _promoted, dead_port) = pair.fail_over()?;
        let recovery = loop {
            let now = began.elapsed();
            let second_ago = now.saturating_sub(Duration::from_secs(1)).max(killed - began);
            let is_full = now.saturating_sub(second_ago) >= Duration::from_millis(950)
                && rate_of(failing, second_ago, now) >= rate_before * FULL_RATE_SHARE;
            if is_full || killed.elapsed() > ROUND_TIMEOUT {
                break killed.elapsed();
            }
            std::thread::sleep(POLL_INTERVAL);
        };
        std::thread::sleep(LOAD_AFTER_RECOVERY);
        run_on_processor(processor, || pair.add_standby(dead_port))?;
        Ok((killed, recovery))
    })?;
    let [first_logs, second_logs] = &logs;
    let other = if is_first { second_logs } else { first_logs };
    let before = p99(other, began + WARM_UP, killed)?;
    let during = p99(other, killed, killed + recovery.max(Duration::from_secs(2)))?;
    let slowdown = during.as_secs_f64() / before.as_secs_f64();
    println!(
        "failover in the {} cell: full rate after {:.1} s; p99 of the other cell {:.1} ms before, {:.1} ms during",
        if is_first { "first" } else { "second" },
        recovery.as_secs_f64(),
        before.as_secs_f64() * 1_000.0,
        during.as_secs_f64() * 1_000.0
    );
    results.failovers += 1;
    results.slowest_recovery = results.slowest_recovery.max(recovery);
    results.largest_slowdown = results.largest_slowdown.max(slowdown);
    results.add_logs(&targets, &mut logs)
}

/// Reloads the router and restarts every instance under load. No request may fail because of it.
fn restart_all(
    cells: &mut [Cell; 2],
    router: &CellRouter,
    round: usize,
    results: &mut Results,
) -> Result<()> {
    let [first, second] = &mut *cells;
    let (first_targets, first_instances) = first.split_instances(router);
    let (second_targets, second_instances) = second.split_instances(router);
    let targets = [first_targets, second_targets];
    let loads = create_loads(&targets, round * 2 + 1);
    let ((), mut logs) = run_loads(&loads, || {
        std::thread::sleep(WARM_UP);
        router.reload()?;
        std::thread::sleep(WARM_UP);
        for (processor, instances) in [first_instances, second_instances].into_iter().enumerate() {
            for instance in instances {
                run_on_processor(processor, || instance.restart_gracefully())?;
            }
        }
        Ok(())
    })?;
    for log in logs.iter().flatten() {
        results.dropped += log.unavailable + log.broken_connections + log.unexpected.len();
        let described = || log.unexpected.first().cloned().or_else(|| describe_dropped(log));
        results.first_dropped = results.first_dropped.take().or_else(described);
    }
    results.add_logs(&targets, &mut logs)
}

fn describe_dropped(log: &RequestLog) -> Option<String> {
    let (unavailable, broken) = (log.unavailable, log.broken_connections);
    (unavailable + broken > 0).then(|| format!("{unavailable} times 503, {broken} broken connections"))
}

impl Results {
    /// Retries the requests with unknown outcomes, and keeps all logs.
    fn add_logs(
        &mut self,
        targets: &[Vec<LoadTarget<'_>>; 2],
        logs: &mut [Vec<RequestLog>; 2],
    ) -> Result<()> {
        for (cell, (targets, logs)) in targets.iter().zip(logs).enumerate() {
            for (target, mut log) in targets.iter().zip(logs.drain(..)) {
                self.unavailable += log.unavailable;
                self.comparison.acknowledged += log.count_acknowledged();
                retry_uncertain(target, &mut log, |_| false, &mut self.comparison)?;
                if let Some(kept) = self.logs.get_mut(cell) {
                    kept.push(log);
                }
            }
        }
        Ok(())
    }
}

/// Returns the loads of the providers of each cell. Each load has a different number, so no two requests have the same
/// key.
fn create_loads<'a>(targets: &'a [Vec<LoadTarget<'a>>; 2], phase: usize) -> [Vec<Load<'a>>; 2] {
    targets.each_ref().map(|targets| {
        let numbered = (phase * PROVIDERS_PER_CELL..).zip(targets);
        numbered
            .map(|(number, target)| {
                Load::with_clients(target, CLIENTS_PER_PROVIDER, number, REQUEST_INTERVAL)
            })
            .collect()
    })
}

/// Runs all loads until `work` ends. Returns the logs of each cell.
fn run_loads<T: Send>(
    loads: &[Vec<Load<'_>>; 2],
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<(T, [Vec<RequestLog>; 2])> {
    let ended = AtomicBool::new(false);
    let wait = || {
        while !ended.load(Ordering::Relaxed) {
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let running = loads
            .each_ref()
            .map(|loads| loads.iter().map(|load| scope.spawn(|| load.run_during(wait))).collect::<Vec<_>>());
        let result = work();
        ended.store(true, Ordering::Relaxed);
        let mut logs = [Vec::new(), Vec::new()];
        for (running, logs) in running.into_iter().zip(&mut logs) {
            for load in running {
                let Ok(log) = load.join() else { bail!("a thread of a load panicked") };
                logs.push(log?.1);
            }
        }
        Ok((result?, logs))
    })
}

/// The acknowledged requests per second of all providers of a cell.
fn rate_of(loads: &[Load<'_>], from: Duration, to: Duration) -> f64 {
    loads.iter().map(|load| load.rate_between(from, to)).sum()
}

/// The 99th percentile of the response times of requests that were sent in this period.
fn p99(logs: &[RequestLog], from: Instant, to: Instant) -> Result<Duration> {
    let requests = logs.iter().flat_map(|log| &log.requests);
    let durations = requests
        .filter(|request| (from..to).contains(&request.sent))
        .filter_map(|request| Some(request.acknowledgement.as_ref()?.received - request.sent));
    Ok(Percentiles::from_durations(durations.collect()).context("no request was acknowledged")?.p99)
}

/// Compares the ledger and the events of each cell with its requests.
fn compare_cells(cells: &[Cell; 2], receiver: &WebhookReceiver, results: Results) -> Result<Report> {
    let mut events = EventLog::new(receiver);
    let (mut whole, mut events_lost, mut operations) = (Comparison::default(), 0, 0);
    for (cell, logs) in cells.iter().zip(results.logs) {
        let requests: Vec<_> = logs.into_iter().flat_map(|log| log.requests).collect();
        whole += compare_all(&cell.ledger(), &requests)?;
        let acknowledged = requests
            .iter()
            .filter_map(|request| Some(request.acknowledgement.as_ref()?.recognition.as_str()));
        events_lost += events.wait_for_events(acknowledged, DELIVERY_TIMEOUT)?;
        operations += requests.len();
        cell.verify()?;
    }
    ensure!(operations > 0, "no request was sent");
    let mut measurements = vec![
        Measurement::without_bound("failovers", results.failovers.to_string()),
        Measurement::without_bound("acknowledged", results.comparison.acknowledged.to_string()),
        Measurement::without_bound("503 responses during failovers", results.unavailable.to_string()),
        Measurement::at_most("  different response to a retry", to_f64(results.comparison.changed), 0.0, ""),
        Measurement::at_most("lost events of acknowledged requests", to_f64(events_lost), 0.0, ""),
        Measurement::duration_below(
            "slowest return to the full rate",
            results.slowest_recovery,
            RECOVERY_TIME_MAX,
        ),
        Measurement::at_most(
            "p99 of the other cell, compared with before",
            results.largest_slowdown,
            OTHER_CELL_SLOWDOWN_MAX,
            "",
        ),
        Measurement::at_most("requests dropped by reloads and restarts", to_f64(results.dropped), 0.0, ""),
    ];
    measurements.extend(
        results.first_dropped.map(|first| Measurement::without_bound("first dropped request", first)),
    );
    Ok(Report {
        measurements,
        operations,
        faults: results.failovers,
        lost: Some(whole.lost),
        duplicated: Some(whole.duplicated),
    })
}
