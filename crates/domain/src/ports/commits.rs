//! Tracks the commits in progress, to detect a database that executes statements but does not commit.

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
}

/// A guard that counts one commit as in progress until it is dropped.
struct Commit<'a> {
    all: &'a CommitsInProgress,
    number: u64,
}

impl Drop for Commit<'_> {
    fn drop(&mut self) {
        self.all.lock().began_at.remove(&self.number);
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

    /// How long the oldest commit has been in progress until `now`; zero if none is.
    #[must_use]
    pub fn oldest_age(&self, now: Instant) -> Duration {
        let oldest = self.lock().began_at.first_key_value().map(|(_number, began_at)| *began_at);
        oldest.map_or(Duration::ZERO, |began_at| now.saturating_duration_since(began_at))
    }

    fn lock(&self) -> MutexGuard<'_, Commits> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_in_progress_until_it_returns_or_panics() {
        let commits = CommitsInProgress::default();
        let minute = Duration::from_secs(60);
        let age_a_minute_after = |start: Instant| commits.oldest_age(start + minute);
        assert_eq!(age_a_minute_after(Instant::now()), Duration::ZERO);
        let before = Instant::now();
        commits.run(|| {
            let after = Instant::now();
            assert!(age_a_minute_after(before) <= minute && age_a_minute_after(after) >= minute);
            commits.run(|| assert!(age_a_minute_after(after) >= minute, "the older one counts"));
            assert!(age_a_minute_after(after) >= minute);
        });
        let panicked = std::panic::catch_unwind(|| commits.run(|| panic!("the commit fails")));
        assert!(panicked.is_err());
        assert_eq!(age_a_minute_after(Instant::now()), Duration::ZERO);
    }
}
