//! What the API is given by whoever starts it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue, HttpDate};
use actix_web::web::Bytes;
use guerdon_domain::commands::CommandQueue;
use guerdon_domain::ports::{Clock, EventBodies, Ids, Store};
use ipnet::IpNet;
use time::Date;

use crate::pulse::Pulse;
use crate::traffic::Traffic;

/// How much of what is let through; 0 turns a limit off (behaviour 20).
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Requests that a provider may make each second, for ever.
    pub requests_per_second: u32,
    /// Requests that a provider may make at once.
    pub burst: u32,
    /// Failed credentials a minute for an address and a key; five times as many for an address.
    pub failed_logins_per_minute: u32,
}

/// How many connections there may be at a time (behaviour 2.8).
#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    /// Of everybody.
    pub in_all: usize,
    /// Of one address, or one network of 64 bits in IPv6. Trusted proxies are not counted.
    pub of_one_address: usize,
}

/// How requests arrive (behaviour 2.1).
#[derive(Debug, Clone)]
pub enum Transport {
    /// Over TLS that ends here.
    Tls,
    /// In plain HTTP from a proxy where TLS ends.
    Proxy {
        /// Whose word on the protocol and the client's address is believed.
        trusted: Vec<IpNet>,
    },
}

/// Compares API secrets with their stored hashes.
pub trait VerifySecret: Send + Sync {
    /// Whether the secret is the one that was hashed. Takes the same time whatever the hash.
    fn matches(&self, secret: &str, hash: &[u8]) -> bool;
}

/// What is turned on and off while the API runs.
#[derive(Debug, Default)]
pub struct Gate {
    maintenance: AtomicBool,
    draining: AtomicBool,
}

impl Gate {
    /// Open: neither in maintenance nor draining.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Whether every request is answered 503.
    pub fn maintenance(&self) -> bool {
        self.maintenance.load(Ordering::Relaxed)
    }

    /// Turns maintenance on or off, from the next request on.
    pub fn set_maintenance(&self, on: bool) {
        self.maintenance.store(on, Ordering::Relaxed);
    }

    /// Whether answers close their connections, so that clients go elsewhere before a stop.
    pub fn draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Turns draining on or off, from the next answer on.
    pub fn set_draining(&self, on: bool) {
        self.draining.store(on, Ordering::Relaxed);
    }
}

/// A version of the API that will be retired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sunset {
    /// Such as `v1`.
    pub version: String,
    /// The first day on which it need not answer any more.
    pub day: Date,
}

impl Sunset {
    /// Whether a path is of this version.
    pub(crate) fn is_of(&self, path: &str) -> bool {
        path.strip_prefix('/').and_then(|it| it.split('/').next()) == Some(&self.version)
    }

    /// Says so in an answer's headers: `Deprecation` (RFC 9745), which a listed version is already, and `Sunset` (RFC 8594).
    pub(crate) fn tell(&self, headers: &mut HeaderMap) {
        headers.insert(HeaderName::from_static("deprecation"), HeaderValue::from_static("@0"));
        let day = HttpDate::from(SystemTime::from(self.day.midnight().assume_utc())).to_string();
        if let Ok(day) = HeaderValue::from_str(&day) {
            headers.insert(HeaderName::from_static("sunset"), day);
        }
    }
}

/// The path of the page that a browser is shown under unknown paths. The page itself is not served there.
pub const NOT_FOUND_PATH: &str = "/404";

/// A page that everybody may read without credentials (behaviour 2.10).
#[derive(Debug, Clone)]
pub struct Page {
    /// Such as `/docs`.
    pub path: String,
    /// With its charset.
    pub content_type: &'static str,
    /// What it says.
    pub body: Bytes,
    /// The same, compressed by gzip.
    pub gzipped: Bytes,
}

/// Everything the API needs.
pub struct Api {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// Where commands that move points are submitted.
    pub commands: Arc<dyn CommandQueue>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    /// Renders events.
    pub bodies: Arc<dyn EventBodies>,
    /// Compares API secrets.
    pub secrets: Arc<dyn VerifySecret>,
    /// Maintenance and draining.
    pub gate: Arc<Gate>,
    /// Whether the database answers.
    pub pulse: Arc<Pulse>,
    /// For how long an answer is kept under its `Idempotency-Key`.
    pub answers_kept: Duration,
    /// Counts what is answered.
    pub traffic: Arc<Traffic>,
    pub limits: Limits,
    pub connections: ConnectionLimits,
    /// How long a connection may be idle that somebody with right credentials uses.
    pub keep_alive: Duration,
    /// How requests arrive.
    pub transport: Transport,
    /// The address of the service in SAML audiences, without a trailing slash.
    pub service_url: Arc<str>,
    /// Versions that answer 410, such as `v0`.
    pub retired_versions: Vec<String>,
    /// Versions that say in each answer when they end.
    pub sunsets: Vec<Sunset>,
    /// Pages that need no credentials, under `/docs` and `/openapi.json`, and the one of [`NOT_FOUND_PATH`]; made when the
    /// first is asked for.
    pub pages: LazyLock<Vec<Page>>,
    /// At which level each answered request leaves a log line.
    pub request_lines: log::Level,
}
