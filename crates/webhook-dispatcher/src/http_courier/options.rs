//! The parts and limits of a sender.

use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::ports::Clock;

use crate::courier::OpenSecret;
use crate::guard::{LookUp, Policy, SystemLookUp};
use crate::nonce::{Nonces, SystemNonces};

/// The parts of a sender.
pub struct HttpCourierParts {
    /// The egress policy.
    pub policy: Policy,
    /// The trusted certificate authorities.
    pub roots: TrustedRoots,
    /// Decrypts the shared secrets.
    pub secrets: Arc<dyn OpenSecret>,
    /// The source of signed timestamps.
    pub clock: Arc<dyn Clock>,
    /// The source of signed nonces.
    pub nonces: Arc<dyn Nonces>,
    /// Resolves host names.
    pub look_up: Arc<dyn LookUp>,
    /// The limits of an attempt.
    pub limits: HttpCourierLimits,
}

impl HttpCourierParts {
    /// The parts used in production, with the operator's egress policy.
    pub fn new(policy: Policy, secrets: Arc<dyn OpenSecret>, clock: Arc<dyn Clock>) -> Self {
        Self {
            policy,
            roots: TrustedRoots::Public,
            secrets,
            clock,
            nonces: Arc::new(SystemNonces::default()),
            look_up: Arc::new(SystemLookUp),
            limits: HttpCourierLimits::default(),
        }
    }
}

/// The trusted certificate authorities.
#[derive(Debug, Clone, Default)]
pub enum TrustedRoots {
    /// The built-in Mozilla root store: the same on every machine.
    #[default]
    Public,
    /// The Mozilla root store and these certificates in PEM: for receivers with a private authority.
    And(Vec<u8>),
    /// Only these certificates, in PEM: for tests, and for networks with a private authority.
    Only(Vec<u8>),
}

/// The limits of an attempt on time and size (behaviour 23.7).
#[derive(Debug, Clone, Copy)]
pub struct HttpCourierLimits {
    /// How long the addresses of a host name are cached: a backlog to one receiver resolves its name once in this
    /// time.
    pub name_kept: Duration,
    /// For the whole attempt.
    pub attempt_max: Duration,
    /// For resolving the host name; part of `attempt_max`.
    pub resolve_max: Duration,
    /// For connecting, including the TLS handshake; part of `attempt_max`.
    pub connect_max: Duration,
    /// For the response body, once the head has arrived.
    pub body_max: Duration,
    /// Bytes of the response head, including its status line.
    pub head_bytes_max: usize,
    /// Bytes of the response body that are read.
    pub body_bytes_max: usize,
    /// Bytes of the response body that are recorded.
    pub kept_bytes_max: usize,
    /// Bytes received from the network in total.
    pub received_bytes_max: usize,
    /// How long an idle connection stays open. Less than the five seconds after which common servers close one: a
    /// request sent while the server closes the connection is lost, and is retried only after its wait.
    pub keep_alive_max: Duration,
}

impl Default for HttpCourierLimits {
    fn default() -> Self {
        Self {
            name_kept: Duration::from_secs(2),
            attempt_max: Duration::from_secs(15),
            resolve_max: Duration::from_secs(5),
            connect_max: Duration::from_secs(10),
            body_max: Duration::from_secs(1),
            head_bytes_max: 16 * 1024,
            body_bytes_max: 64 * 1024,
            kept_bytes_max: 1024,
            received_bytes_max: 256 * 1024,
            keep_alive_max: Duration::from_secs(4),
        }
    }
}

/// Why a sender cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The trusted roots are not certificates in PEM, or empty.
    #[error("the trusted roots are no certificates")]
    Roots,
}
