//! What the API needs from the program that starts it.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue, HttpDate};
use actix_web::web::Bytes;
use guerdon_domain::commands::{CommandQueue, ContextSources};
use guerdon_domain::ports::Store;
use ipnet::IpNet;
use time::Date;
use tokio::sync::Notify;

use crate::failed_request_buffer::FailedRequestBuffer;
use crate::feed_signal::FeedSignal;
use crate::health::DatabaseHealth;
use crate::request_statistics::RequestStatistics;

/// Rate limits; 0 disables a limit (behaviour 20).
#[derive(Debug, Clone, Copy)]
pub struct RateLimits {
    /// Requests per second of a provider.
    pub requests_per_second: u32,
    /// Burst of requests of a provider.
    pub burst: u32,
    /// Failed logins per minute from one address with one API key. The limit of an address for all its keys together is
    /// five times as high.
    pub failed_logins_per_minute: u32,
}

/// Limits of open connections (behaviour 2.8).
#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    /// The maximum number of open connections of all clients together.
    pub total: usize,
    /// The maximum number of open connections of one IPv4 address or one IPv6 /64 network. Trusted proxies are exempt.
    pub per_address: usize,
}

/// How requests reach the service (behaviour 2.1).
#[derive(Debug, Clone)]
pub struct Transport {
    /// Whether this service terminates TLS. Otherwise a trusted proxy does, and forwards plain HTTP.
    pub terminates_tls: bool,
    /// Proxies whose forwarding headers are trusted.
    pub trusted_proxies: Vec<IpNet>,
}

/// Compares API secrets with their stored hashes.
pub trait SecretVerifier: Send + Sync {
    /// Whether the secret matches the hash. The comparison takes the same time for every hash.
    fn verify_secret(&self, secret: &str, hash: &[u8]) -> bool;
}

/// Switches that change while the API runs.
#[derive(Debug, Default)]
pub struct ServiceState {
    maintenance: AtomicBool,
    draining: AtomicBool,
    /// Notified when maintenance mode or draining is turned on.
    interruption: Notify,
}

impl ServiceState {
    /// Whether every request receives 503.
    pub fn is_in_maintenance(&self) -> bool {
        self.maintenance.load(Ordering::Relaxed)
    }

    /// Turns maintenance mode on or off, effective with the next request.
    pub fn set_maintenance(&self, on: bool) {
        self.maintenance.store(on, Ordering::Relaxed);
        self.notify_if(on);
    }

    /// Whether responses close their connections, so that clients move to another instance before a stop.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Turns draining on or off, effective with the next response.
    pub fn set_draining(&self, on: bool) {
        self.draining.store(on, Ordering::Relaxed);
        self.notify_if(on);
    }

    /// Completes when maintenance mode or draining is turned on: waiting requests end then.
    pub(crate) async fn interrupted(&self) {
        let mut interruption = pin!(self.interruption.notified());
        interruption.as_mut().enable(); // before the check, so that no notification is missed
        if !self.is_in_maintenance() && !self.is_draining() {
            interruption.await;
        }
    }

    fn notify_if(&self, on: bool) {
        if on {
            self.interruption.notify_waiters();
        }
    }
}

/// A version of the API that will be retired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sunset {
    /// For example `v1`.
    pub version: String,
    /// The first day on which the version may be removed.
    pub day: Date,
}

impl Sunset {
    /// Adds the headers `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). A version with a sunset date counts as
    /// deprecated.
    pub(crate) fn add_headers(&self, headers: &mut HeaderMap) {
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
pub struct PublicPage {
    /// For example `/docs`.
    pub path: String,
    /// Including the charset.
    pub content_type: &'static str,
    /// What the page may load; `None` for a page that is not HTML.
    pub content_security_policy: Option<HeaderValue>,
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
    pub command_queue: Arc<dyn CommandQueue>,
    pub context_sources: ContextSources,
    /// Compares API secrets.
    pub secret_verifier: Arc<dyn SecretVerifier>,
    /// Maintenance and draining.
    pub service_state: Arc<ServiceState>,
    /// Wakes the requests that wait for new events.
    pub feed_signal: Arc<FeedSignal>,
    /// The health of the database.
    pub database_health: Arc<DatabaseHealth>,
    /// How long responses are stored under their `Idempotency-Key`.
    pub response_retention: Duration,
    /// Counts responses.
    pub request_statistics: Arc<RequestStatistics>,
    /// Collects failed requests.
    pub failed_requests: Arc<FailedRequestBuffer>,
    pub rate_limits: RateLimits,
    pub connection_limits: ConnectionLimits,
    /// How long an authenticated connection may be idle.
    pub keep_alive: Duration,
    pub transport: Transport,
    /// The name of this installation if a router distributes requests to several installations. Each response carries
    /// the name as `X-Service-Cell`. `None` if there is only one installation.
    pub cell: Option<String>,
    /// The address of the service in SAML audiences, without a trailing slash.
    pub service_url: Arc<str>,
    /// Versions that respond with 410, such as `v0`.
    pub retired_versions: Vec<String>,
    /// Versions with a date of removal.
    pub sunsets: Vec<Sunset>,
    /// The public pages under `/docs`, `/openapi.json` and `/llms.txt`, and the page of [`NOT_FOUND_PATH`]. They are
    /// rendered when a page is requested for the first time.
    pub pages: LazyLock<Vec<PublicPage>>,
    /// The level at which each request is logged.
    pub request_log_level: log::Level,
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::ServiceState;

    #[test]
    fn maintenance_and_draining_interrupt_waiting_requests() {
        let check = |turn: fn(&ServiceState, bool)| {
            let state = ServiceState::default();
            let mut waiting = Box::pin(state.interrupted());
            turn(&state, false);
            assert_eq!(waiting.as_mut().now_or_never(), None);
            turn(&state, true);
            assert_eq!(waiting.now_or_never(), Some(()));
            assert_eq!(state.interrupted().now_or_never(), Some(()), "a later request does not wait");
        };
        check(ServiceState::set_maintenance);
        check(ServiceState::set_draining);
    }
}
