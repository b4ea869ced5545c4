//! Attempts to deliver an event.

use guerdon_console::model::Attempt;
use guerdon_domain::ports::MadeAttempt;

use super::when;

pub(super) fn attempt(it: &MadeAttempt, next_wait: Option<i64>) -> Attempt {
    Attempt {
        number: it.number,
        started_at: when(it.started_at),
        status: it.status,
        cause: it.cause.clone(),
        duration: i64::try_from(it.duration.as_micros()).unwrap_or(i64::MAX),
        next_wait,
    }
}
