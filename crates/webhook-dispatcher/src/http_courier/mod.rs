//! The sender: makes one signed HTTP request and reports its result (behaviour 23.5, 23.7).

mod agent;
mod cause;
mod options;

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::Read;
use std::sync::Arc;
use std::time::Instant;

use data_encoding::HEXLOWER;
use guerdon_domain::ports::Timestamp;
use ureq::http::{Request, Uri};
use ureq::{Agent, Body};

pub use options::{HttpCourierLimits, HttpCourierParts, SetupError, TrustedRoots};

use crate::courier::{Courier, Order, Outcome};
use crate::guard::{self, Names, Target};

const USER_AGENT: &str = "Guerdon-Webhooks";
/// Several pools, because the housekeeping of one takes time proportional to its connections times its hosts, under a
/// lock.
const POOLS: u64 = 16;

/// Sends events over HTTP. It may be shared by many threads, and reuses connections between attempts.
pub struct HttpCourier {
    parts: HttpCourierParts,
    pools: Vec<Agent>,
}

impl std::fmt::Debug for HttpCourier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpCourier").finish_non_exhaustive()
    }
}

impl HttpCourier {
    /// Creates a sender. It opens no connection yet.
    ///
    /// # Errors
    ///
    /// If the trusted roots are not certificates.
    pub fn new(parts: HttpCourierParts) -> Result<Self, SetupError> {
        let roots = agent::roots(&parts.roots)?;
        let names = Arc::new(Names::new(Arc::clone(&parts.look_up), parts.limits.name_kept));
        let pools = (0..POOLS).map(|_| agent::agent(&parts, roots.clone(), Arc::clone(&names))).collect();
        Ok(Self { parts, pools })
    }

    fn pool(&self, uri: &Uri) -> Option<&Agent> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(uri.authority());
        usize::try_from(hash % POOLS).ok().and_then(|index| self.pools.get(index))
    }

    fn exchange(&self, order: &Order<'_>, started_at: Timestamp) -> Result<(u16, Vec<u8>), String> {
        let url = order.provider.callback_url.as_deref().ok_or("there is no callback URL")?;
        let target = Target::parse(url, self.parts.policy).map_err(|refused| refused.to_string())?;
        let secret = self.parts.secrets.open(order.provider).map_err(|sealed| sealed.to_string())?;
        let nonce = HEXLOWER.encode(&self.parts.nonces.next().map_err(|none| none.to_string())?);
        let timestamp = started_at.to_string();
        let signature = guerdon_webhooks::sign(secret.as_bytes(), url, &timestamp, &nonce, order.body);
        let request = Request::post(&target.uri)
            .header("Content-Type", "application/json")
            .header("User-Agent", USER_AGENT)
            .header("X-Service-Event-Id", order.event.to_string())
            .header("X-Service-Timestamp", timestamp)
            .header("X-Service-Nonce", nonce)
            .header("X-Service-Signature", signature)
            .body(order.body)
            .map_err(|_http| "the request cannot be made")?;
        guard::begin(self.parts.limits.received_bytes_max);
        let pool = self.pool(&target.uri).ok_or("the request cannot be made")?;
        let mut response = pool.run(request).map_err(|error| cause::of(&error))?;
        let answer = self.first_bytes(response.body_mut());
        Ok((response.status().as_u16(), answer))
    }

    /// Reads the response body up to its limits and returns its first bytes. Errors are ignored, because the status
    /// line has decided the result. A body that was read to its end leaves the connection reusable for the next
    /// attempt.
    fn first_bytes(&self, body: &mut Body) -> Vec<u8> {
        let limits = &self.parts.limits;
        let mut kept = Vec::new();
        let mut buffer = [0; 4096];
        let mut left = limits.body_bytes_max;
        let mut reader = body.as_reader();
        while left > 0 {
            let room = left.min(buffer.len());
            let Some(buffer) = buffer.get_mut(..room) else { break };
            let Ok(read @ 1..) = reader.read(buffer) else { break };
            left = left.saturating_sub(read);
            let missing = limits.kept_bytes_max.saturating_sub(kept.len());
            kept.extend(buffer.iter().take(read.min(missing)));
        }
        kept
    }
}

impl Courier for HttpCourier {
    fn attempt(&self, order: &Order<'_>) -> Outcome {
        let started_at = self.parts.clock.now();
        let started = Instant::now();
        let (status, answer, cause) = match self.exchange(order, started_at) {
            Ok((200, answer)) => (Some(200), answer, None),
            Ok((status, answer)) => (Some(status), answer, Some(format!("answered with status {status}"))),
            Err(cause) => (None, Vec::new(), Some(cause)),
        };
        let (duration, ended_at) = (started.elapsed(), self.parts.clock.now());
        Outcome { started_at, ended_at, duration, status, cause, answer }
    }
}
