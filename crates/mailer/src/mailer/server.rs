//! Whether the mail server is available, judging by the latest attempts.

use guerdon_domain::ports::Timestamp;
use guerdon_domain::values::ProviderId;

use super::schedule::{RETRY_WAIT_MAX, RETRY_WAIT_MIN, retry_wait};

/// All emails wait after the batches of this many providers ended with failures and the server accepted or refused no
/// email in between.
const FAILING_PROVIDERS_MAX: usize = 3;

/// The consecutive failures of the mail server, the providers whose emails fail, and when emails may be sent again.
#[derive(Debug, Default)]
pub(super) struct ServerAvailability {
    failures: u32,
    unavailable_until: Option<Timestamp>,
    /// The providers whose batches ended with failures since the server last accepted or refused an email.
    failing_providers: Vec<ProviderId>,
}

impl ServerAvailability {
    /// When the next email may be sent, or `None` for now. A wait longer than `RETRY_WAIT_MAX` is ignored, because it
    /// means that the clock was set back.
    pub(super) fn unavailable_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.unavailable_until.filter(|until| *until > now && *until - now <= RETRY_WAIT_MAX)
    }

    /// Records that the server accepted or refused an email.
    pub(super) fn record_response(&mut self) {
        *self = Self::default();
    }

    /// Ends the wait, and resets the number of consecutive failures of the server. Keeps the providers whose emails
    /// fail, because the server has not accepted or refused an email.
    pub(super) fn end_outage(&mut self) {
        self.failures = 0;
        self.unavailable_until = None;
    }

    /// Records a failure of the server. Returns when it is tried next: after a wait that doubles with each failure in a
    /// row.
    pub(super) fn record_failure(&mut self, now: Timestamp) -> Timestamp {
        let until = now + retry_wait(self.failures);
        self.failures = self.failures.saturating_add(1);
        self.unavailable_until = Some(until);
        until
    }

    /// Records that a batch of a provider ended with failures. All emails wait for [`RETRY_WAIT_MIN`] after this has
    /// happened to [`FAILING_PROVIDERS_MAX`] providers, or twice to one of them: the server is then probably the cause.
    pub(super) fn record_failing_provider(&mut self, provider: ProviderId, now: Timestamp) {
        let is_known = self.failing_providers.contains(&provider);
        self.failing_providers.push(provider);
        if is_known || self.failing_providers.len() >= FAILING_PROVIDERS_MAX {
            self.failing_providers.clear();
            self.unavailable_until = Some(now + RETRY_WAIT_MIN);
        }
    }
}
