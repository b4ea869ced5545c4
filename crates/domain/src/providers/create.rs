//! Adding a provider.

use crate::model::{Action, Provider};
use crate::ports::{AuditLog, Context, Providers, StoreError};
use crate::values::{ProviderId, SingleLine};

/// The fields of a new provider. Its secrets are already hashed and encrypted.
pub struct CreateProvider {
    /// Its id, to which the encryption of its shared secret is bound.
    pub id: ProviderId,
    /// Its name, for the operator.
    pub name: SingleLine,
    /// The user name of its credentials.
    pub api_key: String,
    /// The peppered hash of its API secret.
    pub api_secret_hash: Vec<u8>,
    /// Its shared secret, encrypted under the master key.
    pub encrypted_shared_secret: Vec<u8>,
    /// The destination of its events, exactly as registered.
    pub callback_url: Option<String>,
    /// Whether it may create and update companies and corporations and create users.
    pub manages_all_domain_resources: bool,
}

impl CreateProvider {
    /// A provider without credentials, for a tool that is not used over the network. It receives no events
    /// and may do everything.
    pub fn without_credentials(id: ProviderId, name: SingleLine) -> Self {
        Self {
            id,
            name,
            api_key: id.to_string(),
            api_secret_hash: Vec::new(),
            encrypted_shared_secret: Vec::new(),
            callback_url: None,
            manages_all_domain_resources: true,
        }
    }
}

/// Adds a provider.
pub fn create<T: AuditLog + Providers + ?Sized>(
    tx: &mut T,
    new: CreateProvider,
    context: &Context<'_>,
) -> Result<Provider, StoreError> {
    let provider = Provider {
        id: new.id,
        name: new.name.as_str().to_owned(),
        api_key: new.api_key,
        api_secret_hash: new.api_secret_hash,
        encrypted_shared_secret: new.encrypted_shared_secret,
        former_api_secret: None,
        former_shared_secret: None,
        callback_url: new.callback_url,
        manages_all_domain_resources: new.manages_all_domain_resources,
        suspended: false,
        created_at: context.clock.now(),
    };
    tx.insert_provider(&provider)?;
    tx.record_audit_entry(
        &context
            .new_audit_entry(Action::ProviderCreated)
            .with_provider(provider.id)
            .with_detail(provider.name.as_str()),
    )?;
    Ok(provider)
}
