//! The commits in progress, so that no request waits for a database that does not commit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The commits in progress on one database. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct CommitsInProgress(Arc<Mutex<Commits>>);

#[derive(Debug, Default)]
struct Commits {
    /// When each commit in progress began, by its number.
    began_at: BTreeMap<u64, Instant>,
    next_number: u64,
    /// When a commit last returned.
    returned_at: Option<Instant>,
}

/// A commit, which is in progress until it is dropped.
struct Commit<'a> {
    all: &'a CommitsInProgress,
    number: u64,
}

impl Drop for Commit<'_> {
    fn drop(&mut self) {
        let mut commits = self.all.lock();
        commits.began_at.remove(&self.number);
        commits.returned_at = Some(Instant::now());
    }
}

impl CommitsInProgress {
    /// Runs `commit`, which counts as in progress until it returns or panics.
    pub fn run<T>(&self, commit: impl FnOnce() -> T) -> T {
        let _commit = {
            let mut commits = self.lock();
            let number = commits.next_number;
            commits.next_number += 1;
            commits.began_at.insert(number, Instant::now());
            Commit { all: self, number }
        };
        commit()
    }

    /// How long, until `now`, at least one commit has been in progress and none has returned; zero if none is in
    /// progress.
    #[must_use]
    pub fn stalled_for(&self, now: Instant) -> Duration {
        let commits = self.lock();
        let oldest = commits.began_at.first_key_value().map(|(_number, began_at)| *began_at);
        let stalled_since = oldest.map(|oldest| commits.returned_at.map_or(oldest, |at| at.max(oldest)));
        stalled_since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    fn lock(&self) -> MutexGuard<'_, Commits> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_stalled_while_one_is_in_progress_and_none_returns() {
        let commits = CommitsInProgress::default();
        let is_stalled = || commits.stalled_for(Instant::now() + Duration::from_secs(60)) > Duration::ZERO;
        assert!(!is_stalled());
        let before = Instant::now();
        commits.run(|| {
            let after = Instant::now();
            let minute_later = |from: Instant| commits.stalled_for(from + Duration::from_secs(60));
            assert!(
                minute_later(before) <= Duration::from_secs(60)
                    && minute_later(after) >= Duration::from_secs(60)
            );
            let returned_at = commits.run(Instant::now);
            assert!(minute_later(returned_at) <= Duration::from_secs(60), "another one has returned since");
            assert!(is_stalled());
        });
        assert!(!is_stalled());
        let panicked = std::panic::catch_unwind(|| commits.run(|| panic!("the commit fails")));
        assert!(panicked.is_err() && !is_stalled());
    }
}
