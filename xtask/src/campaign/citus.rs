//! Two cells as schemas of one Citus cluster under load: a worker is killed, a cell moves to the other worker, and
//! commits are delayed on the worker and on the coordinator.
//!
//! Clients read the event feeds continuously. No acknowledged recognition may be missing in the ledger or in the
//! events that a client read. At the end, the rate of a cell is compared with that of a service on plain PostgreSQL.

mod cluster;
mod feed_reader;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use guerdon_test_harness::WebhookReceiver;

use self::cluster::CitusCluster;
use self::feed_reader::FeedReader;
use super::comparison::{Comparison, compare_all, retry_uncertain};
use super::context::Setup;
use super::ledger::Ledger;
use super::load::{Load, MODERATE_INTERVAL};
use super::postgres_server::{Programs, ServerFolder};
use super::report::{Measurement, Report};
use super::request_log::RequestLog;
use super::subject::Subject;
use crate::measurement::percentiles::to_f64;
use crate::measurement::service::{Database, free_address};
use crate::postgres::ServerDatabase;

const SCHEMAS: [&str; 2] = ["cell_1", "cell_2"];
const LOAD_BEFORE: Duration = Duration::from_secs(2);
const LOAD_AFTER: Duration = Duration::from_secs(3);
const WORKER_DOWN: Duration = Duration::from_secs(2);
const COMMIT_DELAY: Duration = Duration::from_secs(1);
/// The rounds that measure the rate of Citus and of plain PostgreSQL alternately.
const RATE_ROUNDS: usize = 3;
const RATE_PERIOD: Duration = Duration::from_secs(6);
/// The first part of a period, which is not measured.
const WARM_UP: Duration = Duration::from_secs(1);
/// The share of the rate of plain PostgreSQL that a cell must reach, in percent.
const RATE_SHARE_MIN: f64 = 40.0;

/// What happens during a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Disturbance {
    DelayedCommitOfWorker,
    DelayedCommitOfCoordinator,
    Move,
    KilledWorker,
}

impl Disturbance {
    const ALL: [Self; 4] =
        [Self::DelayedCommitOfWorker, Self::DelayedCommitOfCoordinator, Self::Move, Self::KilledWorker];
}

/// The results of all rounds.
#[derive(Default)]
struct Results {
    comparison: Comparison,
    logs: [RequestLog; SCHEMAS.len()],
    /// The requests that measured the rate of the first cell. They were sent after the feed readers ended.
    rate_log: RequestLog,
    moves: usize,
    kills: usize,
    delays: usize,
}

pub(super) fn run(setup: &Setup<'_>) -> Result<Report> {
    if setup.database == Database::Sqlite {
        return Ok(vec![Measurement::without_bound("skipped", "PostgreSQL only")].into());
    }
    let Some(pg_config) = setup.pg_config else {
        return Ok(vec![Measurement::without_bound("skipped", "without --pg-config")].into());
    };
    let receiver = WebhookReceiver::start()?;
    let programs = Programs::of_installation(pg_config)?;
    let mut cluster = CitusCluster::start(&programs)?;
    let start_cell = |schema: &str| -> Result<Subject> {
        let url = cluster.create_schema(schema)?;
        let settings = [("GUERDON_CELL", schema.replace('_', "-"))];
        let database = Some(ServerDatabase { url, server_process_id: cluster.process_id() });
        Subject::start_with(setup, &receiver, database, &settings)
    };
    let cells = [start_cell(SCHEMAS[0])?, start_cell(SCHEMAS[1])?];
    let mut results = Results::default();
    let feeds = disturb(&mut cluster, &programs, &cells, &mut results, setup.duration)?;
    let rates = measure_rates(setup, &programs, &receiver, &cells, &mut results)?;
    results.compare(&cluster, &cells, feeds, &rates)
}

/// Disturbs the cluster under load. Returns the ids of the events that each cell's reader has read.
fn disturb(
    cluster: &mut CitusCluster,
    programs: &Programs,
    cells: &[Subject; 2],
    results: &mut Results,
    duration: Duration,
) -> Result<[Vec<String>; 2]> {
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers = cells.each_ref().map(|cell| scope.spawn(|| FeedReader::new(cell).read_until(&ended)));
        let start = Instant::now();
        let mut rounds = 0;
        let disturbed = loop {
            let done = Disturbance::ALL.iter().try_for_each(|disturbance| {
                rounds += 1;
                let disturbed = results.run_round(cluster, programs, cells, *disturbance, rounds);
                disturbed.with_context(|| format!("round {rounds}: {disturbance:?}"))
            });
            if done.is_err() || start.elapsed() >= duration {
                break done;
            }
        };
        ended.store(true, Ordering::Relaxed);
        let mut feeds = [Vec::new(), Vec::new()];
        for (reader, feed) in readers.into_iter().zip(&mut feeds) {
            let Ok(read) = reader.join() else { bail!("a reader of a feed panicked") };
            *feed = read?;
        }
        disturbed.map(|()| feeds)
    })
}

impl Results {
    fn run_round(
        &mut self,
        cluster: &mut CitusCluster,
        programs: &Programs,
        cells: &[Subject; 2],
        disturbance: Disturbance,
        round: usize,
    ) -> Result<()> {
        let [first, second] = cells.each_ref().map(Subject::target);
        let loads = [&first, &second].map(|target| Load::new(target, round, MODERATE_INTERVAL));
        let [first_load, second_load] = &loads;
        let ((_, second_log), first_log) = first_load.run_during(|| {
            second_load.run_during(|| {
                std::thread::sleep(LOAD_BEFORE);
                match disturbance {
                    Disturbance::DelayedCommitOfWorker => {
                        cluster.delay_commits_of_worker(SCHEMAS[0], COMMIT_DELAY)?
                    }
                    Disturbance::DelayedCommitOfCoordinator => {
                        cluster.delay_commits_of_coordinator(COMMIT_DELAY)?
                    }
                    Disturbance::Move => cluster.move_schema(SCHEMAS[0])?,
                    Disturbance::KilledWorker => cluster.kill_worker(SCHEMAS[0], programs, WORKER_DOWN)?,
                }
                std::thread::sleep(LOAD_AFTER);
                Ok(())
            })
        })?;
        match disturbance {
            Disturbance::Move => self.moves += 1,
            Disturbance::KilledWorker => self.kills += 1,
            _ => self.delays += 1,
        }
        for ((target, mut log), all) in
            [(&first, first_log), (&second, second_log)].into_iter().zip(&mut self.logs)
        {
            self.comparison.acknowledged += log.count_acknowledged();
            retry_uncertain(target, &mut log, |_| false, &mut self.comparison)?;
            all.merge(log);
        }
        Ok(())
    }

    fn compare(
        self,
        cluster: &CitusCluster,
        cells: &[Subject; 2],
        feeds: [Vec<String>; 2],
        rates: &[(f64, f64)],
    ) -> Result<Report> {
        let (mut whole, mut missing, mut operations, mut unexpected) =
            (Comparison::default(), 0, 0, Vec::new());
        let [first_log, second_log] = self.logs;
        let logs = [(first_log, self.rate_log), (second_log, RequestLog::default())];
        for (((cell, schema), feed), (mut log, rate_log)) in cells.iter().zip(SCHEMAS).zip(feeds).zip(logs) {
            let read: HashSet<String> = feed.into_iter().collect();
            missing += log.recognition_ids().filter(|id| !read.contains(*id)).count();
            log.merge(rate_log);
            let ledger = Ledger::new(cluster.sql_client(schema));
            whole += compare_all(&ledger, &log.requests)?;
            operations += log.requests.len();
            unexpected.extend(log.unexpected);
            cell.verify().with_context(|| schema.to_owned())?;
        }
        let ratios: Vec<f64> = rates.iter().map(|(citus, plain)| citus / plain).collect();
        let median = {
            let mut sorted = ratios.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            sorted.get(sorted.len() / 2).copied().unwrap_or_default()
        };
        let count = |name: &str, count: usize| Measurement::without_bound(name, count.to_string());
        let zero = |name: &str, count: usize| Measurement::at_most(name, to_f64(count), 0.0, "");
        let per_second = |number: usize| -> String {
            let rates: Vec<String> = rates
                .iter()
                .map(|(citus, plain)| format!("{:.0}", if number == 0 { *citus } else { *plain }))
                .collect();
            format!("{}/s", rates.join(", "))
        };
        let mut measurements = vec![
            count("moves of a cell to the other worker", self.moves),
            count("killed workers", self.kills),
            count("delayed commits", self.delays),
            count("acknowledged", self.comparison.acknowledged),
            zero("acknowledged, missing in the feed", missing),
            zero("  different response to a retry", self.comparison.changed),
            zero("responses that are neither 201 nor 503", unexpected.len()),
            Measurement::without_bound("rate of a cell", per_second(0)),
            Measurement::without_bound("rate on plain PostgreSQL", per_second(1)),
            Measurement::at_least("  share of it, median", median * 100.0, RATE_SHARE_MIN, " %"),
        ];
        measurements.extend(
            unexpected.into_iter().next().map(|first| Measurement::without_bound("  the first", first)),
        );
        Ok(Report {
            measurements,
            operations,
            faults: self.moves + self.kills + self.delays,
            lost: Some(whole.lost),
            duplicated: Some(whole.duplicated),
        })
    }
}

/// The recognitions per second of the first cell and of a service on plain PostgreSQL, alternately.
fn measure_rates(
    setup: &Setup<'_>,
    programs: &Programs,
    receiver: &WebhookReceiver,
    cells: &[Subject; 2],
    results: &mut Results,
) -> Result<Vec<(f64, f64)>> {
    let folder = ServerFolder::new(free_address()?.port())?;
    folder.initialize_cluster(programs)?;
    let server = folder.start(programs)?;
    server.run_sql("postgres", "CREATE DATABASE plain")?;
    let plain = Subject::start_on(setup, receiver, Some(server.service_database("plain")))?;
    let [cell, _] = cells;
    let mut rates = Vec::new();
    for number in 0..RATE_ROUNDS {
        let measure = |subject: &Subject| -> Result<(f64, RequestLog)> {
            let target = subject.target();
            let load = Load::new(&target, 1_000 + number, Duration::ZERO);
            let ((), mut log) = load.run_during(|| {
                std::thread::sleep(RATE_PERIOD);
                Ok(())
            })?;
            retry_uncertain(&target, &mut log, |_| false, &mut Comparison::default())?;
            Ok((load.rate_between(WARM_UP, RATE_PERIOD), log))
        };
        let (citus_rate, citus_log) = measure(cell)?;
        let (plain_rate, _) = measure(&plain)?;
        rates.push((citus_rate, plain_rate));
        results.rate_log.merge(citus_log);
    }
    Ok(rates)
}
