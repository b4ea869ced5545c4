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

use super::results::{Goal, ResultRow, Round};
use crate::measurement::closed_loop::{RequestFactory, closed_loop};
use crate::measurement::fixture::{Company, Provider};
use crate::measurement::service::RunningService;
use crate::postgres::{Cluster, ServerDatabase};
use crate::workspace::Workspace;

const CONNECTIONS: usize = 4;
const COMPANIES: usize = 51;
/// The number of users of the first company and of each other one.
const LARGE_USERS: [usize; 2] = [500_000, 10_000];
const SMALL_USERS: [usize; 2] = [20, 20];
/// The wallet and the points of the first distribution to each user.
const PEER_DISTRIBUTION: (&str, &str) = ("peer_wallet", "1000");
/// The wallet and the points of the distribution that each user then receives several times.
const USER_DISTRIBUTION: (&str, &str) = ("user_wallet", "1");
const USER_DISTRIBUTIONS: usize = 8;
/// The maximum number of receivers of a request.
const RECEIVERS_MAX: usize = 10_000;
/// The number of users of each company that are requested.
const REQUESTED_USERS: usize = 1_000;
const FIXTURE_FILE: &str = "filled.json";

/// What to measure, and for how long.
pub(super) struct Parameters<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) program: &'a Path,
    pub(super) on_postgres: bool,
    pub(super) period: Duration,
    pub(super) rounds: usize,
}

/// A running service with a large or a small database.
struct FilledService {
    provider: Provider,
    first: Company,
    others: Vec<Company>,
    service: RunningService,
    /// Declared after the service, so that the cluster is dropped after the service.
    _cluster: Option<Cluster>,
    _folder: Option<tempfile::TempDir>,
}

pub(super) fn measure(parameters: &Parameters<'_>) -> Result<Vec<ResultRow>> {
    let name = if parameters.on_postgres { "postgres" } else { "sqlite" };
    let folder = parameters.workspace.target.join("bench").join("large").join(name);
    let large = FilledService::open_or_create(parameters, &folder)
        .with_context(|| format!("delete {} to create it again", folder.display()))?;
    let small = FilledService::create_small(parameters)?;
    let run = small.run_name();
    let cases = large.create_cases(&run).into_iter().zip(small.create_cases(&run));
    let mut rows = Vec::new();
    for ((name, status, on_large), (.., on_small)) in cases {
        let mut rounds = Vec::new();
        for number in 0..parameters.rounds {
            let small_round =
                small.measure_round(parameters, status, &|at, count| on_small(at, number << 32 | count))?;
            let mut large_round =
                large.measure_round(parameters, status, &|at, count| on_large(at, number << 32 | count))?;
            large_round.baseline = Some(small_round.per_second);
            rounds.push(large_round);
        }
        // The median response time must be at most 1.3 times that of the small database, and should be at most 1.1
        // times.
        let (required, target) = (Goal::RatioAtLeast(0.77), Goal::RatioAtLeast(0.91));
        rows.push(
            ResultRow::from_rounds(format!("large: {name}"), rounds)
                .compared_with("the same with 1,020 users")
                .with_goals(&[required], &[target]),
        );
    }
    rows.extend(console::measure(&large.service, &large.first.id, &large.provider.id)?);
    rows.push(
        ResultRow::new("  memory of the service in all of large").with_memory(large.service.memory_peak()?),
    );
    small.service.run_cli(&["verify"])?;
    Ok(rows)
}

impl FilledService {
    fn open_or_create(parameters: &Parameters<'_>, folder: &Path) -> Result<Self> {
        let fixture_file = folder.join(FIXTURE_FILE);
        let scratch = tempfile::Builder::new().prefix("guerdon-bench-").tempdir()?;
        if let Ok(text) = fs::read_to_string(&fixture_file) {
            let (service, cluster) = start_service(parameters, folder, scratch.path())?;
            let (provider, companies) = fixture_from_json(&serde_json::from_str(&text)?)?;
            return Self::from_parts(provider, companies, service, cluster, None);
        }
        if folder.exists() {
            fs::remove_dir_all(folder)?; // left by an interrupted run
        }
        eprintln!("creating {}: this takes about ten minutes, once …", folder.display());
        let (service, cluster) = start_service(parameters, folder, scratch.path())?;
        let (provider, companies) = fill_ledger(&service, LARGE_USERS)?;
        service.run_cli(&["verify"])?;
        fs::write(&fixture_file, fixture_to_json(&provider, &companies).to_string())?;
        drop((service, cluster)); // the memory of the cases is that of a process that has not created the data
        Self::open_or_create(parameters, folder)
    }

    fn create_small(parameters: &Parameters<'_>) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("guerdon-bench-").tempdir()?;
        let (service, cluster) = start_service(parameters, folder.path(), folder.path())?;
        let (provider, companies) = fill_ledger(&service, SMALL_USERS)?;
        Self::from_parts(provider, companies, service, cluster, Some(folder))
    }

    fn from_parts(
        provider: Provider,
        companies: Vec<Company>,
        service: RunningService,
        cluster: Option<Cluster>,
        folder: Option<tempfile::TempDir>,
    ) -> Result<Self> {
        let mut others = companies;
        let first = others.pop().context("no company")?;
        Ok(Self { provider, first, others, service, _cluster: cluster, _folder: folder })
    }

    /// Returns a name that no other run uses: the last part of the path of its folder.
    fn run_name(&self) -> String {
        let folder = self.service.data_folder().parent().and_then(Path::file_name).unwrap_or_default();
        folder.to_string_lossy().rsplit('-').next().unwrap_or_default().to_owned()
    }

    /// Measures a round. Its rate is that of one connection whose requests all take the median response time.
    fn measure_round(
        &self,
        parameters: &Parameters<'_>,
        status: u16,
        request: &RequestFactory<'_>,
    ) -> Result<Round> {
        let meter = self.service.start_cpu_meter();
        let result = closed_loop(self.service.https(), CONNECTIONS, parameters.period, status, request)?;
        let cpu = Some(meter.per_request(result.responses));
        let mut times = result.times;
        times.sort_unstable();
        let median = times.get(times.len() / 2).context("no response with the expected status")?;
        let rate = median.as_secs_f64().recip();
        let unexpected = result
            .first_unexpected
            .map(|response| format!("{} responses {}", result.unexpected, response.status));
        Ok(Round { cpu, unexpected, times, ..Round::from_rate(rate) })
    }

    /// Returns the requests to measure: name, expected status and request.
    fn create_cases<'a>(&'a self, run: &'a str) -> Vec<(&'static str, u16, Box<RequestFactory<'a>>)> {
        let mut cases: Vec<_> =
            self.read_cases().into_iter().map(|(name, factory)| (name, 200, factory)).collect();
        cases.extend(self.write_cases(run));
        cases
    }

    fn read_cases(&self) -> Vec<(&'static str, Box<RequestFactory<'_>>)> {
        let provider = &self.provider;
        let get = move |path: fn(&Company, &str) -> String| -> Box<RequestFactory<'_>> {
            Box::new(move |connection, count| {
                let (company, user) = self.random_user(connection, count);
                provider.get_request(&path(company, user))
            })
        };
        vec![
            ("GET user", get(|_, user| format!("/v1/users/{user}"))),
            ("GET balances", get(|_, user| format!("/v1/users/{user}/balances"))),
            ("GET transactions", get(|_, user| format!("/v1/users/{user}/transactions?type=user_wallet"))),
            ("GET recognitions", get(|_, user| format!("/v1/users/{user}/recognitions_received"))),
            ("GET company", get(|company, _| format!("/v1/companies/{}", company.id))),
            (
                "GET balances of a company",
                get(|company, _| format!("/v1/companies/{}/users/balances?per_page=20", company.id)),
            ),
            ("GET companies", get(|_, _| "/v1/companies".to_owned())),
            ("GET occasions", get(|company, _| format!("/v1/companies/{}/occasions", company.id))),
        ]
    }

    fn write_cases<'a>(&'a self, run: &'a str) -> Vec<(&'static str, u16, Box<RequestFactory<'a>>)> {
        let provider = &self.provider;
        let recognitions = "/v1/recognitions";
        vec![
            (
                "PUT user",
                200,
                Box::new(move |connection, count| {
                    let user = self.random_user(connection, count).1;
                    let title = json!({ "title": format!("No. {count}") });
                    provider.put_request(&format!("/v1/users/{user}"), &title)
                }),
            ),
            (
                "POST user",
                201,
                Box::new(move |connection, count| {
                    let company = &self.random_user(connection, count).0.id;
                    let email = format!("new-{run}-{connection}-{count}@example.com");
                    let user = json!({ "company_id": company, "email": email, "first_name": "Ada", "last_name": "Lovelace" });
                    provider.post_request("/v1/users", &user)
                }),
            ),
            (
                "POST recognition",
                201,
                Box::new(move |connection, count| {
                    let company = self.random_user(connection, count).0;
                    provider.post_request(recognitions, &company.random_recognition(connection, count, 1))
                }),
            ),
            (
                "POST recognition of a reserve",
                201,
                Box::new(move |connection, count| {
                    let (company, user) = self.random_user(connection, count);
                    provider.post_request(recognitions, &company.company_recognition(&[user.to_owned()]))
                }),
            ),
        ]
    }

    /// Returns a pseudo-random company and one of its users.
    fn random_user(&self, connection: usize, count: usize) -> (&Company, &str) {
        let random = (connection << 40 | count).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let company = self.others.get((random >> 50) % COMPANIES).unwrap_or(&self.first);
        (company, company.user_id(random >> 20))
    }
}

/// Starts the service with all persistent files in `data`.
fn start_service(
    parameters: &Parameters<'_>,
    data: &Path,
    scratch: &Path,
) -> Result<(RunningService, Option<Cluster>)> {
    let service_folder = data.join("service");
    fs::create_dir_all(&service_folder)?;
    if !parameters.on_postgres {
        return Ok((
            RunningService::start_in(parameters.program, &service_folder, scratch, None, &[])?,
            None,
        ));
    }
    let cluster_folder: PathBuf = data.join("postgres");
    let is_new = !cluster_folder.exists();
    let cluster = Cluster::start_durable_in(parameters.workspace, &cluster_folder)?;
    let url = if is_new { cluster.create_database("large")? } else { cluster.database_url("large") };
    let service = RunningService::start_in(
        parameters.program,
        &service_folder,
        scratch,
        Some(ServerDatabase { url, server_process_id: cluster.process_id() }),
        &[],
    )?;
    Ok((service, Some(cluster)))
}

fn fill_ledger(service: &RunningService, [first, others]: [usize; 2]) -> Result<(Provider, Vec<Company>)> {
    let provider = Provider::create(service, None)?;
    let mut companies = Vec::new();
    for number in 0..COMPANIES {
        let users = if number == 0 { first } else { others };
        let mut company = Company::create(service, &provider, &format!("company-{number}"), users)?;
        for (wallet, points) in once(PEER_DISTRIBUTION).chain(repeat_n(USER_DISTRIBUTION, USER_DISTRIBUTIONS))
        {
            let arguments = ["distribution", "run", &company.id, "--wallet", wallet, "--points", points];
            service.run_cli(&arguments)?;
        }
        let mut connection = service.https().connect()?;
        for receivers in company.users.chunks(RECEIVERS_MAX) {
            connection.expect_status(
                201,
                &provider.post_request("/v1/recognitions", &company.company_recognition(receivers)),
            )?;
        }
        company.users.truncate(REQUESTED_USERS);
        companies.push(company);
    }
    Ok((provider, companies))
}

fn fixture_to_json(provider: &Provider, companies: &[Company]) -> Value {
    let company =
        |company: &Company| json!({ "id": company.id, "occasion": company.occasion, "users": company.users });
    json!({
        "provider": { "id": provider.id, "shared_secret": provider.shared_secret, "credentials": provider.credentials },
        "companies": companies.iter().map(company).collect::<Vec<_>>(),
    })
}

fn fixture_from_json(fixture: &Value) -> Result<(Provider, Vec<Company>)> {
    let string = |object: &Value, name: &str| {
        object
            .get(name)
            .and_then(Value::as_str)
            .map(str::to_owned)
            .with_context(|| format!("no {name} in {FIXTURE_FILE}"))
    };
    let array = |object: &Value, name: &str| {
        object
            .get(name)
            .and_then(Value::as_array)
            .cloned()
            .with_context(|| format!("no {name} in {FIXTURE_FILE}"))
    };
    let credentials = fixture.get("provider").with_context(|| format!("no provider in {FIXTURE_FILE}"))?;
    let provider = Provider::with_credentials(
        string(credentials, "id")?,
        string(credentials, "shared_secret")?,
        string(credentials, "credentials")?,
    );
    let company = |company: &Value| -> Result<Company> {
        let users = array(company, "users")?.iter().filter_map(|id| id.as_str().map(str::to_owned)).collect();
        Ok(Company { id: string(company, "id")?, occasion: string(company, "occasion")?, users })
    };
    Ok((provider, array(fixture, "companies")?.iter().map(company).collect::<Result<_>>()?))
}
