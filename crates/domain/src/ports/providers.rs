//! Providers and their credentials.

use super::{StoreError, Timestamp};
use crate::model::Provider;
use crate::values::ProviderId;

pub trait ReadProviders {
    fn find_provider_by_api_key(&mut self, api_key: &str) -> Result<Option<Provider>, StoreError>;

    fn find_provider(&mut self, id: ProviderId) -> Result<Option<Provider>, StoreError>;

    /// All providers, oldest first.
    fn list_providers(&mut self) -> Result<Vec<Provider>, StoreError>;
}

/// Writes providers.
pub trait Providers: ReadProviders {
    fn insert_provider(&mut self, provider: &Provider) -> Result<(), StoreError>;

    /// Stores a provider that this transaction has locked, loaded and changed. `at` is the time of the change.
    fn update_provider(&mut self, provider: &Provider, at: Timestamp) -> Result<(), StoreError>;
}
