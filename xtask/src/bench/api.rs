//! Measures the provider API and compares it with minimal programs.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};

use super::ceiling::{Plain, PlainSql, Reads, Server};
use super::figures::{Round, Row, Wanted};
use super::load;
use super::plan::{Case, Plan};
use crate::harness::fixture::{Company, Provider};
use crate::harness::https::Request;
use crate::harness::service::Service;

const USERS: usize = 1_000;
/// More than any user sends.
const POINTS: &str = "500000";
/// The number of transfers in the wallet whose history is read.
const MOVEMENTS: usize = 150;

/// The program that a case is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Ceiling {
    Plain(Plain),
    /// Plain SQLite with this many recognitions per commit.
    Batch(u32),
    Read(&'static str),
}

/// The comparison for recognitions that share commits.
const FIFTY: Ceiling = Ceiling::Batch(50);

/// A case: its requests, and what to compare it with.
struct Measured<'a> {
    case: Case,
    ceiling: Ceiling,
    /// The number of recognitions or responses per request.
    counts: f64,
    status: u16,
    request: Box<Request<'a>>,
}

impl Measured<'_> {
    /// Returns the programs to compare with; for each the ratio that is required and the ratio to aim for.
    fn ceilings(&self, plan: &Plan<'_>) -> Vec<(Ceiling, [Option<f64>; 2])> {
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
        let mut all = vec![(self.ceiling.on(plan), goals)];
        if is_embedded && matches!(self.case, Case::Post | Case::PostReserve) {
            all.push((FIFTY, [None, Some(0.8)]));
        }
        all
    }
}

/// The programs to compare with, and their results in the current round.
struct Beside<'a> {
    plan: &'a Plan<'a>,
    service: &'a Service,
    reads: Option<(Server, Vec<u8>)>,
    plain: Option<PlainSql>,
    made: HashMap<Ceiling, Round>,
}

pub(super) fn measure(service: &Service, plan: &Plan<'_>) -> Result<Vec<Row>> {
    // Without a callback URL, no events are sent meanwhile.
    let provider = Provider::create(service, None)?;
    let company = Company::create(service, &provider, "measured", USERS)?;
    service.operate(&["distribution", "run", &company.id, "--wallet", "peer_wallet", "--points", POINTS])?;
    let user = company.users.first().context("no user")?;
    let mut connection = service.https().connect()?;
    for number in 0..MOVEMENTS {
        connection.expect(201, &provider.post("/v1/recognitions", &company.thanks_to(number * USERS)))?;
    }
    let cases = cases(&provider, &company, user);
    let chosen: Vec<_> = cases.iter().filter(|case| plan.has(case.case)).collect();
    let reads = Reads { credentials: &provider.credentials, user };
    let mut beside = Beside::prepare(service, plan, &reads, &provider, &chosen)?;
    let mut rounds: HashMap<(Case, Ceiling), Vec<Round>> = HashMap::new();
    let mut ceilings: HashMap<Ceiling, Vec<Round>> = HashMap::new();
    for number in 0..plan.rounds {
        for it in &chosen {
            let all = it.ceilings(plan).into_iter().map(|(of, _)| Ok((of, beside.rate(of)?)));
            let all = all.collect::<Result<Vec<_>>>()?;
            let request = |connection, count| (it.request)(connection, number << 32 | count);
            let mut round = load::round(service, service.https(), plan, it.status, &request)?;
            round.per_second *= it.counts;
            for (of, most) in all {
                let round = Round { ceiling: Some(most), ..round.clone() };
                rounds.entry((it.case, of)).or_default().push(round);
            }
        }
        for (ceiling, made) in beside.made.drain() {
            ceilings.entry(ceiling).or_default().push(made);
        }
    }
    let mut rows = Vec::new();
    for it in &chosen {
        for (of, [must, reach]) in it.ceilings(plan) {
            let at_least = |bound: Option<f64>| bound.map(Wanted::RatioAtLeast);
            let row = Row::of(it.case.name(), rounds.remove(&(it.case, of)).unwrap_or_default());
            rows.push(row.beside(of.name()).wanted(at_least(must).as_slice(), at_least(reach).as_slice()));
            let made = ceilings.remove(&of).map(|made| Row::of(format!("  ceiling: {}", of.name()), made));
            rows.extend(made);
        }
    }
    Ok(rows)
}

fn cases<'a>(provider: &'a Provider, company: &'a Company, user: &str) -> Vec<Measured<'a>> {
    let read = |case, path: String, ceiling| {
        let bytes = provider.get(&path);
        let request = Box::new(move |_, _| bytes.clone());
        Measured { case, ceiling: Ceiling::Read(ceiling), counts: 1.0, status: 200, request }
    };
    let post = |case, ceiling, counts, request: Box<Request<'a>>| Measured {
        case,
        ceiling,
        counts,
        status: 201,
        request,
    };
    let path = "/v1/recognitions";
    let thanks = |connection, count, receivers| company.thanks_by_lot(connection, count, receivers);
    let of_user = move |at, count| provider.post(path, &thanks(at, count, 1));
    let keyed = move |at: usize, count: usize| {
        let key = format!("bench-{at}-{count}");
        provider.post_with_key(path, &thanks(at, count, 1), Some(&key))
    };
    vec![
        post(Case::Post, Ceiling::Plain(Plain::One), 1.0, Box::new(of_user)),
        post(Case::PostKeyed, Ceiling::Plain(Plain::One), 1.0, Box::new(keyed)),
        post(
            Case::PostReserve,
            Ceiling::Plain(Plain::Reserve),
            1.0,
            Box::new(move |at, count| provider.post(path, &company.thanks_to(at + count))),
        ),
        post(
            Case::PostTen,
            Ceiling::Plain(Plain::Ten),
            10.0,
            Box::new(move |at, count| provider.post(path, &thanks(at, count, 10))),
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

impl Ceiling {
    /// Returns the equivalent for this database: on SQLite, the sender of a recognition makes no difference.
    fn on(self, plan: &Plan<'_>) -> Self {
        match self {
            Ceiling::Plain(_) if plan.cluster.is_none() => Ceiling::Batch(1),
            it => it,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Ceiling::Plain(Plain::One) => "plain SQL, 8 clients",
            Ceiling::Plain(Plain::Reserve) => "plain SQL, one hot row, 8 clients",
            Ceiling::Plain(Plain::Ten) => "plain SQL, multi-row, 8 clients",
            Ceiling::Batch(1) => "plain SQLite, one to a commit",
            Ceiling::Batch(_) => "plain SQLite, fifty to a commit",
            Ceiling::Read("user") => "actix + diesel, the user",
            Ceiling::Read("balances") => "actix + diesel, the balances",
            Ceiling::Read(_) => "actix + diesel, the transactions",
        }
    }
}

impl<'a> Beside<'a> {
    fn prepare(
        service: &'a Service,
        plan: &'a Plan<'a>,
        reads: &Reads<'_>,
        provider: &Provider,
        chosen: &[&Measured<'_>],
    ) -> Result<Self> {
        let has_reads = chosen.iter().any(|case| Case::READS.contains(&case.case));
        let database = plan.database_of(service.data());
        let server = has_reads.then(|| plan.ceilings.http(service, &database, reads)).transpose()?;
        Ok(Self {
            plan,
            service,
            reads: server.map(|server| (server, provider.get(""))),
            plain: plan.cluster.map(|cluster| PlainSql::prepare(cluster, service.data())).transpose()?,
            made: HashMap::new(),
        })
    }

    /// Returns the rate of a program, measured once per round.
    fn rate(&mut self, of: Ceiling) -> Result<f64> {
        if let Some(made) = self.made.get(&of) {
            return Ok(made.per_second);
        }
        self.plan.settle()?;
        let made = self.measure(of)?;
        let rate = made.per_second;
        ensure!(rate > 0.0, "a ceiling made nothing");
        self.made.insert(of, made);
        Ok(rate)
    }

    fn measure(&self, of: Ceiling) -> Result<Round> {
        let plan = self.plan;
        Ok(match of {
            Ceiling::Read(path) => self.measure_reads(path)?,
            Ceiling::Batch(size) => {
                Round::rated(plan.ceilings.sqlite(self.service.data(), size, plan.seconds)?)
            }
            Ceiling::Plain(what) => {
                let plain = self.plain.as_ref().context("no plain SQL")?;
                Round::rated(plain.transactions(what, plan.seconds)? * what.recognitions())
            }
        })
    }

    fn measure_reads(&self, path: &str) -> Result<Round> {
        let (server, request) = self.reads.as_ref().context("no ceiling reads")?;
        let request =
            String::from_utf8_lossy(request).replacen("GET ", &format!("GET /{path}"), 1).into_bytes();
        let https = self.service.https().at(server.address);
        load::round(self.service, &https, self.plan, 200, &|_, _| request.clone())
    }
}
