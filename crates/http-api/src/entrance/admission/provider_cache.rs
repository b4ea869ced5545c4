//! Providers seen within the last half second, so that a busy one is not read for each of its requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use guerdon_domain::providers::Provider;

/// How long a provider is believed to be as it was read: a withdrawn right stops working within a second.
const PROVIDER_VALID_FOR: Duration = Duration::from_millis(500);
const PROVIDERS_MAX: usize = 4_096;

/// Providers by API key. Misses are never kept, so that a new provider is known at once.
#[derive(Default)]
pub(crate) struct ProviderCache(Mutex<HashMap<String, (Instant, Arc<Provider>)>>);

impl ProviderCache {
    /// The provider of a key, as it was read not long before `now`.
    pub(super) fn get(&self, api_key: &str, now: Instant) -> Option<Arc<Provider>> {
        let providers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (read_at, provider) = providers.get(api_key)?;
        (now.saturating_duration_since(*read_at) < PROVIDER_VALID_FOR).then(|| Arc::clone(provider))
    }

    /// Keeps a provider; `read_at` is a moment before it was read.
    pub(super) fn keep(&self, provider: Arc<Provider>, read_at: Instant) {
        let mut providers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if providers.len() >= PROVIDERS_MAX {
            providers.retain(|_, (at, _)| read_at.saturating_duration_since(*at) < PROVIDER_VALID_FOR);
        }
        if providers.len() < PROVIDERS_MAX {
            providers.insert(provider.api_key.clone(), (read_at, provider));
        }
    }
}

#[cfg(test)]
mod tests {
    use guerdon_domain::ports::Timestamp;
    use guerdon_domain::values::ProviderId;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_provider_is_believed_for_half_a_second() {
        let (cache, read_at) = (ProviderCache::default(), Instant::now());
        let provider = Provider {
            id: ProviderId::from_uuid(Uuid::nil()),
            name: String::new(),
            api_key: "key".to_owned(),
            api_secret_hash: Vec::new(),
            shared_secret_sealed: Vec::new(),
            former_api_secret: None,
            former_shared_secret: None,
            callback_url: None,
            manages_all_domain_resources: false,
            suspended: false,
            created_at: Timestamp::UNIX_EPOCH,
        };
        cache.keep(Arc::new(provider), read_at);
        assert!(cache.get("key", read_at).is_some());
        assert!(cache.get("key", read_at + Duration::from_millis(499)).is_some());
        assert!(cache.get("key", read_at + PROVIDER_VALID_FOR).is_none());
        assert!(cache.get("another", read_at).is_none());
    }
}
