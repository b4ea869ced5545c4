//! What is told once a minute, however often it happens.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const AGAIN_AFTER: Duration = Duration::from_secs(60);
/// The most that is remembered; while so much was told in one minute, nothing more is.
const TOLD_MAX: usize = 1_000;

/// Of whom something was told lately.
pub(super) struct Told<K>(Mutex<HashMap<K, Instant>>);

impl<K> Default for Told<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> Told<K> {
    /// Whether it is to be told now; then it counts as told.
    pub(super) fn is_news(&self, of: K, now: Instant) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_old = |at: &Instant| now.saturating_duration_since(*at) >= AGAIN_AFTER;
        if told.get(&of).is_some_and(|at| !is_old(at)) {
            return false;
        }
        if told.len() >= TOLD_MAX {
            told.retain(|_, at| !is_old(at));
        }
        if told.len() >= TOLD_MAX {
            return false;
        }
        told.insert(of, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_once_a_minute_of_each() {
        let (told, now) = (Told::default(), Instant::now());
        assert!(told.is_news(1, now) && !told.is_news(1, now));
        assert!(told.is_news(2, now));
        assert!(!told.is_news(1, now + AGAIN_AFTER / 2));
        assert!(told.is_news(1, now + AGAIN_AFTER));
    }

    #[test]
    fn no_more_is_remembered_than_fits() {
        let (told, now) = (Told::default(), Instant::now());
        assert_eq!((0..2 * TOLD_MAX).filter(|it| told.is_news(*it, now)).count(), TOLD_MAX);
        assert!(told.is_news(usize::MAX, now + AGAIN_AFTER));
    }
}
