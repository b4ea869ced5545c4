//! Providers.

use super::MemoryTx;
use crate::ledger::require_rule;
use crate::model::Provider;
use crate::ports::{ProviderChange, Providers, ReadProviders, StoreError, Timestamp};
use crate::values::ProviderId;

impl ReadProviders for MemoryTx {
    fn find_provider_by_api_key(&mut self, api_key: &str) -> Result<Option<Provider>, StoreError> {
        self.query(|data| data.providers.values().find(|provider| provider.api_key == api_key).cloned())
    }

    fn find_provider(&mut self, id: ProviderId) -> Result<Option<Provider>, StoreError> {
        self.query(|data| data.providers.get(&id).cloned())
    }

    fn list_providers(&mut self) -> Result<Vec<Provider>, StoreError> {
        self.query(|data| {
            let mut all: Vec<Provider> = data.providers.values().cloned().collect();
            all.sort_by_key(|provider| (provider.created_at, provider.id));
            all
        })
    }
}

impl Providers for MemoryTx {
    fn insert_provider(&mut self, provider: &Provider) -> Result<(), StoreError> {
        self.execute(|data| {
            let taken = data
                .providers
                .values()
                .any(|other| other.id == provider.id || other.api_key == provider.api_key);
            require_rule(!taken, "a provider has this id or key")?;
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
        self.execute(|data| {
            let Some(provider) = data.providers.get_mut(&id) else { return Ok(false) };
            let change = change.clone();
            provider.name = change.name.unwrap_or_else(|| provider.name.clone());
            provider.callback_url = change.callback_url.apply(provider.callback_url.take());
            provider.manages_all_domain_resources =
                change.manages_all_domain_resources.unwrap_or(provider.manages_all_domain_resources);
            provider.suspended = change.suspended.unwrap_or(provider.suspended);
            provider.api_secret_hash =
                change.api_secret_hash.unwrap_or_else(|| provider.api_secret_hash.clone());
            provider.encrypted_shared_secret =
                change.encrypted_shared_secret.unwrap_or_else(|| provider.encrypted_shared_secret.clone());
            provider.former_api_secret = change.former_api_secret.apply(provider.former_api_secret.take());
            provider.former_shared_secret =
                change.former_shared_secret.apply(provider.former_shared_secret.take());
            Ok(true)
        })
    }
}
