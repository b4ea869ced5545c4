//! Attempts to deliver an event.

use guerdon_console::model::{Attempt, AttemptResult};
use guerdon_domain::ports::RecordedAttempt;

use super::to_utc;

pub(super) fn to_attempt(attempt: &RecordedAttempt, next_wait: Option<i64>) -> Attempt {
    Attempt {
        number: attempt.number,
        started_at: to_utc(attempt.started_at),
        result: to_result(attempt),
        response_headers: attempt.response_headers.clone().unwrap_or_default(),
        response_body: String::from_utf8_lossy(&attempt.response_body).into_owned(),
        duration: i64::try_from(attempt.duration.as_micros()).unwrap_or(i64::MAX),
        next_wait,
    }
}

pub(super) fn to_result(attempt: &RecordedAttempt) -> AttemptResult {
    AttemptResult { status: attempt.status, cause: attempt.error.clone() }
}
