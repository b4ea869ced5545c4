//! Providers.

use diesel::prelude::*;
use guerdon_domain::providers::{Former, Provider};
use guerdon_domain::values::ProviderId;

use super::schema::providers;
use super::types::{At, Id};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = providers, treat_none_as_default_value = false)]
pub(crate) struct ProviderRow {
    id: Id<ProviderId>,
    name: String,
    api_key: String,
    api_secret_hash: Vec<u8>,
    shared_secret_sealed: Vec<u8>,
    former_api_secret_hash: Option<Vec<u8>>,
    former_api_secret_until: Option<At>,
    former_shared_secret_sealed: Option<Vec<u8>>,
    former_shared_secret_until: Option<At>,
    callback_url: Option<String>,
    manages_all_domain_resources: bool,
    suspended: bool,
    created_at: At,
    updated_at: At,
}

impl ProviderRow {
    pub(crate) fn of(it: &Provider) -> Self {
        Self {
            id: Id(it.id),
            name: it.name.clone(),
            api_key: it.api_key.clone(),
            api_secret_hash: it.api_secret_hash.clone(),
            shared_secret_sealed: it.shared_secret_sealed.clone(),
            former_api_secret_hash: it.former_api_secret.as_ref().map(|former| former.kept.clone()),
            former_api_secret_until: it.former_api_secret.as_ref().map(|former| At(former.until)),
            former_shared_secret_sealed: it.former_shared_secret.as_ref().map(|former| former.kept.clone()),
            former_shared_secret_until: it.former_shared_secret.as_ref().map(|former| At(former.until)),
            callback_url: it.callback_url.clone(),
            manages_all_domain_resources: it.manages_all_domain_resources,
            suspended: it.suspended,
            created_at: At(it.created_at),
            updated_at: At(it.created_at),
        }
    }

    pub(crate) fn read(self) -> Provider {
        Provider {
            id: self.id.0,
            name: self.name,
            api_key: self.api_key,
            api_secret_hash: self.api_secret_hash,
            shared_secret_sealed: self.shared_secret_sealed,
            former_api_secret: former(self.former_api_secret_hash, self.former_api_secret_until),
            former_shared_secret: former(self.former_shared_secret_sealed, self.former_shared_secret_until),
            callback_url: self.callback_url,
            manages_all_domain_resources: self.manages_all_domain_resources,
            suspended: self.suspended,
            created_at: self.created_at.0,
        }
    }
}

fn former(kept: Option<Vec<u8>>, until: Option<At>) -> Option<Former> {
    Some(Former { kept: kept?, until: until?.0 })
}
