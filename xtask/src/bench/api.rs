//! How fast the provider API answers, beside plain programs that do the same.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};

use super::ceiling::{Plain, PlainSql, Server};
use super::figures::{Round, Row, Wanted, per_second};
use super::fixture::{Company, Provider};
use super::https::{Https, Request, closed_loop};
use super::plan::{Case, Plan, Reads};
use super::service::Service;

const CONNECTIONS: usize = 32;
const USERS: usize = 1_000;
/// More than any of them sends.
const POINTS: &str = "500000";
/// So many movements has the wallet whose history is read.
const MOVEMENTS: usize = 150;

/// What a case is held against.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Ceiling {
    One,
    Reserve,
    Ten,
    Read(&'static str),
}

/// One case: its requests, and what each comes to.
struct Measured<'a> {
    case: Case,
    ceiling: Ceiling,
    /// How many recognitions, or answers, a request is.
    counts: f64,
    status: u16,
    request: Box<Request<'a>>,
}

/// What a case must come to, and what it may reach, as parts of its ceiling: on SQLite, then on PostgreSQL.
fn goals(case: Case, is_embedded: bool) -> Option<(f64, f64)> {
    Some(match (case, is_embedded) {
        (Case::Post | Case::PostReserve, true) => (1.8, 3.6),
        (Case::GetUser, true) => (1.5, 2.2),
        (Case::Post, false) => (2.0, 4.0),
        (Case::PostKeyed, false) => (1.5, 3.0),
        (Case::PostReserve, false) => (5.0, 10.0),
        (Case::PostTen, false) => (1.2, 2.0),
        (Case::GetUser, false) => (0.85, 1.1),
        (Case::GetBalances | Case::GetTransactions, _) => (0.7, 0.9),
        _ => return None,
    })
}

/// The ceilings that are at hand, and what they made in the present round.
struct Beside<'a> {
    plan: &'a Plan<'a>,
    service: &'a Service,
    reads: Option<(Server, Vec<u8>)>,
    plain: Option<PlainSql>,
    made: HashMap<Ceiling, Round>,
}

pub(super) fn measure(service: &Service, plan: &Plan<'_>) -> Result<Vec<Row>> {
    // Without a callback URL nothing is sent meanwhile.
    let provider = Provider::create(service, None)?;
    let company = Company::create(service, &provider, "measured", USERS)?;
    service.operate(&["distribution", "run", &company.id, "--wallet", "peer_wallet", "--points", POINTS])?;
    let user = company.users.first().context("no user")?;
    let mut connection = service.https().connect()?;
    for number in 0..MOVEMENTS {
        connection.expect(201, &provider.post("/v1/recognitions", &company.thanks_to(number * USERS)))?;
    }
    let cases = cases(&provider, &company, user);
    let chosen: Vec<_> = cases.iter().filter(|it| plan.has(it.case)).collect();
    let reads = Reads { credentials: &provider.credentials, user };
    let mut beside = Beside::prepare(service, plan, &reads, &provider, &chosen)?;
    let mut rounds: HashMap<Case, Vec<Round>> = HashMap::new();
    let mut ceilings: HashMap<Ceiling, Vec<Round>> = HashMap::new();
    for number in 0..plan.rounds {
        for it in &chosen {
            let most = beside.rate(it.ceiling)?;
            plan.settle()?;
            let request = |connection, count| (it.request)(connection, number << 32 | count);
            let mut round = looped(service, service.https(), plan, it.status, &request)?;
            round.per_second *= it.counts;
            round.ceiling = Some(most);
            rounds.entry(it.case).or_default().push(round);
        }
        for (ceiling, made) in beside.made.drain() {
            ceilings.entry(ceiling).or_default().push(made);
        }
    }
    service.operate(&["verify"]).context("after the measurements")?;
    let mut rows = Vec::new();
    for it in &chosen {
        let ceiling = it.ceiling.name(plan);
        let mut row = Row::of(it.case.name(), rounds.remove(&it.case).unwrap_or_default()).beside(ceiling);
        if let Some((must, reach)) = goals(it.case, plan.cluster.is_none()) {
            row = row.wanted(&[Wanted::RatioAtLeast(must)], &[Wanted::RatioAtLeast(reach)]);
        }
        rows.push(row);
        if let Some(made) = ceilings.remove(&it.ceiling) {
            rows.push(Row::of(format!("  ceiling: {ceiling}"), made));
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
        post(Case::Post, Ceiling::One, 1.0, Box::new(of_user)),
        post(Case::PostKeyed, Ceiling::One, 1.0, Box::new(keyed)),
        post(
            Case::PostReserve,
            Ceiling::Reserve,
            1.0,
            Box::new(move |at, count| provider.post(path, &company.thanks_to(at + count))),
        ),
        post(
            Case::PostTen,
            Ceiling::Ten,
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
    fn name(self, plan: &Plan<'_>) -> &'static str {
        match (self, plan.cluster.is_none()) {
            (Ceiling::One | Ceiling::Reserve | Ceiling::Ten, true) => "plain SQLite, one to a commit",
            (Ceiling::One, false) => "plain SQL, 8 clients",
            (Ceiling::Reserve, false) => "plain SQL, one hot row, 8 clients",
            (Ceiling::Ten, false) => "plain SQL, multi-row, 8 clients",
            (Ceiling::Read("user"), _) => "actix + diesel, the user",
            (Ceiling::Read("balances"), _) => "actix + diesel, the balances",
            (Ceiling::Read(_), _) => "actix + diesel, the transactions",
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
        let has_reads = chosen.iter().any(|it| Case::READS.contains(&it.case));
        let database = plan.database_of(service.data());
        let server = has_reads.then(|| plan.ceilings.http(service, &database, reads)).transpose()?;
        Ok(Self {
            plan,
            service,
            reads: server.map(|it| (it, provider.get(""))),
            plain: PlainSql::prepare(plan)?,
            made: HashMap::new(),
        })
    }

    /// What a ceiling makes, measured once in a round.
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
        let (what, counts) = match of {
            Ceiling::Read(path) => return self.measure_reads(path),
            Ceiling::One => (Plain::One, 1.0),
            Ceiling::Reserve => (Plain::Reserve, 1.0),
            Ceiling::Ten => (Plain::Ten, 10.0),
        };
        Ok(Round::rated(match &self.plain {
            Some(plain) => plain.transactions(what, plan.seconds)? * counts,
            None => plan.ceilings.sqlite(self.service.data(), 1, plan.seconds)?,
        }))
    }

    fn measure_reads(&self, path: &str) -> Result<Round> {
        let (server, request) = self.reads.as_ref().context("no ceiling reads")?;
        let request =
            String::from_utf8_lossy(request).replacen("GET ", &format!("GET /{path}"), 1).into_bytes();
        let https = self.service.https().at(server.address);
        looped(self.service, &https, self.plan, 200, &|_, _| request.clone())
    }
}

/// One round of a closed loop.
fn looped(
    service: &Service,
    https: &Https,
    plan: &Plan<'_>,
    status: u16,
    request: &Request<'_>,
) -> Result<Round> {
    let before = service.processor_time();
    let done = closed_loop(https, CONNECTIONS, plan.period(), status, request)?;
    let after = service.processor_time();
    let all = done.answered.max(1);
    let refused = done.refusal.as_ref().map(|it| {
        let said = String::from_utf8_lossy(&it.body);
        format!("{} not counted, such as {}: {said}", done.refused, it.status)
    });
    Ok(Round {
        refused,
        per_second: per_second(done.times.len(), done.took),
        cpu: Some(((after.0 - before.0) / all, (after.1 - before.1) / all)),
        times: done.times,
        ceiling: None,
    })
}
