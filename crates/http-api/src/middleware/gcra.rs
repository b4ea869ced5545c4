//! Tracks by how much events exceed their rate limit (generic cell rate algorithm).
//!
//! Where requests over a limit are only refused, `governor` is used instead (see `admission::provider_limit`). Its
//! limiters are suitable neither for connections, which wait for a reserved time, nor for failed logins, whose limit is
//! checked without counting an event:
//! - They make no reservations, so all waiting connections wake up whenever one may proceed. When
//!   4,000 connections waited for 7.5 s, this cost 2.3 s of processor time instead of 0.5 s, and half of the
//!   connections were overtaken.
//! - A check counts an event, but only failed logins may count.
//! - Their tables are unbounded, and only idle keys can be removed.

use std::time::{Duration, Instant};

/// The time at which all events so far would have ended, if each had taken its interval. Events may have different
/// intervals.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Gcra(Option<Instant>);

impl Gcra {
    /// The time until all events so far would have ended; zero if that time has passed.
    pub(super) fn backlog(self, now: Instant) -> Duration {
        self.0.map_or(Duration::ZERO, |end| end.saturating_duration_since(now))
    }

    /// Counts an event, and returns the backlog including it.
    pub(super) fn count_event(&mut self, interval: Duration, now: Instant) -> Duration {
        let backlog = self.backlog(now) + interval;
        self.0 = Some(now + backlog);
        backlog
    }
}
