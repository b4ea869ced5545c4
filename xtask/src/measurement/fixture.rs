//! The data of the service under test: providers, a company, its users.

use anyhow::{Context, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use guerdon_test_harness::HttpsConnection;
use serde_json::{Value, json};

use super::service::RunningService;
use crate::workspace::string_field;

/// The points in the reserve of a company, more than any measurement spends.
const DEPOSIT_POINTS: &str = "1000000000";
/// The number of connections over which users are created.
const CLIENT_THREADS: usize = 8;

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
    pub(crate) fn create(service: &RunningService, callback_url: Option<&str>) -> Result<Self> {
        Self::create_named(service, "Bench", callback_url)
    }

    pub(crate) fn create_named(
        service: &RunningService,
        name: &str,
        callback_url: Option<&str>,
    ) -> Result<Self> {
        let mut arguments = vec!["provider", "create", "--name", name, "--manages-all-domain-resources"];
        arguments.extend(callback_url.iter().flat_map(|url| ["--callback-url", url]));
        let created = service.run_cli(&arguments)?;
        let credentials =
            format!("{}:{}", string_field(&created, "api_key")?, string_field(&created, "api_secret")?);
        Ok(Self::with_credentials(
            string_field(&created, "id")?,
            string_field(&created, "shared_secret")?,
            credentials,
        ))
    }

    /// Describes a provider that already exists.
    pub(crate) fn with_credentials(id: String, shared_secret: String, credentials: String) -> Self {
        let authorization = format!("Basic {}", BASE64.encode(&credentials));
        Self { id, shared_secret, credentials, authorization }
    }

    pub(crate) fn get_request(&self, path: &str) -> Vec<u8> {
        let authorization = &self.authorization;
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\r\n")
            .into_bytes()
    }

    pub(crate) fn post_request(&self, path: &str, body: &Value) -> Vec<u8> {
        self.post_with_key(path, body, None)
    }

    pub(crate) fn put_request(&self, path: &str, body: &Value) -> Vec<u8> {
        self.json_request("PUT", path, body, None)
    }

    pub(crate) fn put_text(&self, path: &str, body: &str) -> Vec<u8> {
        self.text_request("PUT", path, body, None)
    }

    pub(crate) fn post_with_key(&self, path: &str, body: &Value, key: Option<&str>) -> Vec<u8> {
        self.json_request("POST", path, body, key)
    }

    fn json_request(&self, method: &str, path: &str, body: &Value, key: Option<&str>) -> Vec<u8> {
        self.text_request(method, path, &body.to_string(), key)
    }

    fn text_request(&self, method: &str, path: &str, body: &str, key: Option<&str>) -> Vec<u8> {
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
    pub(crate) fn create(
        service: &RunningService,
        provider: &Provider,
        name: &str,
        users: usize,
    ) -> Result<Self> {
        let domain = format!("{name}.example");
        let mut connection = service.https().connect()?;
        let company = json!({
            "domain": domain, "company_name": name, "owner_email": format!("owner@{domain}"),
            "owner_name": "Olive Owner", "logo_url": format!("https://{domain}/logo.png"),
        });
        let id = create_object(&mut connection, &provider.post_request("/v1/companies", &company))?;
        let occasion = json!({
            "company_id": id, "name": "Thank you", "title": "Thank you!",
            "default_message": "Thank you for your help with the release of last week.",
        });
        let occasion = create_object(&mut connection, &provider.post_request("/v1/occasions", &occasion))?;
        service.run_cli(&["reserve", "deposit", &id, "--points", DEPOSIT_POINTS])?;
        let user = |number: usize| {
            json!({
                "company_id": id, "email": format!("user-{number}@{domain}"),
                "first_name": "Grace", "last_name": format!("Hopper {number}"),
            })
        };
        let create_users = |thread: usize| -> Result<Vec<String>> {
            let mut connection = service.https().connect()?;
            let numbers = (thread..users).step_by(CLIENT_THREADS);
            numbers
                .map(|number| {
                    create_object(&mut connection, &provider.post_request("/v1/users", &user(number)))
                })
                .collect()
        };
        let users = std::thread::scope(|scope| -> Result<Vec<String>> {
            let threads: Vec<_> =
                (0..CLIENT_THREADS).map(|thread| scope.spawn(move || create_users(thread))).collect();
            let mut users = Vec::new();
            for thread in threads {
                match thread.join() {
                    Ok(created) => users.extend(created?),
                    Err(_panic) => bail!("a thread that creates users panicked"),
                }
            }
            Ok(users)
        })?;
        Ok(Self { id, occasion, users })
    }

    /// Returns a recognition of one point from the company to each of `receivers`.
    pub(crate) fn company_recognition(&self, receivers: &[String]) -> Value {
        self.recognition_body("company", &self.id, receivers)
    }

    /// Returns a recognition of one point from the company to one of the users.
    pub(crate) fn company_recognition_to(&self, receiver: usize) -> Value {
        self.recognition_body("company", &self.id, &[self.user_id(receiver).to_owned()])
    }

    /// Returns a recognition of one point from a user to `receivers` others. The users form a circle, and the
    /// receivers start `offset` after the next user.
    pub(crate) fn user_recognition(&self, sender: usize, offset: usize, receivers: usize) -> Value {
        let others = self.users.len().saturating_sub(1).max(1);
        let next = |number: usize| self.user_id(sender + 1 + (offset + number) % others).to_owned();
        let receivers: Vec<String> = (0..receivers).map(next).collect();
        self.recognition_body("user", self.user_id(sender), &receivers)
    }

    /// Returns a recognition of one point from a pseudo-random user to pseudo-random others of the company.
    pub(crate) fn random_recognition(&self, connection: usize, count: usize, receivers: usize) -> Value {
        let random = (connection << 40 | count).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.user_recognition(random >> 44, (random >> 20) & 0xFF_FFFF, receivers)
    }

    pub(crate) fn user_id(&self, number: usize) -> &str {
        self.users.get(number % self.users.len()).map_or("", String::as_str)
    }

    fn recognition_body(&self, sender_type: &str, sender: &str, receivers: &[String]) -> Value {
        json!({
            "occasion_id": self.occasion, "sender_type": sender_type, "sender_id": sender,
            "receiver_ids": receivers.join(","), "points_per_receiver": 1,
        })
    }

    /// Sends one recognition from the company to each of its users, `rounds` times.
    pub(crate) fn recognize_all_users(
        &self,
        service: &RunningService,
        provider: &Provider,
        rounds: usize,
    ) -> Result<()> {
        let mut connection = service.https().connect()?;
        let request = provider.post_request("/v1/recognitions", &self.company_recognition(&self.users));
        for _ in 0..rounds {
            connection.expect_status(201, &request)?;
        }
        Ok(())
    }
}

/// Creates an object and returns its id.
pub(crate) fn create_object(connection: &mut HttpsConnection, request: &[u8]) -> Result<String> {
    let body = connection.expect_status(201, request)?;
    let id = first_id(&body).context("a response without an id")?;
    ensure!(id.len() == 36, "`{id}` is not an id");
    Ok(id)
}

/// Returns the first `"id"` in a JSON string.
pub(crate) fn first_id(json: &[u8]) -> Option<String> {
    let start = json.windows(6).position(|window| window == b"\"id\":\"")?;
    let id = json.get(start + 6..start + 42)?;
    String::from_utf8(id.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::first_id;

    #[test]
    fn an_event_and_its_recognition_have_the_same_first_id() {
        let id = "01a1fdd4-8a51-741c-a29d-73192bacd34c";
        let response = format!(r#"{{"recognitions":[{{"id":"{id}","x":1}}]}}"#);
        let event = format!(r#"{{"type":"recognition.received","data":{{"id":"{id}","occasion_id":"o"}}}}"#);
        assert_eq!(first_id(response.as_bytes()), first_id(event.as_bytes()));
        assert_eq!(first_id(response.as_bytes()).as_deref(), Some(id));
        assert_eq!(first_id(b"{}"), None);
    }
}
