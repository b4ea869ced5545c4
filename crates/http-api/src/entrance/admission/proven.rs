//! Credentials that were right lately: whoever has them is no guesser, however many fail at the same address.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::basic::Credentials;

/// For so long after they let a provider in.
const PROOF_VALID_FOR: Duration = Duration::from_secs(300);
const PAIRS_MAX: usize = 4_096;

/// Pairs of key and secret, as digests that nobody outside can foretell: they open nothing, whoever bears them is
/// looked at.
#[derive(Default)]
pub(super) struct Proven {
    hasher: RandomState,
    pairs: Mutex<HashMap<u64, Instant>>,
}

impl Proven {
    /// Whether they were right lately.
    pub(super) fn has(&self, credentials: &Credentials, now: Instant) -> bool {
        let pairs = self.pairs.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = pairs.get(&self.digest(credentials));
        seen.is_some_and(|it| now.saturating_duration_since(*it) < PROOF_VALID_FOR)
    }

    /// Notes that they are right.
    pub(super) fn note(&self, credentials: &Credentials, now: Instant) {
        let mut pairs = self.pairs.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = self.digest(credentials);
        if pairs.len() >= PAIRS_MAX && !pairs.contains_key(&digest) {
            pairs.retain(|_, seen| now.saturating_duration_since(*seen) < PROOF_VALID_FOR);
        }
        if pairs.len() < PAIRS_MAX || pairs.contains_key(&digest) {
            pairs.insert(digest, now);
        }
    }

    /// Notes that they are right no more.
    pub(super) fn forget(&self, credentials: &Credentials) {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.digest(credentials));
    }

    fn digest(&self, credentials: &Credentials) -> u64 {
        self.hasher.hash_one((credentials.key.as_str(), credentials.secret.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;

    fn pair(key: &str, secret: &str) -> Credentials {
        Credentials { key: key.to_owned(), secret: Zeroizing::new(secret.to_owned()) }
    }

    #[test]
    fn credentials_are_known_for_minutes_and_both_halves_count() {
        let (proven, now) = (Proven::default(), Instant::now());
        proven.note(&pair("key", "secret"), now);
        assert!(proven.has(&pair("key", "secret"), now + PROOF_VALID_FOR - Duration::from_secs(1)));
        assert!(!proven.has(&pair("key", "secret"), now + PROOF_VALID_FOR));
        assert!(!proven.has(&pair("key", "other"), now));
        assert!(!proven.has(&pair("keys", "ecret"), now));
        proven.forget(&pair("key", "secret"));
        assert!(!proven.has(&pair("key", "secret"), now));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (proven, now) = (Proven::default(), Instant::now());
        for number in 0..=PAIRS_MAX {
            proven.note(&pair(&number.to_string(), "secret"), now);
        }
        assert_eq!(proven.pairs.lock().unwrap().len(), PAIRS_MAX);
        let later = now + PROOF_VALID_FOR;
        proven.note(&pair("new", "secret"), later);
        assert!(proven.has(&pair("new", "secret"), later), "the old make room");
    }
}
