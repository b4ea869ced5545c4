//! Measures the provider API and compares it with minimal programs.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};

use super::baseline::{BaselineServer, PlainSqlDatabase, ReadTarget, SqlWorkload};
use super::load;
use super::plan::{Case, Plan};
use super::results::{Goal, ResultRow, Round};
use crate::measurement::closed_loop::RequestFactory;
use crate::measurement::fixture::{Company, Provider};
use crate::measurement::service::RunningService;

const USERS: usize = 1_000;
/// The points in the peer wallet of each user, more than any user sends.
const POINTS: &str = "500000";
/// The number of transfers in the wallet whose history is read.
const TRANSFERS: usize = 150;

/// The program that a case is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Baseline {
    PlainSql(SqlWorkload),
    /// Plain SQLite with this many recognitions per commit.
    SqliteBatch(u32),
    HttpRead(&'static str),
}

/// The comparison for recognitions that share commits.
const FIFTY_PER_COMMIT: Baseline = Baseline::SqliteBatch(50);

/// A case: its requests, and what to compare it with.
struct MeasuredCase<'a> {
    case: Case,
    baseline: Baseline,
    /// The number of recognitions or responses per request.
    items_per_request: f64,
    status: u16,
    request: Box<RequestFactory<'a>>,
}

impl MeasuredCase<'_> {
    /// Returns the programs to compare with; for each the ratio that is required and the ratio to aim for.
    fn baselines(&self, plan: &Plan<'_>) -> Vec<(Baseline, [Option<f64>; 2])> {
        let is_embedded = plan.cluster.is_none();
        let goals = match (self.case, is_embedded) {
            (Case::Post | Case::PostReserve, true) => [Some(1.8), None],
            (Case::GetUser, true) => [Some(1.5), Some(2.2)],
            (Case::Post, false) => [Some(2.0), Some(4.0)],
            (Case::PostKeyed, false) => [Some(1.5), Some(3.0)],
            (Case::PostReserve, false) => [Some(5.0), Some(10.0)],
            (Case::PostTen, false) => [Some(1.2), Some(2.0)],
            (Case::GetUser, false) => [Some(0.85), Some(1.1)],
            (Case::GetBalances | Case::GetTransactions, _) => [Some(0.7), Some(0.9)],
            _ => [None, None],
        };
        let mut all = vec![(self.baseline.for_plan(plan), goals)];
        if is_embedded && matches!(self.case, Case::Post | Case::PostReserve) {
            all.push((FIFTY_PER_COMMIT, [None, Some(0.8)]));
        }
        all
    }
}

/// The programs to compare with, and their results in the current round.
struct BaselineRunner<'a> {
    plan: &'a Plan<'a>,
    service: &'a RunningService,
    read_server: Option<(BaselineServer, Vec<u8>)>,
    plain_sql: Option<PlainSqlDatabase>,
    rounds: HashMap<Baseline, Round>,
}

pub(super) fn measure(service: &RunningService, plan: &Plan<'_>) -> Result<Vec<ResultRow>> {
    // Without a callback URL, no events are sent during the measurement.
    let provider = Provider::create(service, None)?;
    let company = Company::create(service, &provider, "measured", USERS)?;
    service.run_cli(&["distribution", "run", &company.id, "--wallet", "peer_wallet", "--points", POINTS])?;
    let user = company.users.first().context("no user")?;
    let mut connection = service.https().connect()?;
    for number in 0..TRANSFERS {
        connection.expect_status(
            201,
            &provider.post_request("/v1/recognitions", &company.company_recognition_to(number * USERS)),
        )?;
    }
    let cases = create_cases(&provider, &company, user);
    let selected: Vec<_> = cases.iter().filter(|case| plan.has_case(case.case)).collect();
    let read_target = ReadTarget { credentials: &provider.credentials, user };
    let mut runner = BaselineRunner::start(service, plan, &read_target, &provider, &selected)?;
    let mut rounds: HashMap<(Case, Baseline), Vec<Round>> = HashMap::new();
    let mut baseline_rounds: HashMap<Baseline, Vec<Round>> = HashMap::new();
    for number in 0..plan.rounds {
        for case in &selected {
            let rates = case
                .baselines(plan)
                .into_iter()
                .map(|(baseline, _)| Ok((baseline, runner.measured_rate(baseline)?)));
            let rates = rates.collect::<Result<Vec<_>>>()?;
            let request = |connection, count| (case.request)(connection, number << 32 | count);
            let mut round = load::run_round(service, service.https(), plan, case.status, &request)?;
            round.per_second *= case.items_per_request;
            for (baseline, rate) in rates {
                let round = Round { baseline: Some(rate), ..round.clone() };
                rounds.entry((case.case, baseline)).or_default().push(round);
            }
        }
        for (baseline, measured) in runner.rounds.drain() {
            baseline_rounds.entry(baseline).or_default().push(measured);
        }
    }
    let mut rows = Vec::new();
    for case in &selected {
        for (baseline, [required, target]) in case.baselines(plan) {
            let at_least = |bound: Option<f64>| bound.map(Goal::RatioAtLeast);
            let row = ResultRow::from_rounds(
                case.case.name(),
                rounds.remove(&(case.case, baseline)).unwrap_or_default(),
            );
            rows.push(
                row.compared_with(baseline.name())
                    .with_goals(at_least(required).as_slice(), at_least(target).as_slice()),
            );
            let measured = baseline_rounds
                .remove(&baseline)
                .map(|measured| ResultRow::from_rounds(format!("  baseline: {}", baseline.name()), measured));
            rows.extend(measured);
        }
    }
    Ok(rows)
}

fn create_cases<'a>(provider: &'a Provider, company: &'a Company, user: &str) -> Vec<MeasuredCase<'a>> {
    let read = |case, path: String, baseline| {
        let bytes = provider.get_request(&path);
        let request = Box::new(move |_, _| bytes.clone());
        MeasuredCase {
            case,
            baseline: Baseline::HttpRead(baseline),
            items_per_request: 1.0,
            status: 200,
            request,
        }
    };
    let post = |case, baseline, items_per_request, request: Box<RequestFactory<'a>>| MeasuredCase {
        case,
        baseline,
        items_per_request,
        status: 201,
        request,
    };
    let path = "/v1/recognitions";
    let recognition = |connection, count, receivers| company.random_recognition(connection, count, receivers);
    let unkeyed = move |connection, count| provider.post_request(path, &recognition(connection, count, 1));
    let keyed = move |connection: usize, count: usize| {
        let key = format!("bench-{connection}-{count}");
        provider.post_with_key(path, &recognition(connection, count, 1), Some(&key))
    };
    vec![
        post(Case::Post, Baseline::PlainSql(SqlWorkload::OneReceiver), 1.0, Box::new(unkeyed)),
        post(Case::PostKeyed, Baseline::PlainSql(SqlWorkload::OneReceiver), 1.0, Box::new(keyed)),
        post(
            Case::PostReserve,
            Baseline::PlainSql(SqlWorkload::Reserve),
            1.0,
            Box::new(move |connection, count| {
                provider.post_request(path, &company.company_recognition_to(connection + count))
            }),
        ),
        post(
            Case::PostTen,
            Baseline::PlainSql(SqlWorkload::TenReceivers),
            10.0,
            Box::new(move |connection, count| {
                provider.post_request(path, &recognition(connection, count, 10))
            }),
        ),
        read(Case::GetUser, format!("/v1/users/{user}"), "user"),
        read(Case::GetBalances, format!("/v1/users/{user}/balances"), "balances"),
        read(
            Case::GetTransactions,
            format!("/v1/users/{user}/transactions?type=user_wallet&per_page=100"),
            "transactions",
        ),
    ]
}

impl Baseline {
    /// Returns the equivalent for this database: on SQLite, the sender of a recognition makes no difference.
    fn for_plan(self, plan: &Plan<'_>) -> Self {
        match self {
            Baseline::PlainSql(_) if plan.cluster.is_none() => Baseline::SqliteBatch(1),
            other => other,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Baseline::PlainSql(SqlWorkload::OneReceiver) => "plain SQL, 8 clients",
            Baseline::PlainSql(SqlWorkload::Reserve) => "plain SQL, one hot row, 8 clients",
            Baseline::PlainSql(SqlWorkload::TenReceivers) => "plain SQL, multi-row, 8 clients",
            Baseline::SqliteBatch(1) => "plain SQLite, one to a commit",
            Baseline::SqliteBatch(_) => "plain SQLite, fifty to a commit",
            Baseline::HttpRead("user") => "actix + diesel, the user",
            Baseline::HttpRead("balances") => "actix + diesel, the balances",
            Baseline::HttpRead(_) => "actix + diesel, the transactions",
        }
    }
}

impl<'a> BaselineRunner<'a> {
    fn start(
        service: &'a RunningService,
        plan: &'a Plan<'a>,
        read_target: &ReadTarget<'_>,
        provider: &Provider,
        cases: &[&MeasuredCase<'_>],
    ) -> Result<Self> {
        let has_reads = cases.iter().any(|case| Case::READS.contains(&case.case));
        let database = plan.database_address(service.data_folder());
        let server = has_reads
            .then(|| plan.baseline_program.start_http_server(service, &database, read_target))
            .transpose()?;
        Ok(Self {
            plan,
            service,
            read_server: server.map(|server| (server, provider.get_request(""))),
            plain_sql: plan
                .cluster
                .map(|cluster| PlainSqlDatabase::create(cluster, service.data_folder()))
                .transpose()?,
            rounds: HashMap::new(),
        })
    }

    /// Returns the rate of a program, measured once per round.
    fn measured_rate(&mut self, baseline: Baseline) -> Result<f64> {
        if let Some(measured) = self.rounds.get(&baseline) {
            return Ok(measured.per_second);
        }
        self.plan.flush_writes()?;
        let measured = self.measure_round(baseline)?;
        let rate = measured.per_second;
        ensure!(rate > 0.0, "{} completed no operation", baseline.name());
        self.rounds.insert(baseline, measured);
        Ok(rate)
    }

    fn measure_round(&self, baseline: Baseline) -> Result<Round> {
        let plan = self.plan;
        Ok(match baseline {
            Baseline::HttpRead(path) => self.measure_reads(path)?,
            Baseline::SqliteBatch(size) => Round::from_rate(plan.baseline_program.measure_sqlite(
                self.service.data_folder(),
                size,
                plan.seconds,
            )?),
            Baseline::PlainSql(workload) => {
                let database = self.plain_sql.as_ref().context("no plain SQL")?;
                Round::from_rate(
                    database.transactions_per_second(workload, plan.seconds)?
                        * workload.recognitions_per_transaction(),
                )
            }
        })
    }

    fn measure_reads(&self, path: &str) -> Result<Round> {
        let (server, request) = self.read_server.as_ref().context("no baseline for reads")?;
        let request =
            String::from_utf8_lossy(request).replacen("GET ", &format!("GET /{path}"), 1).into_bytes();
        let https = self.service.https().with_address(server.address);
        load::run_round(self.service, &https, self.plan, 200, &|_, _| request.clone())
    }
}
