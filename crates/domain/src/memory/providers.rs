//! Providers.

use super::MemoryTx;
use crate::ledger::require_rule;
use crate::model::Provider;
use crate::ports::{Providers, ReadProviders, StoreError, Timestamp};
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
            require_rule(!taken, "provider ids and API keys are unique")?;
            data.providers.insert(provider.id, provider.clone());
            Ok(())
        })
    }

    fn update_provider(&mut self, provider: &Provider, _at: Timestamp) -> Result<(), StoreError> {
        self.execute(|data| {
            let taken = data
                .providers
                .values()
                .any(|other| other.id != provider.id && other.api_key == provider.api_key);
            require_rule(!taken, "API keys are unique")?;
            data.providers.entry(provider.id).and_modify(|stored| stored.clone_from(provider));
            Ok(())
        })
    }
}
