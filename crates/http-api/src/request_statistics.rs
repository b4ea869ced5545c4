//! Counts responses for the daily statistics.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use guerdon_domain::ports::{DURATION_BUCKET_COUNT, DurationCounts};

/// Counts responses; see [`RequestCounts`].
#[derive(Debug, Default)]
pub struct RequestStatistics {
    requests: AtomicI64,
    client_errors: AtomicI64,
    server_errors: AtomicI64,
    duration_micros: AtomicI64,
    durations: [AtomicI64; DURATION_BUCKET_COUNT],
}

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
        self.requests.fetch_add(1, Ordering::Relaxed);
        match status {
            400..=499 => self.client_errors.fetch_add(1, Ordering::Relaxed),
            500.. if !is_planned => self.server_errors.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
        self.duration_micros
            .fetch_add(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX), Ordering::Relaxed);
        if let Some(bucket) = self.durations.get(DurationCounts::bucket_of(duration)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes the counts and resets them.
    pub fn take_counts(&self) -> RequestCounts {
        let mut durations = DurationCounts::default();
        for (bucket, count) in self.durations.iter().enumerate() {
            durations.add(bucket, count.swap(0, Ordering::Relaxed));
        }
        RequestCounts {
            durations,
            requests: self.requests.swap(0, Ordering::Relaxed),
            client_errors: self.client_errors.swap(0, Ordering::Relaxed),
            server_errors: self.server_errors.swap(0, Ordering::Relaxed),
            duration_micros: self.duration_micros.swap(0, Ordering::Relaxed),
        }
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
