//! Providers.

use diesel::prelude::*;
use guerdon_domain::ports::{Providers, ReadProviders, StoreError, Timestamp};
use guerdon_domain::providers::Provider;
use guerdon_domain::values::ProviderId;

use super::Unit;
use crate::rows::schema::providers;
use crate::rows::{Id, ProviderRow};

fn into_provider(row: ProviderRow) -> Result<Provider, StoreError> {
    Ok(row.into_provider())
}

impl ReadProviders for Unit<'_> {
    fn find_provider_by_api_key(&mut self, api_key: &str) -> Result<Option<Provider>, StoreError> {
        let of_key = providers::table.filter(providers::api_key.eq(api_key));
        self.find(into_provider, |conn| of_key.select(ProviderRow::as_select()).get_result(conn))
    }

    fn find_provider(&mut self, id: ProviderId) -> Result<Option<Provider>, StoreError> {
        let with_id = providers::table.find(Id(id));
        self.find(into_provider, |conn| with_id.select(ProviderRow::as_select()).get_result(conn))
    }

    fn list_providers(&mut self) -> Result<Vec<Provider>, StoreError> {
        let oldest_first = providers::table.order((providers::created_at, providers::id));
        self.list(into_provider, |conn| oldest_first.select(ProviderRow::as_select()).get_results(conn))
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
