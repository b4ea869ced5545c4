//! The provider.

use crate::values::{ProviderId, Timestamp};

/// A provider as it is stored: of its secrets only what cannot be turned back.
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
    /// Where its events go, exactly as registered.
    pub callback_url: Option<String>,
    /// Whether it may create and update companies and corporations and create users.
    pub manages_all_domain_resources: bool,
    /// Whether its credentials are refused.
    pub suspended: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Provider").field("id", &self.id).finish_non_exhaustive()
    }
}
