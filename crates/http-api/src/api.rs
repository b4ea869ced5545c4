//! What the API needs from the program that starts it.

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

/// Rate limits; 0 disables a limit (behaviour 20).
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Requests per second of a provider.
    pub requests_per_second: u32,
    /// Burst of requests of a provider.
    pub burst: u32,
    /// Failed logins per minute for an address and an API key; five times as many for an address.
    pub failed_logins_per_minute: u32,
}

/// Limits of open connections (behaviour 2.8).
#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    /// Of all clients.
    pub in_all: usize,
    /// Of one IPv4 address, or one IPv6 network of 64 bits. Trusted proxies are exempt.
    pub of_one_address: usize,
}

/// Where TLS ends (behaviour 2.1).
#[derive(Debug, Clone)]
pub enum Transport {
    /// In this service.
    Tls,
    /// At a proxy, which forwards plain HTTP.
    Proxy {
        /// Proxies whose forwarding headers are trusted.
        trusted: Vec<IpNet>,
    },
}

/// Compares API secrets with their stored hashes.
pub trait VerifySecret: Send + Sync {
    /// Whether the secret matches the hash. The time does not depend on the hash.
    fn matches(&self, secret: &str, hash: &[u8]) -> bool;
}

/// Switches that change while the API runs.
#[derive(Debug, Default)]
pub struct Gate {
    maintenance: AtomicBool,
    draining: AtomicBool,
}

impl Gate {
    /// Neither in maintenance nor draining.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Whether every request receives 503.
    pub fn maintenance(&self) -> bool {
        self.maintenance.load(Ordering::Relaxed)
    }

    /// Turns maintenance mode on or off, effective with the next request.
    pub fn set_maintenance(&self, on: bool) {
        self.maintenance.store(on, Ordering::Relaxed);
    }

    /// Whether responses close their connections, so that clients move to another instance before a stop.
    pub fn draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Turns draining on or off, effective with the next response.
    pub fn set_draining(&self, on: bool) {
        self.draining.store(on, Ordering::Relaxed);
    }
}

/// A version of the API that will be retired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sunset {
    /// Such as `v1`.
    pub version: String,
    /// The first day on which the version may be gone.
    pub day: Date,
}

impl Sunset {
    /// Whether a path belongs to this version.
    pub(crate) fn is_of(&self, path: &str) -> bool {
        path.strip_prefix('/').and_then(|rest| rest.split('/').next()) == Some(&self.version)
    }

    /// Adds the headers `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). A version with a sunset date counts as deprecated.
    pub(crate) fn tell(&self, headers: &mut HeaderMap) {
        headers.insert(HeaderName::from_static("deprecation"), HeaderValue::from_static("@0"));
        let day = HttpDate::from(SystemTime::from(self.day.midnight().assume_utc())).to_string();
        if let Ok(day) = HeaderValue::from_str(&day) {
            headers.insert(HeaderName::from_static("sunset"), day);
        }
    }
}

/// The key of the page that browsers receive for unknown paths. The page is not served under this path.
pub const NOT_FOUND_PATH: &str = "/404";

/// A public page (behaviour 2.10).
#[derive(Debug, Clone)]
pub struct Page {
    /// Such as `/docs`.
    pub path: String,
    /// Including the charset.
    pub content_type: &'static str,
    /// The contents.
    pub body: Bytes,
    /// The contents, compressed with gzip.
    pub gzipped: Bytes,
}

/// What the API needs to run.
pub struct Api {
    /// The store for reads and for writes that do not move points.
    pub store: Arc<dyn Store>,
    /// The queue for commands that move points.
    pub commands: Arc<dyn CommandQueue>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    /// Renders event bodies.
    pub bodies: Arc<dyn EventBodies>,
    /// Compares API secrets.
    pub secrets: Arc<dyn VerifySecret>,
    /// Maintenance and draining.
    pub gate: Arc<Gate>,
    /// The health of the database.
    pub pulse: Arc<Pulse>,
    /// How long responses are stored under their `Idempotency-Key`.
    pub answers_kept: Duration,
    /// Counts responses.
    pub traffic: Arc<Traffic>,
    pub limits: Limits,
    pub connections: ConnectionLimits,
    /// How long an authenticated connection may be idle.
    pub keep_alive: Duration,
    /// Where TLS ends.
    pub transport: Transport,
    /// The address of the service in SAML audiences, without a trailing slash.
    pub service_url: Arc<str>,
    /// Versions that respond with 410, such as `v0`.
    pub retired_versions: Vec<String>,
    /// Versions with a date of removal.
    pub sunsets: Vec<Sunset>,
    /// Public pages under `/docs` and `/openapi.json`, and that of [`NOT_FOUND_PATH`]; rendered at the first request for one.
    pub pages: LazyLock<Vec<Page>>,
    /// The level at which each request is logged.
    pub request_lines: log::Level,
}
