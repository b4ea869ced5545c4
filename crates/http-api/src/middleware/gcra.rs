//! How far events are ahead of the rate at which they may happen (generic cell rate algorithm).
//!
//! Where a request over its limit is refused, `governor` does this (see `admission::provider_limit`). Its limiters do not fit
//! where connections wait for a reserved moment, nor where a limit is asked about without counting an event:
//! - They make no reservations, so all who wait wake up for each free moment. 4,000 connections that waited for 7.5 s cost
//!   2.3 s of processor time instead of 0.5 s, and half of them were overtaken.
//! - A check counts an event, but only failed logins may count.
//! - Their tables have no bound, and forget idle keys only.

use std::time::{Duration, Instant};

/// The time at which the events so far would be over, had each taken its interval. Each event may have another interval.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Gcra(Option<Instant>);

impl Gcra {
    /// The time until the events so far would be over; zero if they would be over by now.
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
