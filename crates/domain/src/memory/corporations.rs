//! Corporations.

use super::Unit;
use super::data::{count, page_of};
use crate::ledger::require;
use crate::model::Corporation;
use crate::ports::{Corporations, Lookup, ReadCorporations, StoreError};
use crate::values::{CorporationId, Page, ProviderId};

impl ReadCorporations for Unit {
    fn corporation(
        &mut self,
        scope: ProviderId,
        id: CorporationId,
    ) -> Result<Lookup<Corporation>, StoreError> {
        self.read(|data| {
            let found = data.corporations.get(&id);
            Lookup::judge(scope, found.map(|corporation| (corporation.provider_id, corporation.clone())))
        })
    }

    fn corporations(&mut self, scope: ProviderId, page: Page) -> Result<Vec<Corporation>, StoreError> {
        self.read(|data| {
            let own =
                data.corporations.values().filter(|corporation| corporation.provider_id == scope).cloned();
            page_of(own, |item| (item.created_at, item.id), page)
        })
    }

    fn corporation_count(&mut self, scope: ProviderId) -> Result<i64, StoreError> {
        self.read(|data| {
            count(data.corporations.values().filter(|corporation| corporation.provider_id == scope))
        })
    }
}

impl Corporations for Unit {
    fn insert_corporation(&mut self, corporation: &Corporation) -> Result<(), StoreError> {
        self.run(|data| {
            require(data.providers.contains_key(&corporation.provider_id), "no provider has this id")?;
            require(!data.corporations.contains_key(&corporation.id), "a corporation has this id")?;
            data.corporations.insert(corporation.id, corporation.clone());
            Ok(())
        })
    }

    fn update_corporation(&mut self, corporation: &Corporation) -> Result<(), StoreError> {
        self.run(|data| {
            if let Some(stored) = data.corporations.get_mut(&corporation.id) {
                *stored = corporation.clone();
            }
            Ok(())
        })
    }
}
