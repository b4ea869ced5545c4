//! When to try again: pure functions of what has failed.

use std::time::Duration;

use guerdon_domain::ports::{ClaimedMail, MailFate, Timestamp};

/// The first wait.
pub(super) const WAIT_MIN: Duration = Duration::from_secs(15);
/// The longest wait.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(60 * 60);
/// The wait after a refusal: long enough for an operator to mend a server that refuses by mistake.
const REFUSAL_WAIT: Duration = WAIT_MAX;
/// A mail is given up at this refusal.
pub(super) const REFUSALS_MAX: u8 = 3;
/// How long after it was queued a mail is tried.
const AGE_MAX: Duration = Duration::from_secs(3 * 24 * 60 * 60);
/// However old, a mail is tried as often as this: the service itself may have been away for its days.
const ATTEMPTS_MIN: u16 = 4;

/// The wait after a failure that `before` others preceded: 15 s, doubled each time, an hour at most.
pub(super) fn wait_after(before: u32) -> Duration {
    let doubled = 2_u32.checked_pow(before).and_then(|factor| WAIT_MIN.checked_mul(factor));
    doubled.map_or(WAIT_MAX, |wait| wait.min(WAIT_MAX))
}

/// After a failure of the mail's own.
pub(super) fn after_failure(mail: &ClaimedMail, now: Timestamp) -> MailFate {
    retry(mail, now, wait_after(u32::from(mail.attempts)))
}

/// After a refusal; `count` includes it.
pub(super) fn after_refusal(mail: &ClaimedMail, now: Timestamp, count: u8) -> MailFate {
    if count >= REFUSALS_MAX { MailFate::GivenUp } else { retry(mail, now, REFUSAL_WAIT) }
}

/// After a failure that all mails share; nobody is tried before `until`.
pub(super) fn after_outage(mail: &ClaimedMail, now: Timestamp, until: Timestamp) -> MailFate {
    if is_over(mail, now) { MailFate::GivenUp } else { MailFate::RetryAt(until) }
}

/// The last attempt is due when the days are over, not after.
fn retry(mail: &ClaimedMail, now: Timestamp, wait: Duration) -> MailFate {
    if is_over(mail, now) {
        return MailFate::GivenUp;
    }
    let (next, end) = (now + wait, mail.created_at + AGE_MAX);
    MailFate::RetryAt(if now < end { next.min(end) } else { next })
}

fn is_over(mail: &ClaimedMail, now: Timestamp) -> bool {
    now >= mail.created_at + AGE_MAX && mail.attempts.saturating_add(1) >= ATTEMPTS_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_an_hour() {
        let waits: Vec<u64> = (0..10).map(|before| wait_after(before).as_secs()).collect();
        assert_eq!(waits, [15, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
        assert_eq!(wait_after(u32::MAX), WAIT_MAX);
    }
}
