//! The data of the service under test: providers, a company, its users.

use anyhow::{Context, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use super::https::Connection;
use super::service::Service;
use super::wire::first_id;
use crate::workspace::text;

/// More than any measurement spends.
const DEPOSIT: &str = "1000000000";
/// The number of connections over which users are created.
const HANDS: usize = 8;

/// A provider and its credentials.
pub(crate) struct Provider {
    pub(crate) id: String,
    pub(crate) shared_secret: String,
    /// Key and secret, separated by a colon.
    pub(crate) credentials: String,
    authorization: String,
}

/// A company with points in its reserve, an occasion and users.
pub(crate) struct Company {
    pub(crate) id: String,
    pub(crate) occasion: String,
    pub(crate) users: Vec<String>,
}

impl Provider {
    pub(crate) fn create(service: &Service, callback_url: Option<&str>) -> Result<Self> {
        let mut arguments = vec!["provider", "create", "--name", "Bench", "--manages-all-domain-resources"];
        arguments.extend(callback_url.iter().flat_map(|url| ["--callback-url", url]));
        let made = service.operate(&arguments)?;
        let credentials = format!("{}:{}", text(&made, "api_key")?, text(&made, "api_secret")?);
        Ok(Self::known(text(&made, "id")?, text(&made, "shared_secret")?, credentials))
    }

    /// Describes a provider that exists already.
    pub(crate) fn known(id: String, shared_secret: String, credentials: String) -> Self {
        let authorization = format!("Basic {}", BASE64.encode(&credentials));
        Self { id, shared_secret, credentials, authorization }
    }

    pub(crate) fn get(&self, path: &str) -> Vec<u8> {
        let authorization = &self.authorization;
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\r\n")
            .into_bytes()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Vec<u8> {
        self.post_with_key(path, body, None)
    }

    pub(crate) fn put(&self, path: &str, body: &Value) -> Vec<u8> {
        self.with_body("PUT", path, body, None)
    }

    pub(crate) fn put_text(&self, path: &str, body: &str) -> Vec<u8> {
        self.with_text("PUT", path, body, None)
    }

    pub(crate) fn post_with_key(&self, path: &str, body: &Value, key: Option<&str>) -> Vec<u8> {
        self.with_body("POST", path, body, key)
    }

    fn with_body(&self, method: &str, path: &str, body: &Value, key: Option<&str>) -> Vec<u8> {
        self.with_text(method, path, &body.to_string(), key)
    }

    fn with_text(&self, method: &str, path: &str, body: &str, key: Option<&str>) -> Vec<u8> {
        let authorization = &self.authorization;
        let key = key.map(|key| format!("Idempotency-Key: {key}\r\n")).unwrap_or_default();
        format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n{key}\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }
}

impl Company {
    /// Creates a company with this many users and deposits points into its reserve.
    pub(crate) fn create(service: &Service, provider: &Provider, name: &str, users: usize) -> Result<Self> {
        let domain = format!("{name}.example");
        let mut connection = service.https().connect()?;
        let company = json!({
            "domain": domain, "company_name": name, "owner_email": format!("owner@{domain}"),
            "owner_name": "Olive Owner", "logo_url": format!("https://{domain}/logo.png"),
        });
        let id = create(&mut connection, &provider.post("/v1/companies", &company))?;
        let occasion = json!({
            "company_id": id, "name": "Thank you", "title": "Thank you!",
            "default_message": "Thank you for your help with the release of last week.",
        });
        let occasion = create(&mut connection, &provider.post("/v1/occasions", &occasion))?;
        service.operate(&["reserve", "deposit", &id, "--points", DEPOSIT])?;
        let user = |number: usize| {
            json!({
                "company_id": id, "email": format!("user-{number}@{domain}"),
                "first_name": "Grace", "last_name": format!("Hopper {number}"),
            })
        };
        let make = |hand: usize| -> Result<Vec<String>> {
            let mut connection = service.https().connect()?;
            let numbers = (hand..users).step_by(HANDS);
            numbers
                .map(|number| create(&mut connection, &provider.post("/v1/users", &user(number))))
                .collect()
        };
        let users = std::thread::scope(|scope| -> Result<Vec<String>> {
            let hands: Vec<_> = (0..HANDS).map(|hand| scope.spawn(move || make(hand))).collect();
            let mut users = Vec::new();
            for hand in hands {
                match hand.join() {
                    Ok(made) => users.extend(made?),
                    Err(_panic) => bail!("a thread that makes users panicked"),
                }
            }
            Ok(users)
        })?;
        Ok(Self { id, occasion, users })
    }

    /// Returns a recognition of one point from the company to each of `receivers`.
    pub(crate) fn thanks(&self, receivers: &[String]) -> Value {
        self.recognition("company", &self.id, receivers)
    }

    /// Returns a recognition of one point from the company to one of the users.
    pub(crate) fn thanks_to(&self, receiver: usize) -> Value {
        self.recognition("company", &self.id, &[self.user(receiver).to_owned()])
    }

    /// Returns a recognition of one point from a user to `receivers` others. The users form a circle, and the
    /// receivers start `steps` after the next user.
    pub(crate) fn thanks_of_user(&self, sender: usize, steps: usize, receivers: usize) -> Value {
        let others = self.users.len().saturating_sub(1).max(1);
        let next = |number: usize| self.user(sender + 1 + (steps + number) % others).to_owned();
        let receivers: Vec<String> = (0..receivers).map(next).collect();
        self.recognition("user", self.user(sender), &receivers)
    }

    /// Returns a recognition of one point from a pseudo-random user to pseudo-random others of the company.
    pub(crate) fn thanks_by_lot(&self, connection: usize, count: usize, receivers: usize) -> Value {
        let drawn = (connection << 40 | count).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.thanks_of_user(drawn >> 44, (drawn >> 20) & 0xFF_FFFF, receivers)
    }

    pub(crate) fn user(&self, number: usize) -> &str {
        self.users.get(number % self.users.len()).map_or("", String::as_str)
    }

    fn recognition(&self, sender_type: &str, sender: &str, receivers: &[String]) -> Value {
        json!({
            "occasion_id": self.occasion, "sender_type": sender_type, "sender_id": sender,
            "receiver_ids": receivers.join(","), "points_per_receiver": 1,
        })
    }

    /// Sends one recognition from the company to each of its users, `rounds` times.
    pub(crate) fn thank_everybody(
        &self,
        service: &Service,
        provider: &Provider,
        rounds: usize,
    ) -> Result<()> {
        let mut connection = service.https().connect()?;
        let request = provider.post("/v1/recognitions", &self.thanks(&self.users));
        for _ in 0..rounds {
            connection.expect(201, &request)?;
        }
        Ok(())
    }
}

/// Creates an object and returns its id.
pub(crate) fn create(connection: &mut Connection, request: &[u8]) -> Result<String> {
    let body = connection.expect(201, request)?;
    let id = first_id(&body).context("an answer without an id")?;
    ensure!(id.len() == 36, "`{id}` is no id");
    Ok(id)
}
