//! The parts and limits of a sender.

use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::ports::Clock;

use crate::egress_policy::{EgressPolicy, HostResolver, SystemResolver};
use crate::nonce::{NonceSource, SystemNonces};
use crate::sender::DecryptSecrets;

/// The parts of a sender.
pub struct HttpSenderParts {
    /// The egress policy.
    pub policy: EgressPolicy,
    /// The trusted certificate authorities.
    pub roots: TrustedRoots,
    /// Decrypts the shared secrets.
    pub secrets: Arc<dyn DecryptSecrets>,
    /// The source of signed timestamps.
    pub clock: Arc<dyn Clock>,
    /// The source of signed nonces.
    pub nonces: Arc<dyn NonceSource>,
    /// Resolves host names.
    pub resolver: Arc<dyn HostResolver>,
    /// The limits of an attempt.
    pub limits: HttpSenderLimits,
}

impl HttpSenderParts {
    /// The parts used in production, with the operator's egress policy.
    pub fn new(policy: EgressPolicy, secrets: Arc<dyn DecryptSecrets>, clock: Arc<dyn Clock>) -> Self {
        Self {
            policy,
            roots: TrustedRoots::Public,
            secrets,
            clock,
            nonces: Arc::new(SystemNonces::default()),
            resolver: Arc::new(SystemResolver),
            limits: HttpSenderLimits::default(),
        }
    }
}

/// The trusted certificate authorities.
#[derive(Debug, Clone, Default)]
pub enum TrustedRoots {
    /// The built-in Mozilla root store, which is the same on every machine.
    #[default]
    Public,
    /// The Mozilla root store and these certificates in PEM, for receivers whose certificate authority is private.
    And(Vec<u8>),
    /// Only these certificates in PEM, for tests and for networks with a private certificate authority.
    Only(Vec<u8>),
}

/// The limits of an attempt on time and size (behaviour 23.7).
#[derive(Debug, Clone, Copy)]
pub struct HttpSenderLimits {
    /// How long the addresses of a host name are cached. Within this time, a backlog of events resolves a receiver's
    /// name only once.
    pub dns_cache_ttl: Duration,
    /// The time limit of the whole attempt.
    pub attempt_timeout: Duration,
    /// The time limit for resolving the host name; part of `attempt_timeout`.
    pub resolve_timeout: Duration,
    /// The time limit for connecting, including the TLS handshake; part of `attempt_timeout`.
    pub connect_timeout: Duration,
    /// The time limit for the response body, after its head has arrived.
    pub body_timeout: Duration,
    /// The maximum size of the response head, including the status line.
    pub head_bytes_max: usize,
    /// The maximum number of bytes of the response body that are read.
    pub body_bytes_max: usize,
    /// The maximum number of characters of the response body that are recorded.
    pub stored_characters_max: usize,
    /// The maximum number of bytes received from the network in total.
    pub received_bytes_max: usize,
    /// How long an idle connection stays open. Common servers close idle connections after five seconds or more. This
    /// is less, because a request that is sent while the server closes the connection is lost, and the event is retried
    /// only later.
    pub idle_connection_timeout: Duration,
}

impl Default for HttpSenderLimits {
    fn default() -> Self {
        Self {
            dns_cache_ttl: Duration::from_secs(2),
            attempt_timeout: Duration::from_secs(15),
            resolve_timeout: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(1),
            head_bytes_max: 16 * 1024,
            body_bytes_max: 64 * 1024,
            stored_characters_max: 1024,
            received_bytes_max: 256 * 1024,
            idle_connection_timeout: Duration::from_secs(4),
        }
    }
}

/// Why a sender cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum HttpSenderError {
    /// The trusted roots are empty or not certificates in PEM.
    #[error("the trusted roots are not certificates in PEM")]
    Roots,
}
