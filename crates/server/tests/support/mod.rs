//! The real binary, started on a separate database and data folder for each test, and a client that speaks TLS to it.

pub mod browser;
pub mod conformity;
pub mod proxy;
pub mod receiver;
pub mod schema;
pub mod scribe;
pub mod service;
pub mod wire;
pub mod world;

use std::time::{Duration, Instant};

use guerdon_persistence::testing::each;
use serde_json::{Value, json};
use service::{Answer, Provider, Service};

/// Starts the service on every database of this run. Afterwards `verify` must find the ledger sound.
pub fn on_each(test: impl Fn(&mut Service)) {
    on_each_with(&[], test);
}

/// Like `on_each`, with settings as environment variables.
pub fn on_each_with(settings: &[(&str, &str)], test: impl Fn(&mut Service)) {
    for database in each() {
        let mut service = Service::start(database, settings);
        test(&mut service);
        assert_eq!(service.guerdon(&["verify"]).status, 0, "on {}", service.database.url);
    }
}

/// A company with its users and an occasion, created through the API.
pub struct Sample {
    pub provider: Provider,
    pub company: String,
    pub occasion: String,
    pub users: Vec<String>,
}

impl Sample {
    pub fn make(service: &Service, users: usize) -> Self {
        let provider = service.provider("Sample", true);
        let domain = format!("{}.example.com", provider.id);
        Self::in_domain(service, provider, &domain, users)
    }

    pub fn in_domain(service: &Service, provider: Provider, domain: &str, users: usize) -> Self {
        let company = created(service.post(&provider, "/v1/companies", &company_body(domain)));
        let occasion = created(service.post(&provider, "/v1/occasions", &occasion_body(&company)));
        let users = (0..users)
            .map(|n| created(service.post(&provider, "/v1/users", &user_body(&company, &format!("u{n}")))))
            .collect();
        Self { provider, company, occasion, users }
    }

    pub fn deposit(&self, service: &Service, points: i64) {
        service.json(&["reserve", "deposit", &self.company, "--points", &points.to_string()]);
    }

    /// Adds points to the peer wallets of all users.
    pub fn fund(&self, service: &Service, points: i64) {
        self.deposit(service, points * i64::try_from(self.users.len()).unwrap());
        let points = points.to_string();
        let mut words =
            vec!["distribution", "run", &self.company, "--wallet", "peer_wallet", "--points", &points];
        words.extend(self.users.iter().flat_map(|user| ["--user", user.as_str()]));
        service.json(&words);
    }

    pub fn recognition(&self, sender_type: &str, sender: &str, receivers: &[&str], points: i64) -> Value {
        json!({
            "occasion_id": self.occasion,
            "sender_type": sender_type,
            "sender_id": sender,
            "receiver_ids": receivers.join(","),
            "points_per_receiver": points,
        })
    }

    pub fn send(&self, service: &Service, sender: &str, receivers: &[&str], points: i64) -> Answer {
        let kind = if sender == self.company { "company" } else { "user" };
        let body = self.recognition(kind, sender, receivers, points);
        service.post(&self.provider, "/v1/recognitions", &body)
    }

    /// The points of a wallet.
    pub fn shows(&self, service: &Service, user: &str, wallet: &str) -> Option<i64> {
        let answer = service.get(&self.provider, &format!("/v1/users/{user}/balances"));
        let wallets = answer.json()["wallets"].clone();
        let found = wallets.as_array().unwrap().iter().find(|row| row["type"] == wallet)?;
        found["points"].as_i64()
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

/// A provider's first event in the feed, as soon as no other event can precede it.
pub fn first_event(service: &Service, provider: &Provider) -> Value {
    until("an event should be in the feed", || {
        service.get(provider, "/v1/events").json()["events"].get(0).cloned()
    })
}

/// Polls until `ask` returns a result.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5)); // tidy: polls another process
    }
}

/// The id of the created object.
pub fn created(answer: Answer) -> String {
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer.json()["id"].as_str().unwrap().to_owned()
}
