//! Counts of requests and responses, for the statistics.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Counts of responses since they were last taken.
#[derive(Debug, Default)]
pub struct Traffic {
    requests: AtomicI64,
    client_errors: AtomicI64,
    server_errors: AtomicI64,
    micros: AtomicI64,
}

/// Counts since they were last taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Answers {
    pub requests: i64,
    /// Responses with a status of 4xx.
    pub client_errors: i64,
    /// Responses with a status of 5xx.
    pub server_errors: i64,
    /// The sum of their durations.
    pub micros: i64,
}

impl Traffic {
    pub(crate) fn answered(&self, status: u16, took: Duration) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        match status {
            400..=499 => self.client_errors.fetch_add(1, Ordering::Relaxed),
            500.. => self.server_errors.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
        self.micros.fetch_add(i64::try_from(took.as_micros()).unwrap_or(i64::MAX), Ordering::Relaxed);
    }

    /// Takes the counts and resets them.
    pub fn take(&self) -> Answers {
        Answers {
            requests: self.requests.swap(0, Ordering::Relaxed),
            client_errors: self.client_errors.swap(0, Ordering::Relaxed),
            server_errors: self.server_errors.swap(0, Ordering::Relaxed),
            micros: self.micros.swap(0, Ordering::Relaxed),
        }
    }
}
