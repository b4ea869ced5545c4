//! Kills a primary under load, promotes its synchronous standby, and checks that nothing acknowledged was lost.
//!
//! Two instances of the service use one connection URL for both servers and keep running. After a promotion, the dead
//! primary returns as a standby with a fresh copy, and the next round kills the other server. In every other round,
//! the servers are disconnected from each other shortly before the kill: on one machine the primary's writes reach
//! the standby even if the primary did not wait for them, which would hide a loss.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use guerdon_test_harness::WebhookReceiver;

use super::comparison::{Comparison, compare_all, compare_and_resolve};
use super::context::{Setup, temporary_folder};
use super::event_log::EventLog;
use super::ledger::Ledger;
use super::load::{Load, LoadTarget, MODERATE_INTERVAL};
use super::report::{Measurement, Report};
use super::request_log::{LoadRequest, RequestLog};
use super::server_pair::ServerPair;
use crate::measurement::fixture::{Company, Provider};
use crate::measurement::percentiles::to_f64;
use crate::measurement::service::{Database, RunningService};

const DATABASE: &str = "failover";
const USERS: usize = 200;
const POINTS: &str = "1000000";
/// How long the load runs before the primary is killed. The first second is not measured.
const LOAD_BEFORE_KILL: Duration = Duration::from_secs(6);
const WARM_UP: Duration = Duration::from_secs(1);
/// The time from the disconnection of the servers to the kill.
const DISCONNECTED_BEFORE_KILL: Duration = Duration::from_millis(500);
/// The load after the full rate is reached again.
const LOAD_AFTER_RECOVERY: Duration = Duration::from_secs(3);
/// The share of the rate before the kill that counts as the full rate.
const FULL_RATE_SHARE: f64 = 0.9;
const RECOVERY_TIME_MAX: Duration = Duration::from_secs(10);
/// The minimum number of rounds: one with a disconnection and one without.
const ROUNDS_MIN: usize = 2;
/// Requests acknowledged within this time before or after the kill are retried with their keys.
const RETRIED_AROUND_KILL: Duration = Duration::from_secs(2);
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(120);
/// The timeout of a round.
const ROUND_TIMEOUT: Duration = Duration::from_secs(40);

/// The result of a round.
struct RoundResult {
    rate_before: f64,
    rate_after: f64,
    /// Times since the kill: of the promotion, of the first acknowledged request, and of the end of the first second
    /// at the full rate.
    promoted_after: Duration,
    first_response_after: Option<Duration>,
    full_rate_after: Option<Duration>,
    log: RequestLog,
    comparison: Comparison,
    events_lost: usize,
    events_duplicated: usize,
}

pub(super) fn run(setup: &Setup<'_>) -> Result<Report> {
    if setup.database == Database::Sqlite {
        let measurement = Measurement::without_bound("failovers", "0: PostgreSQL only");
        return Ok(vec![measurement].into());
    }
    let Setup { workspace, program, duration, .. } = *setup;
    let mut pair = ServerPair::start(workspace)?;
    let url = pair.create_database(DATABASE)?;
    let receiver = WebhookReceiver::start()?;
    let folders = [temporary_folder()?, temporary_folder()?];
    let serve = |folder: &tempfile::TempDir| {
        RunningService::start(program, folder.path(), Some(pair.service_database(&url)), &[])
    };
    let services = folders.iter().map(serve).collect::<Result<Vec<_>>>()?;
    let service = services.first().context("no service")?;
    let provider = Provider::create(service, Some(&receiver.named_url()))?;
    let company = Company::create(service, &provider, "failover", USERS)?;
    service.run_cli(&["distribution", "run", &company.id, "--wallet", "peer_wallet", "--points", POINTS])?;
    let endpoints = services.iter().map(|service| service.https().clone()).collect();
    let target = LoadTarget { endpoints, provider: &provider, company: &company };
    let mut ledger = Ledger::new(pair.sql_client(&url));
    let mut events = EventLog::new(&receiver);
    println!("{TABLE_HEADER}");
    let mut results: Vec<RoundResult> = Vec::new();
    let start = Instant::now();
    for number in (1..).take_while(|number| *number <= ROUNDS_MIN || start.elapsed() < duration) {
        let round = run_round(service, &target, &mut pair, &mut ledger, &mut events, number)
            .with_context(|| format!("round {number}"))?;
        println!("{}", format_round(number, &round));
        results.push(round);
    }
    let requests: Vec<LoadRequest> =
        results.iter_mut().flat_map(|round| std::mem::take(&mut round.log.requests)).collect();
    let whole = compare_all(&ledger, &requests)?;
    for service in &services {
        service.check_health().context("an instance is no longer running")?;
        let log = service.read_log();
        ensure!(!log.contains("panicked"), "the service panicked:\n{log}");
    }
    let sum = |count: &dyn Fn(&RoundResult) -> usize| results.iter().map(count).sum();
    Ok(Report {
        measurements: summarize_rounds(&results),
        operations: requests.len(),
        faults: results.len(),
        lost: Some(whole.lost.max(sum(&|round| round.comparison.lost))),
        duplicated: Some(whole.duplicated.max(sum(&|round| round.comparison.duplicated))),
    })
}

fn run_round(
    service: &RunningService,
    target: &LoadTarget<'_>,
    pair: &mut ServerPair,
    ledger: &mut Ledger,
    events: &mut EventLog<'_>,
    number: usize,
) -> Result<RoundResult> {
    let load = Load::new(target, number, MODERATE_INTERVAL);
    let ((rate_before, killed, promoted, dead_port, full_rate), mut log) = load.run_during(|| {
        std::thread::sleep(LOAD_BEFORE_KILL);
        let rate_before = load.rate_between(WARM_UP, load.began.elapsed());
        if is_disconnected(number) {
            pair.disconnect_standby()?;
            std::thread::sleep(DISCONNECTED_BEFORE_KILL);
        }
        let (killed, promoted, dead_port) = pair.fail_over()?;
        let killed_at = killed - load.began;
        let full_rate = loop {
            let full_rate = load.time_of_full_rate(killed_at, rate_before * FULL_RATE_SHARE);
            if full_rate.is_some() || killed.elapsed() > ROUND_TIMEOUT {
                break full_rate;
            }
            std::thread::sleep(Duration::from_millis(100));
        };
        std::thread::sleep(LOAD_AFTER_RECOVERY);
        Ok((
            rate_before,
            killed,
            promoted,
            dead_port,
            full_rate.map(|full_rate| full_rate.saturating_sub(killed_at)),
        ))
    })?;
    let end = load.began.elapsed();
    let rate_after = load.rate_between(
        end.saturating_sub(LOAD_AFTER_RECOVERY),
        end.saturating_sub(Duration::from_millis(100)),
    );
    let responses =
        log.requests.iter().filter_map(|request| Some(request.acknowledgement.as_ref()?.received));
    let first = responses.filter(|received| *received > promoted).min();
    let is_uncertain = |received: Instant| {
        received + RETRIED_AROUND_KILL > killed && received < killed + RETRIED_AROUND_KILL
    };
    let comparison = compare_and_resolve(target, ledger, &mut log, is_uncertain)?;
    ledger.skip_existing()?;
    let duplicates_before = events.duplicates;
    let events_lost = events.wait_for_events(log.recognition_ids(), DELIVERY_TIMEOUT)?;
    service.run_cli(&["verify"]).context("afterwards")?;
    pair.add_standby(dead_port)?;
    Ok(RoundResult {
        rate_before,
        rate_after,
        promoted_after: promoted - killed,
        first_response_after: first.map(|first| first - killed),
        full_rate_after: full_rate,
        log,
        comparison,
        events_lost,
        events_duplicated: events.duplicates - duplicates_before,
    })
}

fn is_disconnected(round: usize) -> bool {
    round.is_multiple_of(2)
}

const TABLE_HEADER: &str = "round  disconnected  before/s  after/s  promoted  first 201  full rate  longest  acknowledged  lost  duplicated  503  \
     503 committed  broken  other  unknown   retried  changed  events lost  events duplicated";

fn format_round(number: usize, round: &RoundResult) -> String {
    let seconds =
        |time: Option<Duration>| time.map_or("-".to_owned(), |time| format!("{:.2} s", time.as_secs_f64()));
    let (comparison, log) = (&round.comparison, &round.log);
    format!(
        "{number:5}  {:12}  {:8.0}  {:7.0}  {:>8}  {:>9}  {:>9}  {:>7}  {:12}  {:4}  {:10}  {:3}  {:13}  {:6}  {:5}  {:7}  {:8}  \
         {:7}  {:11}  {:17}",
        if is_disconnected(number) { "yes" } else { "" },
        round.rate_before,
        round.rate_after,
        seconds(Some(round.promoted_after)),
        seconds(round.first_response_after),
        seconds(round.full_rate_after),
        seconds(Some(log.longest_wait)),
        comparison.acknowledged,
        comparison.lost,
        comparison.duplicated,
        log.unavailable,
        log.replayed,
        log.broken_connections,
        log.unexpected.len(),
        comparison.unknown,
        comparison.retried,
        comparison.changed,
        round.events_lost,
        round.events_duplicated,
    )
}

fn summarize_rounds(rounds: &[RoundResult]) -> Vec<Measurement> {
    let sum = |count: &dyn Fn(&RoundResult) -> usize| to_f64(rounds.iter().map(count).sum());
    let slowest = rounds
        .iter()
        .map(|round| round.full_rate_after.unwrap_or(Duration::MAX))
        .max()
        .unwrap_or(Duration::MAX);
    let unexpected = rounds.iter().flat_map(|round| &round.log.unexpected).next();
    let mut measurements = vec![
        Measurement::without_bound("failovers", rounds.len().to_string()),
        Measurement::without_bound("acknowledged", sum(&|round| round.comparison.acknowledged).to_string()),
        Measurement::at_most(
            "  different response to a retry",
            sum(&|round| round.comparison.changed),
            0.0,
            "",
        ),
        Measurement::at_most(
            "lost events of acknowledged requests",
            sum(&|round| round.events_lost),
            0.0,
            "",
        ),
        Measurement::at_most(
            "responses that are neither 201 nor 503",
            sum(&|round| round.log.unexpected.len()),
            0.0,
            "",
        ),
        Measurement::at_most(
            "connections that the service cut off",
            sum(&|round| round.log.broken_connections),
            0.0,
            "",
        ),
        Measurement::duration_below("slowest return to the full rate", slowest, RECOVERY_TIME_MAX),
    ];
    measurements.extend(
        unexpected.map(|response| Measurement::without_bound("first unexpected response", response.clone())),
    );
    measurements
}
