//! Providers.

use diesel::prelude::*;
use guerdon_domain::ports::Timestamp;
use guerdon_domain::providers::{FormerSecret, Provider};
use guerdon_domain::values::ProviderId;

use super::schema::providers;
use super::{DbTimestamp, Id};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = providers, treat_none_as_default_value = false, treat_none_as_null = true)]
pub(crate) struct ProviderRow {
    id: Id<ProviderId>,
    name: String,
    api_key: String,
    api_secret_hash: Vec<u8>,
    encrypted_shared_secret: Vec<u8>,
    former_api_secret_hash: Option<Vec<u8>>,
    former_api_secret_until: Option<DbTimestamp>,
    former_encrypted_shared_secret: Option<Vec<u8>>,
    former_shared_secret_until: Option<DbTimestamp>,
    callback_url: Option<String>,
    manages_all_domain_resources: bool,
    suspended: bool,
    created_at: DbTimestamp,
    updated_at: DbTimestamp,
}

impl ProviderRow {
    pub(crate) fn from_provider(provider: &Provider, updated_at: Timestamp) -> Self {
        let former_api_secret = provider.former_api_secret.as_ref();
        let former_shared_secret = provider.former_shared_secret.as_ref();
        Self {
            id: Id(provider.id),
            name: provider.name.clone(),
            api_key: provider.api_key.clone(),
            api_secret_hash: provider.api_secret_hash.clone(),
            encrypted_shared_secret: provider.encrypted_shared_secret.clone(),
            former_api_secret_hash: former_api_secret.map(|former| former.secret.clone()),
            former_api_secret_until: former_api_secret.map(|former| DbTimestamp(former.valid_until)),
            former_encrypted_shared_secret: former_shared_secret.map(|former| former.secret.clone()),
            former_shared_secret_until: former_shared_secret.map(|former| DbTimestamp(former.valid_until)),
            callback_url: provider.callback_url.clone(),
            manages_all_domain_resources: provider.manages_all_domain_resources,
            suspended: provider.suspended,
            created_at: DbTimestamp(provider.created_at),
            updated_at: DbTimestamp(updated_at),
        }
    }

    pub(crate) fn into_provider(self) -> Provider {
        Provider {
            id: self.id.0,
            name: self.name,
            api_key: self.api_key,
            api_secret_hash: self.api_secret_hash,
            encrypted_shared_secret: self.encrypted_shared_secret,
            former_api_secret: former_secret(self.former_api_secret_hash, self.former_api_secret_until),
            former_shared_secret: former_secret(
                self.former_encrypted_shared_secret,
                self.former_shared_secret_until,
            ),
            callback_url: self.callback_url,
            manages_all_domain_resources: self.manages_all_domain_resources,
            suspended: self.suspended,
            created_at: self.created_at.0,
        }
    }
}

fn former_secret(secret: Option<Vec<u8>>, valid_until: Option<DbTimestamp>) -> Option<FormerSecret> {
    Some(FormerSecret { secret: secret?, valid_until: valid_until?.0 })
}
