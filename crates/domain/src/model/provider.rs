//! Providers.

use crate::values::{ProviderId, Timestamp};

/// A provider as it is stored. Its secrets are hashed or encrypted.
#[derive(Clone)]
pub struct Provider {
    pub id: ProviderId,
    /// Its name, for the operator.
    pub name: String,
    /// The user name of its credentials.
    pub api_key: String,
    /// The peppered hash of its API secret.
    pub api_secret_hash: Vec<u8>,
    /// Its shared secret, encrypted under the master key.
    pub shared_secret_sealed: Vec<u8>,
    /// The hash of the previous API secret, while that is still valid.
    pub former_api_secret: Option<Former>,
    /// The previous shared secret, encrypted, while it still signs events.
    pub former_shared_secret: Option<Former>,
    /// The destination of its events, exactly as registered.
    pub callback_url: Option<String>,
    /// Whether it may create and update companies and corporations and create users.
    pub manages_all_domain_resources: bool,
    /// Whether its credentials are refused.
    pub suspended: bool,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A replaced secret that is still valid for some time, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Former {
    pub kept: Vec<u8>,
    /// From then on it is invalid.
    pub until: Timestamp,
}

impl Former {
    fn in_force(former: &Option<Self>, now: Timestamp) -> Option<&[u8]> {
        former.as_ref().filter(|former| now < former.until).map(|former| former.kept.as_slice())
    }
}

impl Provider {
    /// The hashes of the valid API secrets: the current one, and the previous one during its grace period.
    pub fn api_secret_hashes(&self, now: Timestamp) -> impl Iterator<Item = &[u8]> {
        let former = Former::in_force(&self.former_api_secret, now);
        std::iter::once(self.api_secret_hash.as_slice()).chain(former)
    }

    /// The shared secret that signs events, encrypted: the previous one during its grace period.
    pub fn signing_secret_sealed(&self, now: Timestamp) -> &[u8] {
        Former::in_force(&self.former_shared_secret, now).unwrap_or(&self.shared_secret_sealed)
    }
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Provider").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_former_secret_counts_until_its_grace_ends() {
        let now = Timestamp::UNIX_EPOCH;
        let former =
            |kept: u8| Some(Former { kept: vec![kept], until: now.saturating_add(Duration::from_secs(60)) });
        let mut provider = Provider {
            id: ProviderId::from_uuid(uuid::Uuid::nil()),
            name: String::new(),
            api_key: String::new(),
            api_secret_hash: vec![1],
            shared_secret_sealed: vec![2],
            former_api_secret: former(3),
            former_shared_secret: former(4),
            callback_url: None,
            manages_all_domain_resources: false,
            suspended: false,
            created_at: now,
        };
        let in_force = |provider: &Provider, seconds| {
            let then = now.saturating_add(Duration::from_secs(seconds));
            let hashes: Vec<u8> = provider.api_secret_hashes(then).flatten().copied().collect();
            (hashes, provider.signing_secret_sealed(then).to_vec())
        };
        assert_eq!(in_force(&provider, 59), (vec![1, 3], vec![4]));
        assert_eq!(in_force(&provider, 60), (vec![1], vec![2]));
        (provider.former_api_secret, provider.former_shared_secret) = (None, None);
        assert_eq!(in_force(&provider, 0), (vec![1], vec![2]));
    }
}
