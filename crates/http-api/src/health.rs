//! The health of the database, derived from recent queries. Neither probes nor requests send extra queries for it.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use guerdon_domain::ports::{CommitsInProgress, StoreError};

use crate::mutex::lock_mutex;

/// How long after a response the database counts as responsive.
const RESPONSE_VALID_FOR: Duration = Duration::from_millis(1500);
/// From this age on, a commit in progress is slow, and test commits show whether others return.
const SLOW_COMMIT_AGE_MIN: Duration = Duration::from_millis(750);
const TEST_COMMIT_DURATION_MAX: Duration = Duration::from_millis(500);

/// When the database last responded. Probes read this instead of querying the database, so they cannot pile up on it.
#[derive(Debug, Default)]
pub struct DatabaseHealth(Mutex<Observations>);

#[derive(Debug, Default)]
struct Observations {
    /// When the health query in progress began.
    query_started_at: Option<Instant>,
    /// When a health query last succeeded.
    query_succeeded_at: Option<Instant>,
    /// When a request's query last succeeded.
    request_succeeded_at: Option<Instant>,
    writes: WriteHealth,
    commits: CommitsInProgress,
    /// Since when test commits have been tried without success.
    test_commit_began_at: Option<Instant>,
}

/// Whether writes succeed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum WriteHealth {
    #[default]
    Succeed,
    /// A request failed: a test write is due.
    Unverified,
    /// The last test write failed.
    Fail,
}

/// What a request does with the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Read,
    Write,
}

fn is_recent(at: Option<Instant>) -> bool {
    at.is_some_and(|instant| instant.elapsed() < RESPONSE_VALID_FOR)
}

impl DatabaseHealth {
    /// Creates the health of the database with these commits.
    #[must_use]
    pub fn new(commits: CommitsInProgress) -> Self {
        Self(Mutex::new(Observations { commits, ..Observations::default() }))
    }

    /// Runs a health query; call it several times a second. An error does not count as a response.
    pub fn run_health_query<T, E>(&self, query: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        lock_mutex(&self.0).query_started_at = Some(Instant::now());
        let result = query();
        let mut observations = lock_mutex(&self.0);
        observations.query_started_at = None;
        if result.is_ok() {
            observations.query_succeeded_at = Some(Instant::now());
        }
        result
    }

    /// Records that a request's query succeeded.
    pub(crate) fn record_success(&self) {
        lock_mutex(&self.0).request_succeeded_at = Some(Instant::now());
    }

    /// Records that a request failed in the store. If the database was unavailable, a test write becomes due. A
    /// conflict with another transaction says nothing about the health of the database.
    pub(crate) fn record_failure(&self, cause: &StoreError) {
        let mut observations = lock_mutex(&self.0);
        if observations.writes == WriteHealth::Succeed
            && matches!(cause, StoreError::Unavailable(_) | StoreError::OutcomeUnknown(_))
        {
            observations.writes = WriteHealth::Unverified;
        }
    }

    /// Runs the test write `write` if a test write is due or the last one failed. Must be called about once a second.
    /// Returns `None` if no test write is due, if the database does not respond to reads either, or if `write` failed
    /// because of a conflict. After a conflict, the next call runs a test write again.
    pub fn try_test_write<T>(
        &self,
        write: impl FnOnce() -> Result<T, StoreError>,
    ) -> Option<Result<T, StoreError>> {
        if !self.is_responsive() || lock_mutex(&self.0).writes == WriteHealth::Succeed {
            return None;
        }
        let written = write();
        if matches!(written, Err(StoreError::Busy | StoreError::DeadlineExceeded)) {
            return None;
        }
        lock_mutex(&self.0).writes = if written.is_ok() { WriteHealth::Succeed } else { WriteHealth::Fail };
        Some(written)
    }

    /// Whether the last test write succeeded or none was due.
    pub fn accepts_writes(&self) -> bool {
        lock_mutex(&self.0).writes != WriteHealth::Fail
    }

    /// Runs the transaction `test`, which must write something, if a commit is slow. Its success proves that others
    /// commit. Must be called several times a second.
    pub fn try_test_commit<T>(&self, test: impl FnOnce() -> Result<T, StoreError>) {
        self.try_test_commit_at(Instant::now(), test);
    }

    fn try_test_commit_at<T>(&self, now: Instant, test: impl FnOnce() -> Result<T, StoreError>) {
        let is_slow = {
            let mut observations = lock_mutex(&self.0);
            let is_slow = observations.commits.oldest_age(now) >= SLOW_COMMIT_AGE_MIN;
            observations.test_commit_began_at =
                is_slow.then(|| observations.test_commit_began_at.unwrap_or(now));
            is_slow
        };
        if is_slow && test().is_ok() {
            lock_mutex(&self.0).test_commit_began_at = None;
        }
    }

    /// Whether a commit has been in progress for at least 1.5 s, and a test commit has not succeeded for half a second.
    /// PostgreSQL serves reads, but does not commit, while a synchronous standby is required and none is connected.
    pub fn are_commits_hanging(&self) -> bool {
        self.are_commits_hanging_at(Instant::now())
    }

    fn are_commits_hanging_at(&self, now: Instant) -> bool {
        let observations = lock_mutex(&self.0);
        let is_unproved =
            |began_at: Instant| now.saturating_duration_since(began_at) >= TEST_COMMIT_DURATION_MAX;
        observations.commits.oldest_age(now) >= RESPONSE_VALID_FOR
            && observations.test_commit_began_at.is_some_and(is_unproved)
    }

    /// Whether a health query succeeded recently.
    pub fn is_responsive(&self) -> bool {
        is_recent(lock_mutex(&self.0).query_succeeded_at)
    }

    /// Whether the database hangs for this kind of request. Reads hang if the health query in progress started at least
    /// 1.5 s ago, and no request's query has succeeded within the last 1.5 s. The second condition is needed because a
    /// health query may wait for a connection while the service is busy. Writes also hang if commits do.
    pub(crate) fn is_hanging(&self, kind: RequestKind) -> bool {
        (kind == RequestKind::Write && self.are_commits_hanging()) || self.are_reads_hanging()
    }

    fn are_reads_hanging(&self) -> bool {
        let observations = lock_mutex(&self.0);
        observations.query_started_at.is_some_and(|started_at| started_at.elapsed() >= RESPONSE_VALID_FOR)
            && !is_recent(observations.request_succeeded_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expired_instant(at: Instant) -> Option<Instant> {
        at.checked_sub(RESPONSE_VALID_FOR)
    }

    #[test]
    fn a_database_hangs_if_a_health_query_hangs_and_no_request_succeeds() {
        let (health, now) = (DatabaseHealth::default(), Instant::now());
        assert!(!health.is_hanging(RequestKind::Read) && !health.is_responsive());
        lock_mutex(&health.0).query_started_at = expired_instant(now);
        assert!(health.is_hanging(RequestKind::Read));
        health.record_success();
        assert!(!health.is_hanging(RequestKind::Read), "slow, but not hanging");
        lock_mutex(&health.0).request_succeeded_at = expired_instant(now);
        assert!(health.is_hanging(RequestKind::Read));
        assert_eq!(health.run_health_query(|| Err::<(), _>("away")), Err("away"));
        assert!(!health.is_hanging(RequestKind::Read) && !health.is_responsive(), "the query failed");
        assert_eq!(health.run_health_query(|| Ok::<_, ()>(1)), Ok(1));
        assert!(health.is_responsive());
        lock_mutex(&health.0).query_succeeded_at = expired_instant(now);
        assert!(!health.is_responsive());
    }

    #[test]
    fn a_test_write_runs_after_a_failure_until_one_succeeds() {
        let health = DatabaseHealth::default();
        let unavailable = StoreError::Unavailable("full".to_owned());
        let failing_write = || Err::<(), _>(unavailable.clone());
        let is_tried = || health.try_test_write(failing_write).is_some();
        assert_eq!(health.run_health_query(|| Ok::<_, ()>(())), Ok(()));
        assert!(!is_tried());
        health.record_failure(&StoreError::Busy);
        assert!(!is_tried(), "a conflict makes no test write due");
        health.record_failure(&unavailable);
        assert!(health.accepts_writes(), "one failed request is not enough");
        assert!(matches!(health.try_test_write(failing_write), Some(Err(StoreError::Unavailable(_)))));
        assert!(!health.accepts_writes());
        health.record_failure(&unavailable);
        assert!(!health.accepts_writes());
        lock_mutex(&health.0).query_succeeded_at = expired_instant(Instant::now());
        assert!(!is_tried(), "the database does not respond");
        lock_mutex(&health.0).query_succeeded_at = Some(Instant::now());
        assert!(matches!(health.try_test_write(|| Ok(())), Some(Ok(()))));
        assert!(health.accepts_writes());
        assert!(!is_tried());
    }

    #[test]
    fn commits_hang_if_one_is_old_and_test_commits_do_not_succeed() {
        let commits = CommitsInProgress::default();
        let health = DatabaseHealth::new(commits.clone());
        health.try_test_commit(|| -> Result<(), _> { panic!("no commit is in progress") });
        commits.run(|| {
            let old_at = Instant::now() + RESPONSE_VALID_FOR;
            let hanging_at = old_at + TEST_COMMIT_DURATION_MAX;
            let is_hanging = || [old_at, hanging_at].map(|now| health.are_commits_hanging_at(now));
            assert_eq!(is_hanging(), [false, false], "no test commit has begun");
            health.try_test_commit_at(old_at, || {
                assert_eq!(is_hanging(), [false, true]);
                Err::<(), _>(StoreError::Busy)
            });
            assert_eq!(is_hanging(), [false, true], "a conflict proves nothing");
            health.try_test_commit_at(hanging_at, || Err::<(), _>(StoreError::Busy));
            assert_eq!(is_hanging(), [false, true], "the first unsuccessful one counts");
            health.try_test_commit_at(hanging_at, || Ok(()));
            assert_eq!(is_hanging(), [false, false], "only the other commit is slow");
            health.try_test_commit_at(old_at, || Err::<(), _>(StoreError::Busy));
            assert_eq!(is_hanging(), [false, true]);
        });
        assert!(!health.are_commits_hanging_at(Instant::now() + RESPONSE_VALID_FOR * 2));
    }

    #[test]
    fn a_test_write_that_loses_a_race_changes_nothing() {
        let health = DatabaseHealth::default();
        assert_eq!(health.run_health_query(|| Ok::<_, ()>(())), Ok(()));
        for earlier in [WriteHealth::Unverified, WriteHealth::Fail] {
            lock_mutex(&health.0).writes = earlier;
            assert!(health.try_test_write(|| Err::<(), _>(StoreError::Busy)).is_none());
            assert_eq!(lock_mutex(&health.0).writes, earlier);
        }
    }
}
