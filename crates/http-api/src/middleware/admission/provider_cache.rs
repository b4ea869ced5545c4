//! Caches providers for half a second, so that a busy provider is not read for each of its requests.

use std::sync::Arc;
use std::time::Instant;

use guerdon_domain::providers::Provider;
use moka::sync::Cache;

use crate::request_info::PROVIDER_TTL;

const PROVIDERS_MAX: u64 = 4_096;

/// Providers by API key. Unknown keys are not cached, so that a new provider can log in at once.
pub(crate) struct ProviderCache(Cache<String, (Instant, Arc<Provider>)>);

impl Default for ProviderCache {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(PROVIDERS_MAX).time_to_live(PROVIDER_TTL).build())
    }
}

impl ProviderCache {
    /// The provider with an API key, if it was read less than half a second before `now`, and a time before it was
    /// read.
    pub(super) fn get(&self, api_key: &str, now: Instant) -> Option<(Instant, Arc<Provider>)> {
        let (read_at, provider) = self.0.get(api_key)?;
        // The cache's own expiry starts at the insertion, which a slow database delays.
        (now.saturating_duration_since(read_at) < PROVIDER_TTL).then_some((read_at, provider))
    }

    /// Stores a provider; `read_at` is a time before it was read.
    pub(super) fn insert(&self, provider: Arc<Provider>, read_at: Instant) {
        self.0.insert(provider.api_key.clone(), (read_at, provider));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::request_info::example_provider;

    #[test]
    fn a_provider_counts_as_unchanged_for_half_a_second() {
        let (cache, read_at) = (ProviderCache::default(), Instant::now());
        cache.insert(Arc::new(example_provider()), read_at);
        assert!(cache.get("key", read_at).is_some());
        assert!(cache.get("key", read_at + Duration::from_millis(499)).is_some());
        assert!(cache.get("key", read_at + PROVIDER_TTL).is_none());
        assert!(cache.get("another", read_at).is_none());
    }
}
