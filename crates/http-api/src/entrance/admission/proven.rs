//! Credentials that let a provider in lately. Their holder does not guess, however many logins fail at the same address.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use moka::sync::Cache;

use super::basic::Credentials;

/// How long credentials count as proven after they let a provider in.
const PROOF_VALID_FOR: Duration = Duration::from_secs(300);
const PAIRS_MAX: u64 = 4_096;

/// Pairs of key and secret, as digests with a random key. A digest opens nothing: the credentials are still verified.
pub(super) struct Proven {
    hasher: RandomState,
    pairs: Cache<u64, ()>,
}

impl Default for Proven {
    fn default() -> Self {
        let pairs = Cache::builder().max_capacity(PAIRS_MAX).time_to_live(PROOF_VALID_FOR).build();
        Self { hasher: RandomState::new(), pairs }
    }
}

impl Proven {
    /// Whether the credentials let a provider in lately.
    pub(super) fn contains(&self, credentials: &Credentials) -> bool {
        self.pairs.contains_key(&self.digest(credentials))
    }

    /// Remembers that the credentials let a provider in.
    pub(super) fn insert(&self, credentials: &Credentials) {
        self.pairs.insert(self.digest(credentials), ());
    }

    /// Removes credentials that are no longer valid.
    pub(super) fn remove(&self, credentials: &Credentials) {
        self.pairs.invalidate(&self.digest(credentials));
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
    fn both_halves_of_credentials_count() {
        let proven = Proven::default();
        proven.insert(&pair("key", "secret"));
        assert!(proven.contains(&pair("key", "secret")));
        assert!(!proven.contains(&pair("key", "other")));
        assert!(!proven.contains(&pair("keys", "ecret")));
        proven.remove(&pair("key", "secret"));
        assert!(!proven.contains(&pair("key", "secret")));
    }

    #[test]
    fn the_number_of_pairs_and_their_time_are_bounded() {
        let proven = Proven::default();
        for number in 0..2 * PAIRS_MAX {
            proven.insert(&pair(&number.to_string(), "secret"));
        }
        proven.pairs.run_pending_tasks();
        assert!(proven.pairs.entry_count() <= PAIRS_MAX);
        assert_eq!(proven.pairs.policy().time_to_live(), Some(PROOF_VALID_FOR));
    }
}
