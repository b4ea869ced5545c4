//! Occasions.

use super::Unit;
use super::data::{Data, count, page_of};
use crate::ledger::require;
use crate::model::Occasion;
use crate::ports::{Lookup, Occasions, ReadOccasions, StoreError, Timestamp};
use crate::values::{CompanyId, Line, OccasionId, Page, ProviderId};

impl Data {
    /// The occasions that a company can use: its own and the global ones.
    fn usable(&self, company: CompanyId) -> impl Iterator<Item = &Occasion> {
        let kept = self
            .occasions
            .values()
            .filter(|(_, deleted_at)| deleted_at.is_none())
            .map(|(occasion, _)| occasion);
        kept.filter(move |occasion| occasion.company_id.is_none_or(|owner| owner == company))
    }
}

impl ReadOccasions for Unit {
    fn occasion(&mut self, scope: ProviderId, id: OccasionId) -> Result<Lookup<Occasion>, StoreError> {
        self.read(|data| {
            let found = data.occasions.get(&id).filter(|(_, deleted_at)| deleted_at.is_none());
            let found = found.map(|(occasion, _)| {
                let company = occasion.company_id.and_then(|company_id| data.companies.get(&company_id));
                (company.map_or(scope, |company| company.provider_id), occasion.clone())
            });
            Lookup::judge(scope, found)
        })
    }

    fn global_occasions(&mut self) -> Result<Vec<Occasion>, StoreError> {
        self.read(|data| {
            let nobodys = CompanyId::from_uuid(uuid::Uuid::nil());
            let mut all: Vec<Occasion> =
                data.usable(nobodys).filter(|occasion| occasion.is_global()).cloned().collect();
            all.sort_by_key(|occasion| (occasion.created_at, occasion.id));
            all
        })
    }

    fn occasions(&mut self, company: CompanyId, page: Page) -> Result<Vec<Occasion>, StoreError> {
        self.read(|data| page_of(data.usable(company).cloned(), |item| (item.created_at, item.id), page))
    }

    fn occasion_name(&mut self, id: OccasionId) -> Result<Option<Line>, StoreError> {
        self.read(|data| data.occasions.get(&id).map(|(occasion, _)| occasion.text.name.clone()))
    }

    fn occasion_count(&mut self, company: CompanyId) -> Result<i64, StoreError> {
        self.read(|data| count(data.usable(company)))
    }
}

impl Occasions for Unit {
    fn insert_occasion(&mut self, occasion: &Occasion) -> Result<(), StoreError> {
        self.run(|data| {
            let company =
                occasion.company_id.is_none_or(|company_id| data.companies.contains_key(&company_id));
            require(company, "no company has this id")?;
            require(!data.occasions.contains_key(&occasion.id), "an occasion has this id")?;
            data.occasions.insert(occasion.id, (occasion.clone(), None));
            Ok(())
        })
    }

    fn update_occasion(&mut self, occasion: &Occasion) -> Result<(), StoreError> {
        self.run(|data| {
            if let Some((it, _)) = data.occasions.get_mut(&occasion.id) {
                *it = occasion.clone();
            }
            Ok(())
        })
    }

    fn mark_occasion_deleted(&mut self, id: OccasionId, at: Timestamp) -> Result<(), StoreError> {
        self.run(|data| {
            if let Some((it, deleted_at)) = data.occasions.get_mut(&id) {
                (it.updated_at, *deleted_at) = (at, Some(at));
            }
            Ok(())
        })
    }
}
