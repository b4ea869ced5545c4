//! What is known of the mail server.

use guerdon_domain::ports::Timestamp;

use super::schedule::{WAIT_MAX, WAIT_MIN, wait_after};

/// Whether the server works, and when it is tried next.
#[derive(Debug, Default)]
pub(super) struct ServerState {
    failures: u32,
    until: Option<Timestamp>,
}

impl ServerState {
    /// Until when nothing is sent. A clock that was set back does not make the wait longer than the longest one.
    pub(super) fn away_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.until.filter(|until| *until > now && *until - now <= WAIT_MAX)
    }

    /// It took a mail, or said something about one.
    pub(super) fn works(&mut self) {
        *self = Self::default();
    }

    /// It did not.
    pub(super) fn fails(&mut self, now: Timestamp) -> Timestamp {
        let until = now + wait_after(self.failures);
        self.failures = self.failures.saturating_add(1);
        self.until = Some(until);
        until
    }

    /// It fails mail after mail, and may do better with others: a short rest that never grows.
    pub(super) fn rests(&mut self, now: Timestamp) {
        self.until = Some(now + WAIT_MIN);
    }
}
