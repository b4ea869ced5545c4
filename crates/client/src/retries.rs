//! Decides when a request is retried.

use std::time::Duration;

use ring::rand::{SecureRandom as _, SystemRandom};
use uuid::Uuid;

use crate::error::Error;
use crate::request::Request;
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
    /// Whether the service may have received the request.
    pub(crate) may_have_been_sent: bool,
}

/// What to do after an attempt.
pub(crate) enum RetryDecision {
    Return(Result<String, Error>),
    RetryAfter(Duration),
}

/// Decides after each attempt of a request whether to retry it.
pub(crate) struct Retries<'a> {
    request: &'a Request,
    attempts: u32,
    backoff: Duration,
    /// Whether one of the attempts may have taken effect.
    may_have_taken_effect: bool,
}

impl<'a> Retries<'a> {
    pub(crate) fn new(request: &'a Request) -> Self {
        Self { request, attempts: 0, backoff: INITIAL_BACKOFF, may_have_taken_effect: false }
    }

    /// Decides what to do after an attempt with this outcome. The string in [`RetryDecision::Return`] is the body of a
    /// successful response.
    pub(crate) fn evaluate_attempt(&mut self, outcome: Result<Response, AttemptFailure>) -> RetryDecision {
        self.attempts += 1;
        let (error, is_transient, retry_after) = match outcome {
            Ok(response) if response.status < 300 => return RetryDecision::Return(Ok(response.body)),
            Ok(response) => {
                let code = response.error_code();
                if self.is_already_deleted(code.as_deref()) {
                    return RetryDecision::Return(Ok(String::new()));
                }
                self.record_refusal(response.status, code.as_deref());
                let (status, retry_after) = (response.status, response.retry_after);
                (response.into_refusal(), TRANSIENT_STATUSES.contains(&status), retry_after)
            }
            Err(failure) => {
                self.may_have_taken_effect |= failure.may_have_been_sent;
                (failure.error, !failure.is_permanent, Duration::ZERO)
            }
        };
        if self.attempts == ATTEMPTS_MAX || !is_transient {
            let is_unknown = self.may_have_taken_effect;
            let error = if is_unknown { self.request.with_unknown_outcome(error) } else { error };
            return RetryDecision::Return(Err(error));
        }
        let wait = retry_after.min(RETRY_AFTER_MAX).max(apply_jitter(self.backoff));
        self.backoff *= 2;
        RetryDecision::RetryAfter(wait)
    }

    /// Whether this error code means that an earlier attempt of a DELETE deleted the object.
    fn is_already_deleted(&self, code: Option<&str>) -> bool {
        self.request.method == "DELETE" && self.may_have_taken_effect && code == Some("not_found")
    }

    /// Records whether a refused request may have taken effect, in this attempt or an earlier one.
    fn record_refusal(&mut self, status: u16, code: Option<&str>) {
        self.may_have_taken_effect = match (status, code) {
            // A request with this key was executed, with another body.
            (_, Some("idempotency_key_reused")) => self.may_have_taken_effect,
            // The service checks the idempotency key before it refuses a POST for its content (behaviour 4.1), so no
            // earlier attempt was executed. Without a code, a proxy responded.
            (400 | 404, Some(_)) => false,
            (500.., code) if code != Some("maintenance") => true,
            _ => self.may_have_taken_effect,
        };
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
