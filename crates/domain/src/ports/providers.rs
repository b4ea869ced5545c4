//! Providers and their credentials.

use super::{StoreError, Timestamp};
use crate::model::{Former, Provider};
use crate::values::{ProviderId, Update};

pub trait ReadProviders {
    fn provider_by_api_key(&mut self, api_key: &str) -> Result<Option<Provider>, StoreError>;

    fn provider(&mut self, id: ProviderId) -> Result<Option<Provider>, StoreError>;

    /// All providers, oldest first.
    fn providers(&mut self) -> Result<Vec<Provider>, StoreError>;
}

/// What an operator changes of a provider; what is `None` or `Keep` stays.
#[derive(Debug, Clone, Default)]
pub struct ProviderChange {
    pub name: Option<String>,
    /// Where its events go, kept exactly as registered.
    pub callback_url: Update<String>,
    /// Whether it may create and update companies and corporations and create users (behaviour 9.3).
    pub manages_all_domain_resources: Option<bool>,
    /// Whether its credentials are refused and its events wait.
    pub suspended: Option<bool>,
    pub api_secret_hash: Option<Vec<u8>>,
    pub shared_secret_sealed: Option<Vec<u8>>,
    /// The API secret before, and how long it works yet.
    pub former_api_secret: Update<Former>,
    /// The shared secret before, and how long events are signed by it.
    pub former_shared_secret: Update<Former>,
}

/// Writing providers.
pub trait Providers: ReadProviders {
    fn insert_provider(&mut self, provider: &Provider) -> Result<(), StoreError>;

    /// Changes a provider; `false` where there is none.
    fn change_provider(
        &mut self,
        id: ProviderId,
        change: &ProviderChange,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}
