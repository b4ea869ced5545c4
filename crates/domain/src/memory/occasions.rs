//! Occasions.

use super::MemoryTx;
use super::data::{StoreData, count_items, page_of};
use crate::ledger::require_rule;
use crate::model::Occasion;
use crate::ports::{Lookup, Occasions, ReadOccasions, StoreError, Timestamp};
use crate::values::{CompanyId, OccasionId, Page, ProviderId, SingleLine};

impl StoreData {
    /// The occasions that a company can use: its own and the global ones.
    fn usable_occasions(&self, company: CompanyId) -> impl Iterator<Item = &Occasion> {
        let active = self
            .occasions
            .values()
            .filter(|(_, deleted_at)| deleted_at.is_none())
            .map(|(occasion, _)| occasion);
        active.filter(move |occasion| occasion.company_id.is_none_or(|owner| owner == company))
    }
}

impl ReadOccasions for MemoryTx {
    fn find_occasion(&mut self, scope: ProviderId, id: OccasionId) -> Result<Lookup<Occasion>, StoreError> {
        self.query(|data| {
            let found = data.occasions.get(&id).filter(|(_, deleted_at)| deleted_at.is_none());
            let found = found.map(|(occasion, _)| {
                let company = occasion.company_id.and_then(|company_id| data.companies.get(&company_id));
                (company.map_or(scope, |company| company.provider_id), occasion.clone())
            });
            Lookup::in_scope(scope, found)
        })
    }

    fn list_global_occasions(&mut self) -> Result<Vec<Occasion>, StoreError> {
        self.query(|data| {
            let no_company = CompanyId::from_uuid(uuid::Uuid::nil());
            let mut all: Vec<Occasion> =
                data.usable_occasions(no_company).filter(|occasion| occasion.is_global()).cloned().collect();
            all.sort_by_key(|occasion| (occasion.created_at, occasion.id));
            all
        })
    }

    fn list_occasions(&mut self, company: CompanyId, page: Page) -> Result<Vec<Occasion>, StoreError> {
        self.query(|data| {
            page_of(data.usable_occasions(company).cloned(), |item| (item.created_at, item.id), page)
        })
    }

    fn find_occasion_name(&mut self, id: OccasionId) -> Result<Option<SingleLine>, StoreError> {
        self.query(|data| data.occasions.get(&id).map(|(occasion, _)| occasion.text.name.clone()))
    }

    fn count_occasions(&mut self, company: CompanyId) -> Result<i64, StoreError> {
        self.query(|data| count_items(data.usable_occasions(company)))
    }
}

impl Occasions for MemoryTx {
    fn insert_occasion(&mut self, occasion: &Occasion) -> Result<(), StoreError> {
        self.execute(|data| {
            let company =
                occasion.company_id.is_none_or(|company_id| data.companies.contains_key(&company_id));
            require_rule(company, "the company exists")?;
            require_rule(!data.occasions.contains_key(&occasion.id), "occasion ids are unique")?;
            data.occasions.insert(occasion.id, (occasion.clone(), None));
            Ok(())
        })
    }

    fn update_occasion(&mut self, occasion: &Occasion) -> Result<(), StoreError> {
        self.execute(|data| {
            data.occasions.entry(occasion.id).and_modify(|(stored, _)| stored.clone_from(occasion));
            Ok(())
        })
    }

    fn mark_occasion_deleted(&mut self, id: OccasionId, at: Timestamp) -> Result<(), StoreError> {
        self.execute(|data| {
            if let Some((stored, deleted_at)) = data.occasions.get_mut(&id) {
                (stored.updated_at, *deleted_at) = (at, Some(at));
            }
            Ok(())
        })
    }
}
