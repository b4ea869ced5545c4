//! Keeps frequent events from filling the log: one line per subject and interval, with the number of events that were
//! not logged in between. A rate limiter or a cache with a time to live would not count these.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::mutex::lock_mutex;

const DEFAULT_INTERVAL: Duration = Duration::from_secs(60);
/// The maximum number of subjects that are remembered. If this many were logged within one interval, events of further
/// subjects are not logged.
const SUBJECTS_MAX: usize = 1_000;

/// When the next line of each subject may be logged, and how many events were not logged since its last one.
#[derive(Debug)]
pub(crate) struct LogThrottle<K> {
    interval: Duration,
    subjects: Mutex<HashMap<K, (Instant, u64)>>,
}

impl<K> LogThrottle<K> {
    /// Allows one line per subject in this interval; the default is a minute.
    pub(crate) fn with_interval(interval: Duration) -> Self {
        Self { interval, subjects: Mutex::default() }
    }
}

impl<K> Default for LogThrottle<K> {
    fn default() -> Self {
        Self::with_interval(DEFAULT_INTERVAL)
    }
}

impl<K: Eq + Hash> LogThrottle<K> {
    /// Counts an event of the subject. Returns `None` if it must not be logged now, otherwise the number of events to
    /// log: this one, and those since the subject's last line that were not logged.
    pub(crate) fn count_event(&self, subject: K, now: Instant) -> Option<u64> {
        let mut subjects = lock_mutex(&self.subjects);
        if subjects.len() >= SUBJECTS_MAX && !subjects.contains_key(&subject) {
            subjects.retain(|_, (next_at, _)| *next_at > now);
            if subjects.len() >= SUBJECTS_MAX {
                return None;
            }
        }
        let (next_at, events) = subjects.entry(subject).or_insert((now, 0));
        *events += 1;
        if *next_at > now {
            return None;
        }
        *next_at = now + self.interval;
        Some(std::mem::take(events))
    }

    /// Counts an event of the subject. Returns whether it may be logged now.
    pub(crate) fn allows_line(&self, subject: K, now: Instant) -> bool {
        self.count_event(subject, now).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_subject_is_logged_once_per_interval() {
        let (throttle, now) = (LogThrottle::default(), Instant::now());
        assert!(throttle.allows_line(1, now) && !throttle.allows_line(1, now));
        assert!(throttle.allows_line(2, now));
        assert!(!throttle.allows_line(1, now + DEFAULT_INTERVAL / 2));
        assert!(throttle.allows_line(1, now + DEFAULT_INTERVAL));
    }

    #[test]
    fn a_line_stands_for_the_events_since_the_last_one() {
        let (throttle, now) = (LogThrottle::with_interval(Duration::from_secs(1)), Instant::now());
        let mut counts =
            (0..5).map(|second| throttle.count_event((), now + Duration::from_millis(400) * second));
        assert_eq!(counts.by_ref().collect::<Vec<_>>(), [Some(1), None, None, Some(3), None]);
    }

    #[test]
    fn the_number_of_subjects_is_bounded() {
        let (throttle, now) = (LogThrottle::default(), Instant::now());
        assert_eq!(
            (0..2 * SUBJECTS_MAX).filter(|subject| throttle.allows_line(*subject, now)).count(),
            SUBJECTS_MAX
        );
        assert!(throttle.allows_line(usize::MAX, now + DEFAULT_INTERVAL));
    }
}
