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
    pub encrypted_shared_secret: Vec<u8>,
    /// The hash of the previous API secret, while that is still valid.
    pub former_api_secret: Option<FormerSecret>,
    /// The previous shared secret, encrypted, while it still signs events.
    pub former_shared_secret: Option<FormerSecret>,
    /// The destination of its events, exactly as registered.
    pub callback_url: Option<String>,
    /// Whether it may create and update companies and corporations and create users.
    pub manages_all_domain_resources: bool,
    /// Whether the provider is suspended: its credentials are refused, and its events are not delivered.
    pub suspended: bool,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A replaced secret that is still valid for some time, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormerSecret {
    pub secret: Vec<u8>,
    /// The time from which the secret is invalid.
    pub valid_until: Timestamp,
}

impl FormerSecret {
    fn secret_at(former: &Option<Self>, now: Timestamp) -> Option<&[u8]> {
        former.as_ref().filter(|former| now < former.valid_until).map(|former| former.secret.as_slice())
    }
}

impl Provider {
    /// The hashes of the valid API secrets: the current one, and the previous one during its grace period.
    pub fn api_secret_hashes(&self, now: Timestamp) -> impl Iterator<Item = &[u8]> {
        let former = FormerSecret::secret_at(&self.former_api_secret, now);
        std::iter::once(self.api_secret_hash.as_slice()).chain(former)
    }

    /// The previous shared secret, encrypted, during its grace period.
    pub fn former_encrypted_shared_secret(&self, now: Timestamp) -> Option<&[u8]> {
        FormerSecret::secret_at(&self.former_shared_secret, now)
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
    fn a_former_secret_is_valid_until_its_grace_period_ends() {
        let now = Timestamp::UNIX_EPOCH;
        let former = |secret: u8| {
            Some(FormerSecret {
                secret: vec![secret],
                valid_until: now.saturating_add(Duration::from_secs(60)),
            })
        };
        let mut provider = Provider {
            id: ProviderId::from_uuid(uuid::Uuid::nil()),
            name: String::new(),
            api_key: String::new(),
            api_secret_hash: vec![1],
            encrypted_shared_secret: vec![2],
            former_api_secret: former(3),
            former_shared_secret: former(4),
            callback_url: None,
            manages_all_domain_resources: false,
            suspended: false,
            created_at: now,
        };
        let valid_secrets_at = |provider: &Provider, seconds| {
            let then = now.saturating_add(Duration::from_secs(seconds));
            let hashes: Vec<u8> = provider.api_secret_hashes(then).flatten().copied().collect();
            (hashes, provider.former_encrypted_shared_secret(then).map(<[u8]>::to_vec))
        };
        assert_eq!(valid_secrets_at(&provider, 59), (vec![1, 3], Some(vec![4])));
        assert_eq!(valid_secrets_at(&provider, 60), (vec![1], None));
        (provider.former_api_secret, provider.former_shared_secret) = (None, None);
        assert_eq!(valid_secrets_at(&provider, 0), (vec![1], None));
    }
}
