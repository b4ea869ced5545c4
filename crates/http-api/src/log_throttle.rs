//! Keeps frequent events from filling the log: one line a minute for each subject.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const LOG_INTERVAL: Duration = Duration::from_secs(60);
/// The most subjects that are remembered. While as many were logged within one interval, further ones are not.
const SUBJECTS_MAX: usize = 1_000;

/// When each subject was last logged.
pub(crate) struct LogThrottle<K>(Mutex<HashMap<K, Instant>>);

impl<K> Default for LogThrottle<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> LogThrottle<K> {
    /// Whether a line about this subject may be logged now; if so, it counts as logged.
    pub(crate) fn allows(&self, subject: K, now: Instant) -> bool {
        let mut logged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_old = |at: &Instant| now.saturating_duration_since(*at) >= LOG_INTERVAL;
        if logged.get(&subject).is_some_and(|at| !is_old(at)) {
            return false;
        }
        if logged.len() >= SUBJECTS_MAX {
            logged.retain(|_, at| !is_old(at));
        }
        if logged.len() >= SUBJECTS_MAX {
            return false;
        }
        logged.insert(subject, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_subject_is_logged_once_a_minute() {
        let (throttle, now) = (LogThrottle::default(), Instant::now());
        assert!(throttle.allows(1, now) && !throttle.allows(1, now));
        assert!(throttle.allows(2, now));
        assert!(!throttle.allows(1, now + LOG_INTERVAL / 2));
        assert!(throttle.allows(1, now + LOG_INTERVAL));
    }

    #[test]
    fn the_number_of_subjects_is_bounded() {
        let (throttle, now) = (LogThrottle::default(), Instant::now());
        assert_eq!((0..2 * SUBJECTS_MAX).filter(|it| throttle.allows(*it, now)).count(), SUBJECTS_MAX);
        assert!(throttle.allows(usize::MAX, now + LOG_INTERVAL));
    }
}
