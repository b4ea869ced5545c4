//! Failures of PostgreSQL and of the network, full disks, I/O errors, clock jumps and slow receivers under load.
//!
//! Each round injects one fault while clients send recognitions with idempotency keys. At the same time, clients of
//! another provider read and send recognitions to many receivers, and clients without valid credentials try to read.
//! Every request must get its result or 503 in time, and the full rate must return soon after the fault. Faults that
//! stop PostgreSQL end when it accepts connections again. After each round, requests with unknown outcomes are retried
//! with their keys, and the ledger is compared with the journal of acknowledged requests. At the end, all requests are
//! compared with the whole ledger, and the received events with the recognitions.

mod fault;
mod other_provider;
mod preload;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use guerdon_test_harness::{DatabaseProxy, WebhookReceiver};

use self::fault::{Fault, FaultTargets};
use self::other_provider::OtherProvider;
use self::preload::PreloadedFaults;
use super::comparison::{Comparison, compare_all, compare_and_resolve};
use super::context::{Setup, temporary_folder};
use super::event_log::EventLog;
use super::ledger::Ledger;
use super::load::{Load, MODERATE_INTERVAL};
use super::report::{Measurement, Report};
use super::request_log::RequestLog;
use super::sql::SqlClient;
use super::subject::Subject;
use crate::measurement::percentiles::to_f64;
use crate::measurement::service::Database;
use crate::postgres::{Cluster, ServerDatabase, new_folder};

const DATABASE: &str = "faults";
/// How long the load runs before a fault. The first second is not measured.
const LOAD_BEFORE_FAULT: Duration = Duration::from_secs(4);
const WARM_UP: Duration = Duration::from_secs(1);
const LOAD_AFTER_RECOVERY: Duration = Duration::from_secs(1);
/// The minimum of acknowledged recognitions per second before a fault. The clients send at most 640, one in each
/// [`MODERATE_INTERVAL`]. With fewer than this, the round does not test the service under load.
const RATE_BEFORE_MIN: f64 = 500.0;
/// The share of the rate before the fault that counts as the full rate.
const FULL_RATE_SHARE: f64 = 0.9;
const WAIT_MAX: Duration = Duration::from_secs(2);
const RECOVERY_TIME_MAX: Duration = Duration::from_secs(5);
/// How long a round waits for the full rate.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(40);
/// Events that the slow receiver did not confirm are retried after a thousandth of the usual time.
const RETRY_TIME_SCALE: &str = "1000";
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(180);
/// Transactions that are open for longer than the time limit of any request.
const STUCK_TRANSACTIONS_SQL: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
     AND pid <> pg_backend_pid() AND xact_start < now() - interval '20 seconds'";

/// What one fault caused in a round.
struct RoundResult {
    fault: Fault,
    rate_before: f64,
    /// The time from the end of the fault to the end of the first second at the full rate.
    recovery_time: Option<Duration>,
    /// Of recognitions; of reads, with and without valid credentials; and of recognitions to many receivers.
    longest_waits: [Duration; 3],
    unavailable: usize,
    /// Reads that got 503 although the fault permits reads.
    refused_reads: usize,
    broken_connections: usize,
    unexpected: Option<String>,
}

/// The results of all rounds.
#[derive(Default)]
struct Rounds {
    results: Vec<RoundResult>,
    log: RequestLog,
    comparison: Comparison,
    whole: Comparison,
    events_lost: usize,
    stuck_transactions: usize,
    other_requests: usize,
}

pub(super) fn run(setup: &Setup<'_>) -> Result<Report> {
    let (folder, receiver) = (temporary_folder()?, WebhookReceiver::start()?);
    let preloaded = PreloadedFaults::compile(folder.path())?;
    let (server_folder, _owner) = new_folder()?; // PostgreSQL's user can read it
    let (cluster, disk_of_server) = match setup.database {
        Database::Sqlite => (None, None),
        Database::Postgres => {
            let disk = PreloadedFaults::compile(server_folder.path())?;
            let cluster = Cluster::start_restartable(setup.workspace, disk.environment().into())?;
            (Some(cluster), Some(disk))
        }
    };
    let proxy = cluster.as_ref().map(start_proxy).transpose()?;
    let database = proxy
        .as_ref()
        .zip(cluster.as_ref())
        .map(|(proxy, cluster)| ServerDatabase { url: proxy.url(), server_process_id: cluster.process_id() });
    let scale = ("GUERDON_WEBHOOKS__TIME_SCALE", RETRY_TIME_SCALE.to_owned());
    // The clients with unknown credentials would lock out the only address.
    let no_lockout = ("GUERDON_RATE_LIMIT__FAILED_LOGINS_PER_MINUTE", "0".to_owned());
    let settings: Vec<_> = preloaded.environment().into_iter().chain([scale, no_lockout]).collect();
    let subject = Subject::start_with(setup, &receiver, database, &settings)?;
    let sql = match &cluster {
        Some(cluster) => SqlClient::for_cluster(cluster, DATABASE),
        None => subject.sql_client(setup)?,
    };
    let cluster = cluster.map(Mutex::new);
    let targets = FaultTargets {
        cluster: cluster.as_ref(),
        proxy: proxy.as_ref(),
        clock: &preloaded,
        disk: disk_of_server.as_ref().unwrap_or(&preloaded),
        receiver: &receiver,
    };
    let (mut events, mut rounds) = (EventLog::new(&receiver), Rounds::default());
    let outcome = rounds.run_all(setup, &subject, &targets, &sql, &mut events);
    let mut report = rounds.summarize(&events);
    report.measurements.extend(outcome.err().map(|error| Measurement::failure(&error)));
    Ok(report)
}

impl Rounds {
    /// Injects the faults one after the other, in rounds, until the duration of the campaign has passed. Each fault is
    /// injected at least once.
    fn run_all(
        &mut self,
        setup: &Setup<'_>,
        subject: &Subject,
        targets: &FaultTargets<'_>,
        sql: &SqlClient,
        events: &mut EventLog<'_>,
    ) -> Result<()> {
        let mut ledger = Ledger::new(sql.clone());
        let other = OtherProvider::create(subject)?;
        let (start, faults) = (Instant::now(), Fault::all(setup.database));
        for (number, fault) in faults.iter().cycle().enumerate() {
            if number >= faults.len() && start.elapsed() > setup.duration {
                break;
            }
            self.run_round((subject, &other), targets, &mut ledger, *fault, number + 1)
                .with_context(|| format!("{} (round {})", fault.name(), number + 1))?;
            events.collect_arrivals()?;
            self.stuck_transactions += count_stuck_transactions(sql)?;
            subject.verify().with_context(|| format!("after {}", fault.name()))?;
        }
        self.whole = compare_all(&ledger, &self.log.requests)?;
        self.events_lost = events.wait_for_events(self.log.recognition_ids(), DELIVERY_TIMEOUT)?;
        subject.verify().context("after the last delivery")
    }

    fn run_round(
        &mut self,
        (subject, other): (&Subject, &OtherProvider),
        targets: &FaultTargets<'_>,
        ledger: &mut Ledger,
        fault: Fault,
        number: usize,
    ) -> Result<()> {
        let target = subject.target();
        let load = Load::new(&target, number, MODERATE_INTERVAL);
        let run_load = || {
            load.run_during(|| {
                std::thread::sleep(LOAD_BEFORE_FAULT);
                let rate_before = load.rate_between(WARM_UP, load.began.elapsed());
                let began = Instant::now();
                fault.inject(targets)?;
                let ended = Instant::now();
                let recovery_time = wait_for_full_rate(&load, ended, rate_before);
                std::thread::sleep(LOAD_AFTER_RECOVERY);
                Ok((rate_before, began, ended, recovery_time))
            })
        };
        let (((rate_before, began, ended, recovery_time), mut log), [reads, large]) =
            other.run_during(subject, run_load)?;
        let is_uncertain = |received: Instant| received >= began && received <= ended;
        let comparison = compare_and_resolve(&target, ledger, &mut log, is_uncertain)?;
        ledger.skip_existing()?;
        let refused_reads = if fault.permits_reads() { reads.unavailable } else { 0 };
        let longest_waits = [&log, &reads, &large].map(|log| log.longest_wait);
        for other in [reads, large] {
            self.other_requests += other.successful + other.unavailable;
            log.merge(other);
        }
        log.unexpected.retain(|response| !fault.permits(response));
        let result = RoundResult {
            fault,
            rate_before,
            recovery_time,
            longest_waits,
            unavailable: log.unavailable,
            refused_reads,
            broken_connections: log.broken_connections,
            unexpected: log.unexpected.first().cloned(),
        };
        eprintln!("{}", result.describe());
        self.results.push(result);
        self.comparison += comparison;
        self.log.merge(log);
        Ok(())
    }

    fn summarize(self, events: &EventLog<'_>) -> Report {
        let Self { results, log, comparison, whole, .. } = self;
        let zero = |name: &str, count: usize| Measurement::at_most(name, to_f64(count), 0.0, "");
        let count = |name: &str, count: usize| Measurement::without_bound(name, count.to_string());
        let mut measurements: Vec<_> = results.iter().map(RoundResult::to_measurement).collect();
        measurements.extend([
            count("requests of the other provider", self.other_requests),
            count("unknown outcomes", comparison.unknown),
            count("  of these committed", comparison.unknown_committed),
            count("retries", comparison.retried),
            zero("  with a different response", comparison.changed),
            zero("transactions that do not end", self.stuck_transactions),
            count("recognitions with an event", events.count_events()),
            zero("events lost", self.events_lost),
            zero("events without a requested recognition", events.count_unrequested(log.recognition_ids())),
            zero("events whose body or id changed", events.changed),
            count("duplicate deliveries", events.duplicates),
        ]);
        Report {
            measurements,
            operations: log.requests.len(),
            faults: results.len(),
            lost: Some(whole.lost.max(comparison.lost)),
            duplicated: Some(whole.duplicated.max(comparison.duplicated)),
        }
    }
}

impl RoundResult {
    fn holds(&self) -> bool {
        self.rate_before >= RATE_BEFORE_MIN
            && self.longest_waits.iter().all(|wait| *wait < WAIT_MAX)
            && self.recovery_time.is_some_and(|time| time < RECOVERY_TIME_MAX)
            && self.refused_reads == 0
            && self.broken_connections == 0
            && self.unexpected.is_none()
            && (self.unavailable > 0 || !self.fault.prevents_commits())
    }

    fn describe(&self) -> String {
        let Self { fault, rate_before, recovery_time, longest_waits, unavailable, .. } = self;
        let recovery =
            recovery_time.map_or("never".to_owned(), |time| format!("{:.1} s", time.as_secs_f64()));
        let unexpected = self.unexpected.as_ref().map(|response| format!(", and {response}"));
        format!(
            "{}: {rate_before:.0}/s before, longest waits {:.1} s, reads {:.1} s, large {:.1} s, full rate after {recovery}, {unavailable} times 503 \
             ({} reads that were possible), {} broken connections{}",
            fault.name(),
            longest_waits[0].as_secs_f64(),
            longest_waits[1].as_secs_f64(),
            longest_waits[2].as_secs_f64(),
            self.refused_reads,
            self.broken_connections,
            unexpected.unwrap_or_default()
        )
    }

    fn to_measurement(&self) -> Measurement {
        let reads = if self.fault.permits_reads() { "no read refused, " } else { "" };
        let refusals = if self.fault.prevents_commits() { "some 503, " } else { "" };
        let bound = format!(
            "rate >= {RATE_BEFORE_MIN}/s, every wait (also of reads) < {} s, {reads}{refusals}full rate < {} s",
            WAIT_MAX.as_secs(),
            RECOVERY_TIME_MAX.as_secs()
        );
        Measurement::with_verdict(self.describe(), "", bound, self.holds())
    }
}

/// Waits until the rate is full again. Returns the time since the end of the fault; `None` after a timeout.
fn wait_for_full_rate(load: &Load<'_>, ended: Instant, rate_before: f64) -> Option<Duration> {
    let ended_at = ended - load.began;
    loop {
        let full_rate = load.time_of_full_rate(ended_at, rate_before * FULL_RATE_SHARE);
        if full_rate.is_some() || ended.elapsed() > RECOVERY_TIMEOUT {
            return full_rate.map(|time| time.saturating_sub(ended_at));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn count_stuck_transactions(sql: &SqlClient) -> Result<usize> {
    if sql.is_sqlite() {
        return Ok(0);
    }
    sql.run_sql(STUCK_TRANSACTIONS_SQL)?.trim().parse().context("a number of transactions")
}

fn start_proxy(cluster: &Cluster) -> Result<DatabaseProxy> {
    let url = cluster.create_database(DATABASE)?;
    DatabaseProxy::start_in_front_of(&url)?.context("PostgreSQL is not reached over a Unix socket")
}
