//! Measures the service with a million users and ten million transfers, compared with a thousandth of the users.
//!
//! The large database is created once, which takes about ten minutes, and is stored under `target/bench/large`.

mod console;

use std::fs;
use std::iter::{once, repeat_n};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::figures::{Round, Row, Wanted};
use crate::harness::fixture::{Company, Provider};
use crate::harness::https::{Request, closed_loop};
use crate::harness::service::Service;
use crate::postgres::Cluster;
use crate::workspace::Workspace;

const CONNECTIONS: usize = 4;
const COMPANIES: usize = 51;
/// The number of users of the first company and of each other one.
const LARGE: [usize; 2] = [500_000, 10_000];
const SMALL: [usize; 2] = [20, 20];
/// The first distribution to each user, to be sent on; a recognition follows.
const TO_SEND: (&str, &str) = ("peer_wallet", "1000");
/// The distribution that each user then receives several times.
const EARNED: (&str, &str) = ("user_wallet", "1");
const TIMES: usize = 8;
/// The maximum of receivers of a request.
const RECEIVERS_MAX: usize = 10_000;
/// The number of users of each company that are requested.
const ASKED_FOR: usize = 1_000;
const FACTS: &str = "filled.json";

/// What to measure, and for how long.
pub(super) struct Settings<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) program: &'a Path,
    pub(super) on_postgres: bool,
    pub(super) period: Duration,
    pub(super) rounds: usize,
}

/// A running service with a large or a small database.
struct Filled {
    provider: Provider,
    first: Company,
    others: Vec<Company>,
    service: Service,
    /// Declared after the service, so that it is dropped after it.
    _cluster: Option<Cluster>,
    _folder: Option<tempfile::TempDir>,
}

pub(super) fn measure(settings: &Settings<'_>) -> Result<Vec<Row>> {
    let name = if settings.on_postgres { "postgres" } else { "sqlite" };
    let kept = settings.workspace.target.join("bench").join("large").join(name);
    let large = Filled::kept(settings, &kept)
        .with_context(|| format!("delete {} to have it made anew", kept.display()))?;
    let small = Filled::fresh(settings)?;
    let run = small.name();
    let cases = large.cases(&run).into_iter().zip(small.cases(&run));
    let mut rows = Vec::new();
    for ((what, status, on_large), (.., on_small)) in cases {
        let mut rounds = Vec::new();
        for number in 0..settings.rounds {
            let few = small.round(settings, status, &|at, count| on_small(at, number << 32 | count))?;
            let mut many = large.round(settings, status, &|at, count| on_large(at, number << 32 | count))?;
            many.ceiling = Some(few.per_second);
            rounds.push(many);
        }
        // 1.3 and 1.1 times the median.
        let (must, reach) = (Wanted::RatioAtLeast(0.77), Wanted::RatioAtLeast(0.91));
        rows.push(
            Row::of(format!("large: {what}"), rounds)
                .beside("the same with 1,020 users")
                .wanted(&[must], &[reach]),
        );
    }
    rows.extend(console::measure(&large.service, &large.first.id, &large.provider.id)?);
    rows.push(Row::new("  memory of the service in all of large").memory(large.service.memory_peak()?));
    small.service.operate(&["verify"])?;
    Ok(rows)
}

impl Filled {
    fn kept(settings: &Settings<'_>, folder: &Path) -> Result<Self> {
        let facts = folder.join(FACTS);
        let scratch = tempfile::Builder::new().prefix("guerdon-bench-").tempdir()?;
        if let Ok(text) = fs::read_to_string(&facts) {
            let (service, cluster) = start(settings, folder, scratch.path())?;
            let (provider, companies) = read(&serde_json::from_str(&text)?)?;
            return Self::of(provider, companies, service, cluster, None);
        }
        if folder.exists() {
            fs::remove_dir_all(folder)?; // left by an interrupted run
        }
        eprintln!("making {}: this takes some ten minutes, once …", folder.display());
        let (service, cluster) = start(settings, folder, scratch.path())?;
        let (provider, companies) = fill(&service, LARGE)?;
        service.operate(&["verify"])?;
        fs::write(&facts, told(&provider, &companies).to_string())?;
        Self::of(provider, companies, service, cluster, None)
    }

    fn fresh(settings: &Settings<'_>) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("guerdon-bench-").tempdir()?;
        let (service, cluster) = start(settings, folder.path(), folder.path())?;
        let (provider, companies) = fill(&service, SMALL)?;
        Self::of(provider, companies, service, cluster, Some(folder))
    }

    fn of(
        provider: Provider,
        companies: Vec<Company>,
        service: Service,
        cluster: Option<Cluster>,
        folder: Option<tempfile::TempDir>,
    ) -> Result<Self> {
        let mut others = companies;
        let first = others.pop().context("no company")?;
        Ok(Self { provider, first, others, service, _cluster: cluster, _folder: folder })
    }

    /// Returns a name that no other run uses: the last part of the path of its folder.
    fn name(&self) -> String {
        let folder = self.service.data().parent().and_then(Path::file_name).unwrap_or_default();
        folder.to_string_lossy().rsplit('-').next().unwrap_or_default().to_owned()
    }

    /// Measures a round; its rate is that of the median response time.
    fn round(&self, settings: &Settings<'_>, status: u16, request: &Request<'_>) -> Result<Round> {
        let meter = self.service.meter();
        let done = closed_loop(self.service.https(), CONNECTIONS, settings.period, status, request)?;
        let cpu = Some(meter.each(done.answered));
        let mut times = done.times;
        times.sort_unstable();
        let median = times.get(times.len() / 2).context("nothing was answered as it should be")?;
        let rate = median.as_secs_f64().recip();
        let refused = done.refusal.map(|answer| format!("{} answered {}", done.refused, answer.status));
        Ok(Round { cpu, refused, times, ..Round::rated(rate) })
    }

    /// Returns the requests to measure: name, expected status and request.
    fn cases<'a>(&'a self, run: &'a str) -> Vec<(&'static str, u16, Box<Request<'a>>)> {
        let provider = &self.provider;
        let get = move |path: fn(&Company, &str) -> String| -> Box<Request<'a>> {
            Box::new(move |at, count| {
                let (company, user) = self.drawn(at, count);
                provider.get(&path(company, user))
            })
        };
        let thanks = |at: usize, count: usize| self.drawn(at, count).0.thanks_by_lot(at, count, 1);
        let of_reserve = |at: usize, count: usize| {
            let (company, user) = self.drawn(at, count);
            company.thanks(&[user.to_owned()])
        };
        let new_user = move |at: usize, count: usize| {
            let (company, _) = self.drawn(at, count);
            let email = format!("new-{run}-{at}-{count}@example.com");
            json!({ "company_id": company.id, "email": email, "first_name": "Ada", "last_name": "Lovelace" })
        };
        let recognitions = "/v1/recognitions";
        vec![
            ("GET user", 200, get(|_, user| format!("/v1/users/{user}"))),
            ("GET balances", 200, get(|_, user| format!("/v1/users/{user}/balances"))),
            (
                "GET transactions",
                200,
                get(|_, user| format!("/v1/users/{user}/transactions?type=user_wallet")),
            ),
            ("GET recognitions", 200, get(|_, user| format!("/v1/users/{user}/recognitions_received"))),
            ("GET company", 200, get(|company, _| format!("/v1/companies/{}", company.id))),
            (
                "GET balances of a company",
                200,
                get(|company, _| format!("/v1/companies/{}/users/balances?per_page=20", company.id)),
            ),
            ("GET companies", 200, get(|_, _| "/v1/companies".to_owned())),
            ("GET occasions", 200, get(|company, _| format!("/v1/companies/{}/occasions", company.id))),
            (
                "PUT user",
                200,
                Box::new(move |at, count| {
                    let user = self.drawn(at, count).1;
                    provider.put(&format!("/v1/users/{user}"), &json!({ "title": format!("No. {count}") }))
                }),
            ),
            ("POST user", 201, Box::new(move |at, count| provider.post("/v1/users", &new_user(at, count)))),
            (
                "POST recognition",
                201,
                Box::new(move |at, count| provider.post(recognitions, &thanks(at, count))),
            ),
            (
                "POST recognition of a reserve",
                201,
                Box::new(move |at, count| provider.post(recognitions, &of_reserve(at, count))),
            ),
        ]
    }

    /// Returns a pseudo-random company and one of its users.
    fn drawn(&self, at: usize, count: usize) -> (&Company, &str) {
        let lot = (at << 40 | count).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let company = self.others.get((lot >> 50) % COMPANIES).unwrap_or(&self.first);
        (company, company.user(lot >> 20))
    }
}

/// Starts the service with all persistent files in `data`.
fn start(settings: &Settings<'_>, data: &Path, scratch: &Path) -> Result<(Service, Option<Cluster>)> {
    let home = data.join("service");
    fs::create_dir_all(&home)?;
    if !settings.on_postgres {
        return Ok((Service::start_in(settings.program, &home, scratch, None)?, None));
    }
    let files: PathBuf = data.join("postgres");
    let is_new = !files.exists();
    let cluster = Cluster::start_durable_in(settings.workspace, &files)?;
    let url = if is_new { cluster.create_database("large")? } else { cluster.database_url("large") };
    let service = Service::start_in(settings.program, &home, scratch, Some((url, cluster.id())))?;
    Ok((service, Some(cluster)))
}

fn fill(service: &Service, [first, others]: [usize; 2]) -> Result<(Provider, Vec<Company>)> {
    let provider = Provider::create(service, None)?;
    let mut companies = Vec::new();
    for number in 0..COMPANIES {
        let users = if number == 0 { first } else { others };
        let mut company = Company::create(service, &provider, &format!("company-{number}"), users)?;
        for (wallet, points) in once(TO_SEND).chain(repeat_n(EARNED, TIMES)) {
            let run = ["distribution", "run", &company.id, "--wallet", wallet, "--points", points];
            service.operate(&run)?;
        }
        let mut connection = service.https().connect()?;
        for some in company.users.chunks(RECEIVERS_MAX) {
            connection.expect(201, &provider.post("/v1/recognitions", &company.thanks(some)))?;
        }
        company.users.truncate(ASKED_FOR);
        companies.push(company);
    }
    Ok((provider, companies))
}

fn told(provider: &Provider, companies: &[Company]) -> Value {
    let company =
        |company: &Company| json!({ "id": company.id, "occasion": company.occasion, "users": company.users });
    json!({
        "provider": { "id": provider.id, "shared_secret": provider.shared_secret, "credentials": provider.credentials },
        "companies": companies.iter().map(company).collect::<Vec<_>>(),
    })
}

fn read(facts: &Value) -> Result<(Provider, Vec<Company>)> {
    let text = |at: &Value, name: &str| {
        at.get(name)
            .and_then(Value::as_str)
            .map(str::to_owned)
            .with_context(|| format!("no {name} in {FACTS}"))
    };
    let all = |at: &Value, name: &str| {
        at.get(name).and_then(Value::as_array).cloned().with_context(|| format!("no {name} in {FACTS}"))
    };
    let known = facts.get("provider").with_context(|| format!("no provider in {FACTS}"))?;
    let provider =
        Provider::known(text(known, "id")?, text(known, "shared_secret")?, text(known, "credentials")?);
    let company = |it: &Value| -> Result<Company> {
        let users = all(it, "users")?.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect();
        Ok(Company { id: text(it, "id")?, occasion: text(it, "occasion")?, users })
    };
    Ok((provider, all(facts, "companies")?.iter().map(company).collect::<Result<_>>()?))
}
