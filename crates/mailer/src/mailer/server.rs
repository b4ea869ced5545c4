//! Whether the mail server is available, judging by the latest attempts.

use guerdon_domain::ports::Timestamp;

use super::schedule::{RETRY_WAIT_MAX, RETRY_WAIT_MIN, retry_wait};

/// The number of consecutive failures of the mail server, and when it is tried next.
#[derive(Debug, Default)]
pub(super) struct ServerAvailability {
    failures: u32,
    unavailable_until: Option<Timestamp>,
}

impl ServerAvailability {
    /// When the next mail may be sent, or `None` for now. A wait longer than `RETRY_WAIT_MAX` is ignored, because it
    /// means that the clock was set back.
    pub(super) fn unavailable_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.unavailable_until.filter(|until| *until > now && *until - now <= RETRY_WAIT_MAX)
    }

    /// Ends the unavailability: the latest failure, if any, did not concern the server as a whole.
    pub(super) fn set_available(&mut self) {
        *self = Self::default();
    }

    /// Records a failure of the server. Returns when it is tried next: after a wait that doubles with each failure in a
    /// row.
    pub(super) fn record_failure(&mut self, now: Timestamp) -> Timestamp {
        let until = now + retry_wait(self.failures);
        self.failures = self.failures.saturating_add(1);
        self.unavailable_until = Some(until);
        until
    }

    /// Starts a pause after the mails of several providers failed, or repeatedly those of one, although the server may
    /// accept others. The pause is always [`RETRY_WAIT_MIN`], however often this happens.
    pub(super) fn pause_briefly(&mut self, now: Timestamp) {
        self.unavailable_until = Some(now + RETRY_WAIT_MIN);
    }
}
