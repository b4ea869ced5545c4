//! The real binary, started on a separate database and data folder for each test, and a client that speaks TLS to it.

pub mod body_normalizer;
pub mod browser;
pub mod fixture_templates;
pub mod openapi_conformance;
pub mod provider_fixture;
pub mod receiver;
pub mod schema;
pub mod service;

use std::num::NonZero;
use std::time::{Duration, Instant, SystemTime};

use guerdon_domain::audit::{AuditOptions, Unpaced, verify_rows};
use guerdon_domain::ports::Timestamp;
use guerdon_persistence::Access;
use guerdon_persistence::testing::{self, TestDatabase, create_databases};
use guerdon_webhook_dispatcher::{Bodies, RetrySchedule};
use serde_json::{Value, json};
use service::{ApiResponse, ProviderCredentials, TestService};

/// Added to the longest wait of the retry schedule, as the command `verify` does.
const DAY: Duration = Duration::from_secs(86_400);

/// Starts the service on every database of this run. Afterwards, the database must be consistent.
pub fn for_each_database(test: impl Fn(&mut TestService)) {
    for_each_database_with(&[], test);
}

/// Like `for_each_database`, with settings as environment variables.
pub fn for_each_database_with(settings: &[(&str, &str)], test: impl Fn(&mut TestService)) {
    for database in create_databases() {
        let mut service = TestService::start(database, settings);
        test(&mut service);
        assert_consistent(&service);
    }
}

/// Fails if the rows of the database are inconsistent. On PostgreSQL they are verified in this process: the command
/// `verify` also checks the schema, which takes longer than many tests.
#[expect(clippy::disallowed_methods, reason = "the service has the machine's clock too")]
fn assert_consistent(service: &TestService) {
    let url = &service.database.url;
    if service.database.is_embedded() {
        assert_eq!(service.run_command(&["verify"]).status, 0, "on {url}");
        return;
    }
    let store = guerdon_persistence::open(&service.database.database_url(), Access::Command).unwrap();
    let now = Timestamp::new(SystemTime::now().into());
    let next_attempt_wait_max =
        RetrySchedule::default().waits_by_failed_attempts().into_iter().max().unwrap() + DAY;
    let options = AuditOptions {
        head: None,
        bodies: &Bodies,
        now,
        next_attempt_wait_max,
        statement_duration_max: None,
        pacer: &Unpaced,
    };
    let report = verify_rows(&*store, &options, NonZero::<usize>::MIN).unwrap();
    assert_eq!(report.violations, [], "on {url}");
}

/// A company with its users and an occasion, created through the API.
pub struct SampleCompany {
    pub provider: ProviderCredentials,
    pub company: String,
    pub occasion: String,
    pub users: Vec<String>,
}

impl SampleCompany {
    pub fn create(service: &TestService, users: usize) -> Self {
        let provider = service.create_provider("Sample", true);
        let domain = format!("{}.example.com", provider.id);
        Self::create_in_domain(service, provider, &domain, users)
    }

    pub fn create_in_domain(
        service: &TestService,
        provider: ProviderCredentials,
        domain: &str,
        users: usize,
    ) -> Self {
        let company = created_id(service.post(&provider, "/v1/companies", &company_body(domain)));
        let occasion = created_id(service.post(&provider, "/v1/occasions", &occasion_body(&company)));
        let users = (0..users)
            .map(|n| created_id(service.post(&provider, "/v1/users", &user_body(&company, &format!("u{n}")))))
            .collect();
        Self { provider, company, occasion, users }
    }

    pub fn deposit_points(&self, service: &TestService, points: i64) {
        service.run_json_command(&["reserve", "deposit", &self.company, "--points", &points.to_string()]);
    }

    /// Adds points to the peer wallets of all users.
    pub fn fund_peer_wallets(&self, service: &TestService, points: i64) {
        self.deposit_points(service, points * i64::try_from(self.users.len()).unwrap());
        let points = points.to_string();
        let mut words =
            vec!["distribution", "run", &self.company, "--wallet", "peer_wallet", "--points", &points];
        words.extend(self.users.iter().flat_map(|user| ["--user", user.as_str()]));
        service.run_json_command(&words);
    }

    pub fn recognition_body(
        &self,
        sender_type: &str,
        sender: &str,
        receivers: &[&str],
        points: i64,
    ) -> Value {
        json!({
            "occasion_id": self.occasion,
            "sender_type": sender_type,
            "sender_id": sender,
            "receiver_ids": receivers.join(","),
            "points_per_receiver": points,
        })
    }

    pub fn send_recognition(
        &self,
        service: &TestService,
        sender: &str,
        receivers: &[&str],
        points: i64,
    ) -> ApiResponse {
        let kind = if sender == self.company { "company" } else { "user" };
        let body = self.recognition_body(kind, sender, receivers, points);
        service.post(&self.provider, "/v1/recognitions", &body)
    }

    /// The points of a wallet.
    pub fn read_balance(&self, service: &TestService, user: &str, wallet: &str) -> Option<i64> {
        let response = service.get(&self.provider, &format!("/v1/users/{user}/balances"));
        let wallets = response.json()["wallets"].clone();
        let wallet_row = wallets.as_array().unwrap().iter().find(|row| row["type"] == wallet)?;
        wallet_row["points"].as_i64()
    }
}

pub fn company_body(domain: &str) -> Value {
    json!({
        "domain": domain,
        "company_name": "Example",
        "owner_email": "olive@example.com",
        "owner_name": "Olive Owner",
        "logo_url": "https://example.com/logo.png",
    })
}

pub fn occasion_body(company: &str) -> Value {
    json!({
        "company_id": company,
        "name": "Great job",
        "title": "You did a great job",
        "default_message": "Thank you",
    })
}

pub fn user_body(company: &str, name: &str) -> Value {
    json!({
        "company_id": company,
        "email": format!("{name}@example.com"),
        "first_name": name,
        "last_name": "Doe",
    })
}

/// Waits until no other event can precede a provider's first event in the feed. Returns that event.
pub fn wait_for_first_event(service: &TestService, provider: &ProviderCredentials) -> Value {
    wait_until("an event should be in the feed", || {
        service.get(provider, "/v1/events").json()["events"].get(0).cloned()
    })
}

/// Calls `ask` repeatedly until it returns a result.
pub fn wait_until<T>(what: &str, ask: impl FnMut() -> Option<T>) -> T {
    wait_at_most(Duration::from_secs(60), what, ask)
}

/// Calls `ask` repeatedly until it returns a result. Panics with `what` after the limit.
pub fn wait_at_most<T>(limit: Duration, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(response) = ask() {
            return response;
        }
        assert!(started.elapsed() < limit, "{what}");
        std::thread::sleep(Duration::from_millis(5)); // tidy: polls another process
    }
}

/// The id of the created object.
pub fn created_id(response: ApiResponse) -> String {
    assert_eq!(response.status, 201, "{}", response.body);
    response.json()["id"].as_str().unwrap().to_owned()
}

/// Like `for_each_database`, for a test of the embedded database only.
pub fn run_on_sqlite(test: impl FnOnce(&mut TestService)) {
    if let Some(database) = testing::sqlite_if_covered() {
        run_on(database, test);
    }
}

/// Like `for_each_database`, for a test of PostgreSQL only.
pub fn run_on_postgres(test: impl FnOnce(&mut TestService)) {
    if let Some(database) = testing::postgres_if_covered() {
        run_on(database, test);
    }
}

fn run_on(database: TestDatabase, test: impl FnOnce(&mut TestService)) {
    let mut service = TestService::start(database, &[]);
    test(&mut service);
    assert_consistent(&service);
}

/// A new database for a test that behaves the same on both kinds: SQLite, unless this run does not cover it.
pub fn create_any_database() -> TestDatabase {
    if testing::covers_sqlite() { testing::create_sqlite() } else { testing::create_postgres() }
}
