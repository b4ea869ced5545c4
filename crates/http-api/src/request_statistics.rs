//! Counts responses for the hourly statistics that the console shows.

use std::mem;
use std::sync::Mutex;
use std::time::Duration;

use guerdon_domain::ports::DurationCounts;

use crate::mutex::lock_mutex;

/// Counts responses; see [`RequestCounts`].
#[derive(Debug, Default)]
pub struct RequestStatistics(Mutex<RequestCounts>);

/// The counts since the last call of [`RequestStatistics::take_counts`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestCounts {
    pub requests: i64,
    /// Responses with a status of 4xx.
    pub client_errors: i64,
    /// Responses with a status of 5xx, except those during maintenance, which is planned.
    pub server_errors: i64,
    /// The sum of the durations of all responses.
    pub duration_micros: i64,
    /// The durations in buckets.
    pub durations: DurationCounts,
}

impl RequestStatistics {
    /// Counts a response. `is_planned` is true for the 503 during maintenance.
    pub(crate) fn record_response(&self, status: u16, is_planned: bool, duration: Duration) {
        let mut counts = lock_mutex(&self.0);
        counts.requests += 1;
        counts.client_errors += i64::from((400..500).contains(&status));
        counts.server_errors += i64::from(status >= 500 && !is_planned);
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        counts.duration_micros = counts.duration_micros.saturating_add(micros);
        counts.durations.record_duration(duration);
    }

    /// Takes the counts and resets them.
    pub fn take_counts(&self) -> RequestCounts {
        mem::take(&mut *lock_mutex(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planned_failure_is_no_server_error() {
        let statistics = RequestStatistics::default();
        for (status, is_planned) in [(200, false), (404, false), (503, false), (503, true)] {
            statistics.record_response(status, is_planned, Duration::from_millis(1));
        }
        let counts = statistics.take_counts();
        assert_eq!((counts.requests, counts.client_errors, counts.server_errors), (4, 1, 1));
        assert_eq!(statistics.take_counts(), RequestCounts::default());
    }
}
