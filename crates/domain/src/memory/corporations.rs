//! Corporations.

use super::MemoryTx;
use super::data::{count_items, page_of};
use crate::ledger::require_rule;
use crate::model::Corporation;
use crate::ports::{Corporations, Lookup, ReadCorporations, StoreError};
use crate::values::{CorporationId, Page, ProviderId};

impl ReadCorporations for MemoryTx {
    fn find_corporation(
        &mut self,
        scope: ProviderId,
        id: CorporationId,
    ) -> Result<Lookup<Corporation>, StoreError> {
        self.query(|data| {
            let found = data.corporations.get(&id);
            Lookup::in_scope(scope, found.map(|corporation| (corporation.provider_id, corporation.clone())))
        })
    }

    fn list_corporations(&mut self, scope: ProviderId, page: Page) -> Result<Vec<Corporation>, StoreError> {
        self.query(|data| {
            let own =
                data.corporations.values().filter(|corporation| corporation.provider_id == scope).cloned();
            page_of(own, |item| (item.created_at, item.id), page)
        })
    }

    fn count_corporations(&mut self, scope: ProviderId) -> Result<i64, StoreError> {
        self.query(|data| {
            count_items(data.corporations.values().filter(|corporation| corporation.provider_id == scope))
        })
    }
}

impl Corporations for MemoryTx {
    fn insert_corporation(&mut self, corporation: &Corporation) -> Result<(), StoreError> {
        self.execute(|data| {
            require_rule(data.providers.contains_key(&corporation.provider_id), "the provider exists")?;
            require_rule(!data.corporations.contains_key(&corporation.id), "corporation ids are unique")?;
            data.corporations.insert(corporation.id, corporation.clone());
            Ok(())
        })
    }

    fn update_corporation(&mut self, corporation: &Corporation) -> Result<(), StoreError> {
        self.execute(|data| {
            data.corporations.entry(corporation.id).and_modify(|stored| stored.clone_from(corporation));
            Ok(())
        })
    }
}
