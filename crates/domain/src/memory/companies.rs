//! Companies.

use super::Unit;
use super::data::{Data, count, page_of};
use crate::ledger::require;
use crate::model::{Company, CompanyWithOwner};
use crate::ports::{Companies, Lookup, ReadCompanies, StoreError};
use crate::values::{CompanyId, CorporationId, DomainName, Page, ProviderId};

impl Data {
    /// The company with its provider and owner; `None` if the owner does not exist.
    fn with_owner(&self, company: &Company) -> Option<(ProviderId, CompanyWithOwner)> {
        let owner = self.users.get(&company.owner_id)?;
        let found = CompanyWithOwner {
            company: company.clone(),
            owner_email: owner.profile.email.clone(),
            owner_first_name: owner.profile.first_name.clone(),
            owner_last_name: owner.profile.last_name.clone(),
        };
        Some((company.provider_id, found))
    }

    fn companies_of(
        &self,
        scope: ProviderId,
        within: Option<CorporationId>,
    ) -> impl Iterator<Item = &Company> {
        let own = self.companies.values().filter(move |company| company.provider_id == scope);
        own.filter(move |company| within.is_none() || company.corporation_id == within)
    }

    /// Fails if something that the company refers to does not exist.
    fn refers(&self, company: &Company) -> Result<(), StoreError> {
        require(self.providers.contains_key(&company.provider_id), "no provider has this id")?;
        let corporation = company
            .corporation_id
            .is_none_or(|corporation_id| self.corporations.contains_key(&corporation_id));
        Ok(require(corporation, "no corporation has this id")?)
    }
}

impl ReadCompanies for Unit {
    fn company(&mut self, scope: ProviderId, id: CompanyId) -> Result<Lookup<CompanyWithOwner>, StoreError> {
        self.read(|data| {
            Lookup::judge(scope, data.companies.get(&id).and_then(|company| data.with_owner(company)))
        })
    }

    fn company_by_domain(
        &mut self,
        scope: ProviderId,
        domain: &DomainName,
    ) -> Result<Lookup<CompanyWithOwner>, StoreError> {
        self.read(|data| {
            let found = data.companies.values().find(|company| company.domain == *domain);
            Lookup::judge(scope, found.and_then(|company| data.with_owner(company)))
        })
    }

    fn id_of_domain(&mut self, domain: &DomainName) -> Result<Option<CompanyId>, StoreError> {
        self.read(|data| {
            data.companies.values().find(|company| company.domain == *domain).map(|company| company.id)
        })
    }

    fn companies(
        &mut self,
        scope: ProviderId,
        within: Option<CorporationId>,
        page: Page,
    ) -> Result<Vec<CompanyWithOwner>, StoreError> {
        self.read(|data| {
            let found = data.companies_of(scope, within).filter_map(|company| data.with_owner(company));
            page_of(found.map(|(_, item)| item), |item| (item.company.created_at, item.company.id), page)
        })
    }

    fn company_count(&mut self, scope: ProviderId, within: Option<CorporationId>) -> Result<i64, StoreError> {
        self.read(|data| count(data.companies_of(scope, within)))
    }

    fn provider_of_company(&mut self, id: CompanyId) -> Result<Option<ProviderId>, StoreError> {
        self.read(|data| data.companies.get(&id).map(|company| company.provider_id))
    }

    fn active_user_count(&mut self, id: CompanyId) -> Result<i64, StoreError> {
        self.read(|data| count(data.active(id)))
    }
}

impl Companies for Unit {
    fn insert_company(&mut self, company: &Company) -> Result<bool, StoreError> {
        self.run(|data| {
            if data.companies.values().any(|other| other.id == company.id || other.domain == company.domain) {
                return Ok(false);
            }
            data.refers(company)?;
            data.companies.insert(company.id, company.clone());
            Ok(true)
        })
    }

    fn update_company(&mut self, company: &Company) -> Result<(), StoreError> {
        self.run(|data| {
            data.refers(company)?;
            let taken =
                data.companies.values().any(|other| other.id != company.id && other.domain == company.domain);
            require(!taken, "a company has this domain")?;
            if let Some(stored) = data.companies.get_mut(&company.id) {
                *stored = company.clone();
            }
            Ok(())
        })
    }
}
