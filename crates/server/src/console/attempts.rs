//! Attempts to deliver an event.

use guerdon_console::model::Attempt;
use guerdon_domain::ports::RecordedAttempt;

use super::to_utc;

pub(super) fn to_attempt(attempt: &RecordedAttempt, next_wait: Option<i64>) -> Attempt {
    Attempt {
        number: attempt.number,
        started_at: to_utc(attempt.started_at),
        status: attempt.status,
        cause: attempt.error.clone(),
        duration: i64::try_from(attempt.duration.as_micros()).unwrap_or(i64::MAX),
        next_wait,
    }
}
