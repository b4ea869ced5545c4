//! Companies.

use super::MemoryTx;
use super::data::{StoreData, count_items, page_of};
use crate::ledger::require_rule;
use crate::model::{Company, CompanyWithOwner};
use crate::ports::{Companies, Lookup, ReadCompanies, StoreError};
use crate::values::{CompanyId, CorporationId, DomainName, Page, ProviderId};

impl StoreData {
    /// The company with its provider and owner; `None` if the owner does not exist.
    fn with_owner(&self, company: &Company) -> Option<(ProviderId, CompanyWithOwner)> {
        let owner = self.users.get(&company.owner_id)?;
        Some((company.provider_id, CompanyWithOwner::new(company.clone(), owner.profile.clone())))
    }

    fn companies_of(
        &self,
        scope: ProviderId,
        corporation: Option<CorporationId>,
    ) -> impl Iterator<Item = &Company> {
        let own = self.companies.values().filter(move |company| company.provider_id == scope);
        own.filter(move |company| corporation.is_none() || company.corporation_id == corporation)
    }

    /// Fails if something that the company refers to does not exist.
    fn check_references(&self, company: &Company) -> Result<(), StoreError> {
        require_rule(self.providers.contains_key(&company.provider_id), "the provider exists")?;
        let corporation = company
            .corporation_id
            .is_none_or(|corporation_id| self.corporations.contains_key(&corporation_id));
        Ok(require_rule(corporation, "the corporation exists")?)
    }
}

impl ReadCompanies for MemoryTx {
    fn find_company(
        &mut self,
        scope: ProviderId,
        id: CompanyId,
    ) -> Result<Lookup<CompanyWithOwner>, StoreError> {
        self.query(|data| {
            Lookup::in_scope(scope, data.companies.get(&id).and_then(|company| data.with_owner(company)))
        })
    }

    fn find_company_by_domain(
        &mut self,
        scope: ProviderId,
        domain: &DomainName,
    ) -> Result<Lookup<CompanyWithOwner>, StoreError> {
        self.query(|data| {
            let found = data.companies.values().find(|company| company.domain == *domain);
            Lookup::in_scope(scope, found.and_then(|company| data.with_owner(company)))
        })
    }

    fn find_company_id_by_domain(&mut self, domain: &DomainName) -> Result<Option<CompanyId>, StoreError> {
        self.query(|data| {
            data.companies.values().find(|company| company.domain == *domain).map(|company| company.id)
        })
    }

    fn list_companies(
        &mut self,
        scope: ProviderId,
        corporation: Option<CorporationId>,
        page: Page,
    ) -> Result<Vec<CompanyWithOwner>, StoreError> {
        self.query(|data| {
            let found = data.companies_of(scope, corporation).filter_map(|company| data.with_owner(company));
            page_of(found.map(|(_, item)| item), |item| (item.company.created_at, item.company.id), page)
        })
    }

    fn count_companies(
        &mut self,
        scope: ProviderId,
        corporation: Option<CorporationId>,
    ) -> Result<i64, StoreError> {
        self.query(|data| count_items(data.companies_of(scope, corporation)))
    }

    fn provider_of_company(&mut self, id: CompanyId) -> Result<Option<ProviderId>, StoreError> {
        self.query(|data| data.companies.get(&id).map(|company| company.provider_id))
    }

    fn count_active_users(&mut self, id: CompanyId) -> Result<i64, StoreError> {
        self.query(|data| count_items(data.active_users(id)))
    }
}

impl Companies for MemoryTx {
    fn insert_company(&mut self, company: &Company) -> Result<bool, StoreError> {
        self.execute(|data| {
            if data.companies.values().any(|other| other.id == company.id || other.domain == company.domain) {
                return Ok(false);
            }
            data.check_references(company)?;
            data.companies.insert(company.id, company.clone());
            Ok(true)
        })
    }

    fn update_company(&mut self, company: &Company) -> Result<(), StoreError> {
        self.execute(|data| {
            data.check_references(company)?;
            let taken =
                data.companies.values().any(|other| other.id != company.id && other.domain == company.domain);
            require_rule(!taken, "domains are unique")?;
            data.companies.entry(company.id).and_modify(|stored| stored.clone_from(company));
            Ok(())
        })
    }
}
