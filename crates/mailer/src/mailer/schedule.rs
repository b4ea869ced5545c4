//! When an email is retried, as pure functions of its failures.

use std::time::Duration;

use guerdon_domain::ports::{NotificationOutcome, Timestamp};

use crate::mail::Mail;

/// The wait after the first failure.
pub(super) const RETRY_WAIT_MIN: Duration = Duration::from_secs(15);
/// The longest wait.
pub(super) const RETRY_WAIT_MAX: Duration = Duration::from_secs(60 * 60);
/// The wait after a refusal, which gives an operator time to repair a server that refuses by mistake, or after an email
/// that was not confirmed, because each further attempt may deliver a copy.
const REFUSAL_WAIT: Duration = RETRY_WAIT_MAX;
/// The number of refusals or unconfirmed attempts after which an email is given up.
pub(super) const REFUSALS_MAX: u8 = 3;
/// How long an email is retried after it was queued.
const RETRY_PERIOD: Duration = Duration::from_secs(3 * 24 * 60 * 60);
/// The minimum number of attempts, regardless of the age of the email: the service itself may have been down for days.
const ATTEMPTS_MIN: u16 = 4;

/// The wait after a failure that follows `earlier_failures`: 15 seconds, doubled each time, at most an hour.
pub(super) fn retry_wait(earlier_failures: u32) -> Duration {
    let doubled = 2_u32.checked_pow(earlier_failures).and_then(|factor| RETRY_WAIT_MIN.checked_mul(factor));
    doubled.map_or(RETRY_WAIT_MAX, |wait| wait.min(RETRY_WAIT_MAX))
}

/// The outcome of a failure that concerns only this email.
pub(super) fn outcome_after_failure(mail: &Mail, now: Timestamp) -> NotificationOutcome {
    retry_or_give_up(mail, now, retry_wait(u32::from(mail.attempts)))
}

/// The outcome of a refusal or an unconfirmed attempt. `count` is the number of both, including this one.
pub(super) fn outcome_after_refusal(mail: &Mail, now: Timestamp, count: u8) -> NotificationOutcome {
    if count >= REFUSALS_MAX {
        NotificationOutcome::GivenUp
    } else {
        retry_or_give_up(mail, now, REFUSAL_WAIT)
    }
}

/// The outcome of an attempt that failed for a reason that concerns all emails; none is tried before `until`.
pub(super) fn outcome_after_outage(mail: &Mail, now: Timestamp, until: Timestamp) -> NotificationOutcome {
    if must_give_up(mail, now) { NotificationOutcome::GivenUp } else { NotificationOutcome::RetryAt(until) }
}

/// Retries after `wait`, but makes the last attempt at the end of the retry period.
fn retry_or_give_up(mail: &Mail, now: Timestamp, wait: Duration) -> NotificationOutcome {
    if must_give_up(mail, now) {
        return NotificationOutcome::GivenUp;
    }
    let (next, end) = (now + wait, mail.created_at + RETRY_PERIOD);
    NotificationOutcome::RetryAt(if now < end { next.min(end) } else { next })
}

fn must_give_up(mail: &Mail, now: Timestamp) -> bool {
    now >= mail.created_at + RETRY_PERIOD && mail.attempts.saturating_add(1) >= ATTEMPTS_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_an_hour() {
        let waits: Vec<u64> = (0..10).map(|before| retry_wait(before).as_secs()).collect();
        assert_eq!(waits, [15, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
        assert_eq!(retry_wait(u32::MAX), RETRY_WAIT_MAX);
    }
}
