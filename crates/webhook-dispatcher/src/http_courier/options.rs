//! What a sender is made of, and its limits.

use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::ports::Clock;

use crate::courier::OpenSecret;
use crate::guard::{LookUp, Policy, SystemLookUp};
use crate::nonce::{Nonces, SystemNonces};

/// What a sender is made of.
pub struct HttpCourierParts {
    /// What may be called.
    pub policy: Policy,
    /// Whose certificates are believed.
    pub roots: TrustedRoots,
    /// Opens the shared secrets.
    pub secrets: Arc<dyn OpenSecret>,
    /// The time to sign.
    pub clock: Arc<dyn Clock>,
    /// The nonces to sign.
    pub nonces: Arc<dyn Nonces>,
    /// Finds the addresses of names.
    pub look_up: Arc<dyn LookUp>,
    /// How much time and room an attempt has.
    pub limits: HttpCourierLimits,
}

impl HttpCourierParts {
    /// What is used in production, with what the operator allows.
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

/// Whose certificates are believed.
#[derive(Debug, Clone, Default)]
pub enum TrustedRoots {
    /// The authorities that Mozilla trusts, built in: the same on every machine.
    #[default]
    Public,
    /// These certificates too, in PEM: for receivers whose authority is one of the operator's own.
    And(Vec<u8>),
    /// Only these certificates, in PEM: for tests, and for networks with an authority of their own.
    Only(Vec<u8>),
}

/// How much time and room an attempt has (behaviour 23.7).
#[derive(Debug, Clone, Copy)]
pub struct HttpCourierLimits {
    /// How long what a name stands for is believed: a backlog to one receiver asks for its name once in so long.
    pub name_kept: Duration,
    /// For all of an attempt.
    pub attempt_max: Duration,
    /// Of it, for looking the name up.
    pub resolve_max: Duration,
    /// Of it, for connecting, with the handshake of TLS.
    pub connect_max: Duration,
    /// For the answer's body, once its head is there.
    pub body_max: Duration,
    /// Bytes of the answer's head, its status line included.
    pub head_bytes_max: usize,
    /// Bytes of the answer's body that are read.
    pub body_bytes_max: usize,
    /// Bytes of the answer's body that are kept.
    pub kept_bytes_max: usize,
    /// Bytes received from the network in all, whatever they are.
    pub received_bytes_max: usize,
    /// How long a connection is kept for the next attempt. Shorter than the five seconds after which common
    /// servers close one, since a request that crosses with the closing is lost, and is not sent again before its
    /// wait.
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

/// Why a sender cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The trusted roots are no certificates in PEM, or none at all.
    #[error("the trusted roots are no certificates")]
    Roots,
}
