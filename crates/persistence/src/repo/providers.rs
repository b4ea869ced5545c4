//! Providers.

use diesel::prelude::*;
use guerdon_domain::ports::{ProviderChange, Providers, ReadProviders, StoreError, Timestamp};
use guerdon_domain::providers::Provider;
use guerdon_domain::values::{ProviderId, Update};

use super::Unit;
use crate::rows::ProviderRow;
use crate::rows::schema::providers;
use crate::rows::types::{DbTimestamp, Id};

impl ReadProviders for Unit<'_> {
    fn find_provider_by_api_key(&mut self, api_key: &str) -> Result<Option<Provider>, StoreError> {
        let found = self.query(|conn| {
            providers::table
                .filter(providers::api_key.eq(api_key))
                .select(ProviderRow::as_select())
                .get_result(conn)
                .optional()
        })?;
        Ok(found.map(ProviderRow::into_provider))
    }

    fn find_provider(&mut self, id: ProviderId) -> Result<Option<Provider>, StoreError> {
        let found = self.query(|conn| {
            providers::table.find(Id(id)).select(ProviderRow::as_select()).get_result(conn).optional()
        })?;
        Ok(found.map(ProviderRow::into_provider))
    }

    fn list_providers(&mut self) -> Result<Vec<Provider>, StoreError> {
        let found = self.query(|conn| {
            providers::table
                .order((providers::created_at, providers::id))
                .select(ProviderRow::as_select())
                .get_results(conn)
        })?;
        Ok(found.into_iter().map(ProviderRow::into_provider).collect())
    }
}

#[derive(AsChangeset)]
#[diesel(table_name = providers)]
struct ProviderChangeset<'a> {
    name: Option<&'a str>,
    callback_url: Option<Option<&'a str>>,
    manages_all_domain_resources: Option<bool>,
    suspended: Option<bool>,
    api_secret_hash: Option<&'a [u8]>,
    encrypted_shared_secret: Option<&'a [u8]>,
    former_api_secret_hash: Option<Option<&'a [u8]>>,
    former_api_secret_until: Option<Option<DbTimestamp>>,
    former_encrypted_shared_secret: Option<Option<&'a [u8]>>,
    former_shared_secret_until: Option<Option<DbTimestamp>>,
    updated_at: DbTimestamp,
}

/// Converts an update (keep, clear or set) of a nullable column for diesel.
#[expect(clippy::option_option, reason = "in a changeset, diesel skips None and writes Some(None) as NULL")]
fn to_changeset<'a, T, V>(update: &'a Update<T>, value: impl FnOnce(&'a T) -> V) -> Option<Option<V>> {
    match update {
        Update::Keep => None,
        Update::Clear => Some(None),
        Update::Set(new) => Some(Some(value(new))),
    }
}

impl Providers for Unit<'_> {
    fn insert_provider(&mut self, provider: &Provider) -> Result<(), StoreError> {
        let row = ProviderRow::from_provider(provider);
        self.query(|conn| diesel::insert_into(providers::table).values(&row).execute(conn))?;
        Ok(())
    }

    fn change_provider(
        &mut self,
        id: ProviderId,
        change: &ProviderChange,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let changes = ProviderChangeset {
            name: change.name.as_deref(),
            callback_url: to_changeset(&change.callback_url, String::as_str),
            manages_all_domain_resources: change.manages_all_domain_resources,
            suspended: change.suspended,
            api_secret_hash: change.api_secret_hash.as_deref(),
            encrypted_shared_secret: change.encrypted_shared_secret.as_deref(),
            former_api_secret_hash: to_changeset(&change.former_api_secret, |former| {
                former.secret.as_slice()
            }),
            former_api_secret_until: to_changeset(&change.former_api_secret, |former| {
                DbTimestamp(former.valid_until)
            }),
            former_encrypted_shared_secret: to_changeset(&change.former_shared_secret, |former| {
                former.secret.as_slice()
            }),
            former_shared_secret_until: to_changeset(&change.former_shared_secret, |former| {
                DbTimestamp(former.valid_until)
            }),
            updated_at: DbTimestamp(at),
        };
        let changed =
            self.query(|conn| diesel::update(providers::table.find(Id(id))).set(&changes).execute(conn))?;
        Ok(changed == 1)
    }
}
