//! Remembers credentials that were valid recently. A client that presents them is not guessing, so failed logins from
//! the same address do not block it.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use moka::sync::Cache;

use super::basic_auth::Credentials;

/// How long credentials count as recent after they were found valid.
const ENTRY_TTL: Duration = Duration::from_secs(300);
const ENTRIES_MAX: u64 = 4_096;

/// Keyed digests of pairs of API key and secret. A match grants no access: the credentials are still verified.
pub(super) struct RecentCredentials {
    hasher: RandomState,
    entries: Cache<u64, ()>,
}

impl Default for RecentCredentials {
    fn default() -> Self {
        let entries = Cache::builder().max_capacity(ENTRIES_MAX).time_to_live(ENTRY_TTL).build();
        Self { hasher: RandomState::new(), entries }
    }
}

impl RecentCredentials {
    /// Whether the credentials were valid recently.
    pub(super) fn contains(&self, credentials: &Credentials) -> bool {
        self.entries.contains_key(&self.credential_digest(credentials))
    }

    /// Records that the credentials are valid.
    pub(super) fn insert(&self, credentials: &Credentials) {
        self.entries.insert(self.credential_digest(credentials), ());
    }

    /// Removes credentials that are no longer valid.
    pub(super) fn remove(&self, credentials: &Credentials) {
        self.entries.invalidate(&self.credential_digest(credentials));
    }

    fn credential_digest(&self, credentials: &Credentials) -> u64 {
        self.hasher.hash_one((credentials.key.as_str(), credentials.secret.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;

    fn new_credentials(key: &str, secret: &str) -> Credentials {
        Credentials { key: key.to_owned(), secret: Zeroizing::new(secret.to_owned()) }
    }

    #[test]
    fn key_and_secret_must_both_match() {
        let recent = RecentCredentials::default();
        recent.insert(&new_credentials("key", "secret"));
        assert!(recent.contains(&new_credentials("key", "secret")));
        assert!(!recent.contains(&new_credentials("key", "other")));
        assert!(!recent.contains(&new_credentials("keys", "ecret")));
        recent.remove(&new_credentials("key", "secret"));
        assert!(!recent.contains(&new_credentials("key", "secret")));
    }

    #[test]
    fn the_number_of_pairs_and_their_time_are_bounded() {
        let recent = RecentCredentials::default();
        for number in 0..2 * ENTRIES_MAX {
            recent.insert(&new_credentials(&number.to_string(), "secret"));
        }
        recent.entries.run_pending_tasks();
        assert!(recent.entries.entry_count() <= ENTRIES_MAX);
        assert_eq!(recent.entries.policy().time_to_live(), Some(ENTRY_TTL));
    }
}
