//! Moves companies from one cell to another under load, and kills a process at a random time in every second move.
//!
//! Clients send recognitions with keys to both cells in turn until one executes them. The target must record every
//! request exactly once, whichever cell acknowledged it, and only one cell at a time may execute requests of the
//! company.

mod clients;
mod company_move;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use guerdon_test_harness::{HttpsConnection, WebhookReceiver};
use guerdon_test_support::Random;
use serde_json::Value;
use tempfile::TempDir;

use self::clients::{CELL_COUNT, MovedLoad, SOURCE, TARGET};
use self::company_move::{KillStatistics, MovingCompany};
use super::comparison::{compare_all, is_recorded};
use super::context::{Setup, temporary_folder};
use super::event_log::EventLog;
use super::ledger::Ledger;
use super::load::LoadTarget;
use super::report::{Measurement, Report};
use super::request_log::LoadRequest;
use super::sql::SqlClient;
use crate::measurement::fixture::{Company, Provider};
use crate::measurement::percentiles::{Percentiles, to_f64};
use crate::measurement::service::{RunningService, free_address};
use crate::postgres::Cluster;

/// The maximum number of moves. There are fewer if the campaign's duration ends earlier.
const MOVES_MAX: usize = 50;
const USERS: usize = 20;
/// The points in the peer wallet of each user, more than the campaign spends.
const POINTS: &str = "1000000";
/// How long requests are sent before the export and after the import.
const LOAD_BEFORE: Duration = Duration::from_millis(300);
const LOAD_AFTER: Duration = Duration::from_millis(500);
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(180);
const DATABASES: [&str; CELL_COUNT] = ["source", "target"];
const EVENTS_PER_PAGE: usize = 100;

/// Two services with a database each.
struct Cells {
    services: [RunningService; CELL_COUNT],
    ledgers: [Ledger; CELL_COUNT],
    folder: TempDir,
    _cluster: Option<Cluster>,
}

/// A company that was moved, and the requests about it.
struct MovedCompany {
    provider: Provider,
    company: Company,
    requests: Vec<LoadRequest>,
    /// For each request, whether the source acknowledged it.
    acknowledged_by_source: Vec<bool>,
}

/// The results of all moves.
#[derive(Default)]
struct Moves {
    moved: Vec<MovedCompany>,
    kills: KillStatistics,
    /// Requests that the source executed after the target had executed one.
    executed_in_both: usize,
    unexpected: Vec<String>,
    /// For each move, the time between the last response of the source and the first response of the target.
    closed: Vec<Duration>,
}

pub(super) fn run(setup: &Setup<'_>) -> Result<Report> {
    let receiver = WebhookReceiver::start()?;
    let mut cells = Cells::start(setup)?;
    let (mut moves, mut random, start) = (Moves::default(), Random(setup.seed), Instant::now());
    for number in (0..MOVES_MAX).take_while(|number| *number == 0 || start.elapsed() < setup.duration) {
        moves
            .move_next(&mut cells, &receiver, &mut random, number)
            .with_context(|| format!("move {number}"))?;
    }
    moves.compare(&cells, &receiver)
}

impl Cells {
    fn start(setup: &Setup<'_>) -> Result<Self> {
        let folder = temporary_folder()?;
        let cluster = setup.database.start_cluster(setup.workspace)?;
        let start = |name: &'static str| -> Result<(RunningService, Ledger)> {
            let (data, scratch) = (folder.path().join(name), folder.path().join(format!("{name}-scratch")));
            std::fs::create_dir(&data)?;
            let database = cluster.as_ref().map(|cluster| cluster.create_service_database(name));
            // The address stays the same when the service starts again.
            let settings =
                [("GUERDON_CELL", name.to_owned()), ("GUERDON_HTTP__LISTEN", free_address()?.to_string())];
            let service =
                RunningService::start_in(setup.program, &data, &scratch, database.transpose()?, &settings)?;
            let sql = match &cluster {
                Some(cluster) => SqlClient::for_cluster(cluster, name),
                None => SqlClient::for_file(setup.workspace, &service.installation().database_file())?,
            };
            Ok((service, Ledger::new(sql)))
        };
        let [(source, source_ledger), (target, target_ledger)] =
            [start(DATABASES[SOURCE])?, start(DATABASES[TARGET])?];
        Ok(Self {
            services: [source, target],
            ledgers: [source_ledger, target_ledger],
            folder,
            _cluster: cluster,
        })
    }

    /// Creates a provider and a company in the source.
    fn create_company(&self, receiver: &WebhookReceiver, number: usize) -> Result<(Provider, Company)> {
        let [source, _] = &self.services;
        let name = format!("Provider {number}");
        let provider = Provider::create_named(source, &name, Some(&receiver.named_url()))?;
        let company = Company::create(source, &provider, &format!("company-{number}"), USERS)?;
        let points = ["--wallet", "peer_wallet", "--points", POINTS];
        source.run_cli(&[&["distribution", "run", &company.id][..], &points].concat())?;
        Ok((provider, company))
    }

    fn verify(&self) -> Result<()> {
        for (service, name) in self.services.iter().zip(DATABASES) {
            let log = service.read_log();
            ensure!(!log.contains("panicked"), "the {name} panicked:\n{log}");
            service.run_cli(&["verify"]).with_context(|| format!("verifying the {name}"))?;
        }
        Ok(())
    }
}

impl Moves {
    fn move_next(
        &mut self,
        cells: &mut Cells,
        receiver: &WebhookReceiver,
        random: &mut Random,
        number: usize,
    ) -> Result<()> {
        let (provider, company) = cells.create_company(receiver, number)?;
        let endpoints = cells.services.each_ref().map(|service| service.https().clone()).to_vec();
        let target = LoadTarget { endpoints, provider: &provider, company: &company };
        let load = MovedLoad::new(&target, number);
        let archive = cells.folder.path().join(format!("{number}.jsonl"));
        let kills = !number.is_multiple_of(2);
        let moving = MovingCompany { id: &company.id, archive: &archive };
        let ((), log) = load.run_during(|| {
            std::thread::sleep(LOAD_BEFORE);
            moving.execute(&mut cells.services, kills.then_some(random), &mut self.kills)?;
            std::thread::sleep(LOAD_AFTER);
            Ok(())
        })?;
        std::fs::remove_file(&archive)?;
        self.executed_in_both += log.count_executed_in_both();
        self.closed.extend(log.closed_time());
        self.unexpected.extend(log.unexpected);
        let (requests, cell_numbers): (Vec<_>, Vec<_>) = log.requests.into_iter().unzip();
        let acknowledged_by_source = cell_numbers.iter().map(|cell| *cell == SOURCE).collect();
        self.moved.push(MovedCompany { provider, company, requests, acknowledged_by_source });
        Ok(())
    }

    /// Compares both cells with all requests.
    fn compare(self, cells: &Cells, receiver: &WebhookReceiver) -> Result<Report> {
        let [source, target] = &cells.services;
        let all: Vec<&LoadRequest> = self.moved.iter().flat_map(|moved| &moved.requests).collect();
        let [source_ledger, target_ledger] = &cells.ledgers;
        let whole = compare_all(target_ledger, all.iter().copied())?;
        let recorded_in_source = source_ledger.read_all_recognitions()?;
        let (mut lost_in_source, mut in_source, mut feed_differences, mut balance_differences) = (0, 0, 0, 0);
        for moved in &self.moved {
            let of_source = moved.requests.iter().zip(&moved.acknowledged_by_source);
            let of_source: Vec<&LoadRequest> =
                of_source.filter(|(_, by_source)| **by_source).map(|(request, _)| request).collect();
            in_source += of_source.len();
            lost_in_source +=
                of_source.iter().filter(|request| !is_recorded(&recorded_in_source, request)).count();
            let requests: Vec<&LoadRequest> = moved.requests.iter().collect();
            feed_differences += moved.count_feed_differences(source, &of_source)?;
            feed_differences += moved.count_feed_differences(target, &requests)?;
            balance_differences += usize::from(moved.received_points(source)? != of_source.len());
            balance_differences += usize::from(moved.received_points(target)? != requests.len());
        }
        let mut events = EventLog::new(receiver);
        let acknowledged = all.iter().filter_map(|request| request.acknowledgement.as_ref());
        let recognitions = acknowledged.map(|acknowledgement| acknowledgement.recognition.as_str());
        let events_lost = events.wait_for_events(recognitions, DELIVERY_TIMEOUT)?;
        cells.verify()?;
        let zero = |name: &str, count: usize| Measurement::at_most(name, to_f64(count), 0.0, "");
        let count = |name: &str, count: usize| Measurement::without_bound(name, count.to_string());
        let closed =
            Percentiles::from_durations(self.closed.clone()).map_or(Duration::ZERO, |times| times.median);
        let mut measurements = vec![
            count("moves", self.moved.len()),
            count("  with a killed command", self.kills.commands),
            count("  with a killed service", self.kills.services),
            count("  before the end of the command", self.kills.interrupted),
            count("requests", all.len()),
            count("  acknowledged by the source", in_source),
            Measurement::without_bound("closed in both cells, median", format!("{closed:.1?}")),
            zero("executed by the source after the target", self.executed_in_both),
            zero("acknowledged by the source, missing there", lost_in_source),
            zero("differences of the event feeds", feed_differences),
            zero("companies whose balances differ", balance_differences),
            zero("events lost", events_lost),
            zero("events whose body or id changed", events.changed),
            zero("unexpected responses", self.unexpected.len()),
        ];
        measurements.extend(
            self.unexpected.into_iter().next().map(|first| Measurement::without_bound("  the first", first)),
        );
        Ok(Report {
            measurements,
            operations: all.len(),
            faults: self.kills.commands + self.kills.services,
            lost: Some(whole.lost + lost_in_source),
            duplicated: Some(whole.duplicated),
        })
    }
}

impl MovedCompany {
    /// Counts the recognitions that are in the event feed of a cell but were not requested, and those that were
    /// requested but are not in the feed. Duplicate events count as well.
    fn count_feed_differences(&self, cell: &RunningService, requests: &[&LoadRequest]) -> Result<usize> {
        let mut connection = cell.https().connect()?;
        let (mut found, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let after = cursor.as_ref().map_or_else(String::new, |cursor| format!("&after={cursor}"));
            let path = format!("/v1/events?limit={EVENTS_PER_PAGE}{after}");
            let page = self.get_json(&mut connection, &path)?;
            let events = page.get("events").and_then(Value::as_array).context("no events")?;
            let recognitions = events.iter().filter_map(|event| event["id"].as_str());
            found.extend(recognitions.map(str::to_owned));
            if events.len() < EVENTS_PER_PAGE {
                break;
            }
            cursor = page.get("next").and_then(Value::as_str).map(str::to_owned);
        }
        let acknowledged = requests.iter().filter_map(|request| request.acknowledgement.as_ref());
        let mut expected: Vec<String> =
            acknowledged.map(|acknowledgement| acknowledgement.recognition.clone()).collect();
        found.sort_unstable();
        expected.sort_unstable();
        let missing = expected.iter().filter(|id| found.binary_search(id).is_err()).count();
        Ok(missing + found.len().abs_diff(expected.len()))
    }

    /// The sum of the points that the users received. It is the number of recognitions: each one is for one point.
    fn received_points(&self, cell: &RunningService) -> Result<usize> {
        let mut connection = cell.https().connect()?;
        let path = format!("/v1/companies/{}/users/balances", self.company.id);
        let page = self.get_json(&mut connection, &path)?;
        let users = page.get("users").and_then(Value::as_array).context("no users")?;
        let wallets = users.iter().filter_map(|user| user["wallets"].as_array()).flatten();
        let balances = wallets.filter(|wallet| wallet["type"] == "user_wallet");
        let balances = balances.filter_map(|wallet| wallet["points"].as_u64());
        Ok(usize::try_from(balances.sum::<u64>())?)
    }

    fn get_json(&self, connection: &mut HttpsConnection, path: &str) -> Result<Value> {
        let body = connection.expect_status(200, &self.provider.get_request(path))?;
        serde_json::from_slice(&body).with_context(|| format!("GET {path}"))
    }
}
