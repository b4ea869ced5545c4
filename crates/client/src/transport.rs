//! Requests, repeated where that may help, and never with an effect twice.

use std::thread::sleep; // tidy: between two attempts
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::Agent;
use ureq::http::{Request, Response};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use uuid::Uuid;

use crate::error::{Error, is_lasting};

const ATTEMPTS: u32 = 6;
/// An attempt has so long in all.
const WITHIN: Duration = Duration::from_secs(30);
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// The longest that `Retry-After` is heeded for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The most bytes of a response, unless the client is given another limit.
const RESPONSE_MAX_BYTES: u64 = 256 << 20;
/// The most characters of a response that is no refusal of this API, as an error shows them.
const SHOWN_CHARACTERS_MAX: usize = 1_000;
/// Refusals that may be none the next time; 502 and 504 are a proxy's.
const TRANSIENT: [u16; 5] = [429, 500, 502, 503, 504];
/// What stands before each path.
const VERSION: &str = "/v1";

/// What the operator hands out for a provider.
#[derive(Clone)]
pub struct Credentials {
    /// `gk_…`
    pub api_key: String,
    /// `gs_…`
    pub api_secret: String,
}

/// A client of one service, as one provider. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    base: String,
    authorization: String,
    response_max_bytes: u64,
}

impl Client {
    /// For a service whose certificate the usual authorities vouch for; `base` is its address, such as
    /// `https://guerdon.example`, with the version or without.
    pub fn new(base: &str, credentials: &Credentials) -> Self {
        Self::with(base, credentials, TlsConfig::builder().build())
    }

    /// For a service with one of these certificates, in PEM, or one that they vouch for; no other is trusted.
    ///
    /// # Errors
    ///
    /// [`Error::Certificate`] where there is none among them.
    pub fn trusting(base: &str, credentials: &Credentials, pem: &[u8]) -> Result<Self, Error> {
        let mut certificates = Vec::new();
        for item in parse_pem(pem) {
            // What else may stand in the file, such as a key, is none of the client's.
            if let PemItem::Certificate(certificate) =
                item.map_err(|it| Error::Certificate(it.to_string()))?
            {
                certificates.push(certificate);
            }
        }
        if certificates.is_empty() {
            return Err(Error::Certificate("the file holds none".to_owned()));
        }
        let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&certificates));
        Ok(Self::with(base, credentials, tls.build()))
    }

    fn with(base: &str, credentials: &Credentials, tls: TlsConfig) -> Self {
        let agent = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(WITHIN))
            .build()
            .into();
        let Credentials { api_key, api_secret } = credentials;
        let authorization = format!("Basic {}", STANDARD.encode(format!("{api_key}:{api_secret}")));
        let base = base.trim_end_matches('/');
        let base = base.strip_suffix(VERSION).unwrap_or(base).trim_end_matches('/').to_owned();
        Self { agent, base, authorization, response_max_bytes: RESPONSE_MAX_BYTES }
    }

    /// The same client with another limit than 256 MiB on each response, which is held in memory. Responses beyond it are an
    /// [`Error::TooLarge`].
    #[must_use]
    pub fn with_response_max_bytes(self, response_max_bytes: u64) -> Self {
        Self { response_max_bytes, ..self }
    }

    /// The address of the service, the same however it was written: no version, no slash at its end.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// What a GET answers; `path` begins behind the version: `/companies`.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        Ok(serde_json::from_str(&self.call("GET", path, None, None)?)?)
    }

    /// What a POST answers, under a key of its own.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Error> {
        let random = random::<16>().ok_or(Error::Randomness)?;
        self.post_keyed(path, body, &uuid::Builder::from_random_bytes(random).into_uuid().to_string())
    }

    /// The same under a key that the caller has kept (behaviour 19), so that it may ask again after a crash.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub fn post_keyed<T: DeserializeOwned>(&self, path: &str, body: &Value, key: &str) -> Result<T, Error> {
        Ok(serde_json::from_str(&self.call("POST", path, Some(body), Some(key))?)?)
    }

    /// What a PUT answers.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub fn put<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Error> {
        Ok(serde_json::from_str(&self.call("PUT", path, Some(body), None)?)?)
    }

    /// Deletes an object; one that was deleted before may be no longer there, which is an [`Error::Refused`].
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub fn delete(&self, path: &str) -> Result<(), Error> {
        self.call("DELETE", path, None, None).map(drop)
    }

    /// One request, and its repeats.
    fn call(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Result<String, Error> {
        let body = body.map(Value::to_string);
        let mut wait = FIRST_WAIT;
        let mut attempt = 0;
        loop {
            attempt += 1;
            let is_last = attempt == ATTEMPTS;
            let asked = match self.once(method, path, body.as_deref(), key) {
                Ok(answer) if answer.status < 300 => return Ok(answer.body),
                Ok(answer) if is_last || !TRANSIENT.contains(&answer.status) => {
                    return Err(answer.refusal());
                }
                Ok(answer) => answer.retry_after,
                Err(error) if is_last || is_lasting(&error) => return Err(error.into()),
                Err(_) => Duration::ZERO,
            };
            sleep(asked.min(LONGEST_WAIT).max(spread(wait)));
            wait *= 2;
        }
    }

    fn once(
        &self,
        method: &str,
        path: &str,
        body: Option<&str>,
        key: Option<&str>,
    ) -> Result<Answer, ureq::Error> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{VERSION}{path}", self.base))
            .header("Authorization", &self.authorization);
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        let mut response = match body {
            Some(body) => {
                self.agent.run(request.header("Content-Type", "application/json").body(body.to_owned())?)?
            }
            None => self.agent.run(request.body(())?)?,
        };
        let body = response.body_mut().with_config().limit(self.response_max_bytes).read_to_string()?;
        let header = |name: &str| text(&response, name);
        Ok(Answer {
            status: response.status().as_u16(),
            retry_after: Duration::from_secs(header("retry-after").parse().unwrap_or_default()),
            request_id: header("x-request-id"),
            location: header("location"),
            body,
        })
    }
}

fn text<B>(response: &Response<B>, name: &str) -> String {
    response.headers().get(name).and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned()
}

struct Answer {
    status: u16,
    retry_after: Duration,
    request_id: String,
    location: String,
    body: String,
}

impl Answer {
    fn refusal(self) -> Error {
        let told = serde_json::from_str::<Value>(&self.body).ok();
        let message = told.as_ref().and_then(|it| it.pointer("/error/message")?.as_str());
        let message = match message {
            Some(message) => message.to_owned(),
            // Nothing is followed: the credentials are for this address, and the service never sends anybody elsewhere.
            None if !self.location.is_empty() => format!("it leads elsewhere, to {}", self.location),
            None => self.body.chars().take(SHOWN_CHARACTERS_MAX).collect(),
        };
        Error::Refused { status: self.status, message, request_id: self.request_id }
    }
}

/// A random part of a wait, so that many clients do not come back at once.
fn spread(wait: Duration) -> Duration {
    match random() {
        Some(bytes) => wait.mul_f64(f64::from(u32::from_ne_bytes(bytes)) / f64::from(u32::MAX)),
        None => wait,
    }
}

fn random<const LENGTH: usize>() -> Option<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes)
}

/// An id as a path names it.
pub(crate) fn place(collection: &str, id: Uuid) -> String {
    format!("/{collection}/{id}")
}
