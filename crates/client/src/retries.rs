//! Decides when a request is retried.

use std::time::Duration;

use ring::rand::{SecureRandom as _, SystemRandom};
use uuid::Uuid;

use crate::error::Error;
use crate::response::Response;

/// The time limit of an attempt, from connecting to the end of the response.
pub(crate) const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30);
const ATTEMPTS_MAX: u32 = 6;
const INITIAL_BACKOFF: Duration = Duration::from_millis(250);
/// The maximum wait that `Retry-After` can cause.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);
/// Statuses after which a request is retried; 502 and 504 come from proxies.
const TRANSIENT_STATUSES: [u16; 5] = [429, 500, 502, 503, 504];

/// An attempt that got no response.
pub(crate) struct AttemptFailure {
    pub(crate) error: Error,
    /// Whether the next attempt would fail in the same way.
    pub(crate) is_permanent: bool,
}

/// What to do after an attempt.
pub(crate) enum RetryDecision {
    Return(Result<String, Error>),
    RetryAfter(Duration),
}

/// Decides after each attempt of a request whether to retry it.
pub(crate) struct Retries {
    attempts: u32,
    backoff: Duration,
}

impl Retries {
    pub(crate) fn new() -> Self {
        Self { attempts: 0, backoff: INITIAL_BACKOFF }
    }

    /// Decides what to do after an attempt with this outcome. The string in [`RetryDecision::Return`] is the body of a
    /// successful response.
    pub(crate) fn evaluate_attempt(&mut self, outcome: Result<Response, AttemptFailure>) -> RetryDecision {
        self.attempts += 1;
        let is_last = self.attempts == ATTEMPTS_MAX;
        let retry_after = match outcome {
            Ok(response) if response.status < 300 => return RetryDecision::Return(Ok(response.body)),
            Ok(response) if is_last || !TRANSIENT_STATUSES.contains(&response.status) => {
                return RetryDecision::Return(Err(response.into_refusal()));
            }
            Ok(response) => response.retry_after,
            Err(failure) if is_last || failure.is_permanent => {
                return RetryDecision::Return(Err(failure.error));
            }
            Err(_) => Duration::ZERO,
        };
        let wait = retry_after.min(RETRY_AFTER_MAX).max(apply_jitter(self.backoff));
        self.backoff *= 2;
        RetryDecision::RetryAfter(wait)
    }
}

/// Returns a random fraction of a wait, so that clients do not retry at the same time.
fn apply_jitter(wait: Duration) -> Duration {
    match random_bytes() {
        Some(bytes) => wait.mul_f64(f64::from(u32::from_ne_bytes(bytes)) / f64::from(u32::MAX)),
        None => wait,
    }
}

/// A random UUID; `None` if the operating system returns no random bytes.
pub(crate) fn random_uuid() -> Option<Uuid> {
    Some(uuid::Builder::from_random_bytes(random_bytes()?).into_uuid())
}

fn random_bytes<const LENGTH: usize>() -> Option<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes)
}
