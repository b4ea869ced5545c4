//! Failures of the database that requests share while they wait to look up their credentials.

use std::sync::Mutex;

use tokio::time::Instant;

use crate::mutex::lock_mutex;
use crate::operation::ApiError;

/// When a lookup of credentials last failed because of the database. The requests that waited for their own lookup at
/// that time fail as well: otherwise each would wait for the database in turn, and the last one far longer than the
/// first.
#[derive(Default)]
pub(super) struct LookupFailures(Mutex<Option<Instant>>);

impl LookupFailures {
    /// Records the error of a lookup that has just ended.
    pub(super) fn record_error(&self, error: &ApiError) {
        if error.store_failure().is_some() {
            *lock_mutex(&self.0) = Some(Instant::now());
        }
    }

    /// Fails with 503 if the database has failed since `arrived_at`.
    pub(super) fn require_none_since(&self, arrived_at: Instant) -> Result<(), ApiError> {
        match *lock_mutex(&self.0) {
            Some(failed_at) if failed_at > arrived_at => Err(ApiError::busy()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use guerdon_domain::ports::StoreError;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_failure_of_the_database_concerns_the_requests_that_waited() {
        let failures = LookupFailures::default();
        let arrived_at = Instant::now();
        tokio::time::advance(Duration::from_secs(1)).await;
        failures.record_error(&ApiError::busy());
        assert!(failures.require_none_since(arrived_at).is_ok(), "too many requests, but the database works");
        failures.record_error(&StoreError::Unavailable("no connection".to_owned()).into());
        assert!(failures.require_none_since(arrived_at).is_err());
        assert!(failures.require_none_since(Instant::now()).is_ok());
    }
}
