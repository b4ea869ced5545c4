//! Providers.

use diesel::prelude::*;
use guerdon_domain::ports::{Providers, ReadProviders, StoreError, Timestamp};
use guerdon_domain::providers::Provider;
use guerdon_domain::values::ProviderId;

use super::Unit;
use crate::rows::ProviderRow;
use crate::rows::schema::providers;
use crate::rows::types::Id;

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

impl Providers for Unit<'_> {
    fn insert_provider(&mut self, provider: &Provider) -> Result<(), StoreError> {
        let row = ProviderRow::from_provider(provider, provider.created_at);
        self.execute(|conn| diesel::insert_into(providers::table).values(&row).execute(conn))
    }

    fn update_provider(&mut self, provider: &Provider, at: Timestamp) -> Result<(), StoreError> {
        let row = ProviderRow::from_provider(provider, at);
        self.execute(|conn| diesel::update(providers::table.find(Id(provider.id))).set(&row).execute(conn))
    }
}
