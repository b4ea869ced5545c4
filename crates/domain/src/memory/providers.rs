//! Providers.

use super::Unit;
use crate::ledger::require;
use crate::model::Provider;
use crate::ports::{ProviderChange, Providers, ReadProviders, StoreError, Timestamp};
use crate::values::ProviderId;

impl ReadProviders for Unit {
    fn provider_by_api_key(&mut self, api_key: &str) -> Result<Option<Provider>, StoreError> {
        self.read(|data| data.providers.values().find(|provider| provider.api_key == api_key).cloned())
    }

    fn provider(&mut self, id: ProviderId) -> Result<Option<Provider>, StoreError> {
        self.read(|data| data.providers.get(&id).cloned())
    }

    fn providers(&mut self) -> Result<Vec<Provider>, StoreError> {
        self.read(|data| {
            let mut all: Vec<Provider> = data.providers.values().cloned().collect();
            all.sort_by_key(|provider| (provider.created_at, provider.id));
            all
        })
    }
}

impl Providers for Unit {
    fn insert_provider(&mut self, provider: &Provider) -> Result<(), StoreError> {
        self.run(|data| {
            let taken = data
                .providers
                .values()
                .any(|other| other.id == provider.id || other.api_key == provider.api_key);
            require(!taken, "a provider has this id or key")?;
            data.providers.insert(provider.id, provider.clone());
            Ok(())
        })
    }

    fn change_provider(
        &mut self,
        id: ProviderId,
        change: &ProviderChange,
        _at: Timestamp,
    ) -> Result<bool, StoreError> {
        self.run(|data| {
            let Some(it) = data.providers.get_mut(&id) else { return Ok(false) };
            let change = change.clone();
            it.name = change.name.unwrap_or_else(|| it.name.clone());
            it.callback_url = change.callback_url.apply(it.callback_url.take());
            it.manages_all_domain_resources =
                change.manages_all_domain_resources.unwrap_or(it.manages_all_domain_resources);
            it.suspended = change.suspended.unwrap_or(it.suspended);
            it.api_secret_hash = change.api_secret_hash.unwrap_or_else(|| it.api_secret_hash.clone());
            it.shared_secret_sealed =
                change.shared_secret_sealed.unwrap_or_else(|| it.shared_secret_sealed.clone());
            it.former_api_secret = change.former_api_secret.apply(it.former_api_secret.take());
            it.former_shared_secret = change.former_shared_secret.apply(it.former_shared_secret.take());
            Ok(true)
        })
    }
}
