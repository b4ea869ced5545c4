//! Providers and their credentials.

use super::{StoreError, Timestamp};
use crate::model::{FormerSecret, Provider};
use crate::values::{ProviderId, Update};

pub trait ReadProviders {
    fn find_provider_by_api_key(&mut self, api_key: &str) -> Result<Option<Provider>, StoreError>;

    fn find_provider(&mut self, id: ProviderId) -> Result<Option<Provider>, StoreError>;

    /// All providers, oldest first.
    fn list_providers(&mut self) -> Result<Vec<Provider>, StoreError>;
}

/// A change of a provider by an operator. Fields that are `None` or `Keep` do not change.
#[derive(Debug, Clone, Default)]
pub struct ProviderChange {
    pub name: Option<String>,
    /// The destination of its events, stored exactly as registered.
    pub callback_url: Update<String>,
    /// Whether it may create and update companies and corporations and create users (behaviour 9.3).
    pub manages_all_domain_resources: Option<bool>,
    /// Whether its credentials are refused and its events wait.
    pub suspended: Option<bool>,
    pub api_secret_hash: Option<Vec<u8>>,
    pub encrypted_shared_secret: Option<Vec<u8>>,
    /// The previous API secret, and until when it is valid.
    pub former_api_secret: Update<FormerSecret>,
    /// The previous shared secret, and until when it also signs events.
    pub former_shared_secret: Update<FormerSecret>,
}

/// Writes providers.
pub trait Providers: ReadProviders {
    fn insert_provider(&mut self, provider: &Provider) -> Result<(), StoreError>;

    /// Changes a provider; `false` if it does not exist.
    fn change_provider(
        &mut self,
        id: ProviderId,
        change: &ProviderChange,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}
