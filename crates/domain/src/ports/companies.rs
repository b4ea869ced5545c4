//! Companies.

use super::{Lookup, StoreError};
use crate::model::{Company, CompanyWithOwner};
use crate::values::{CompanyId, CorporationId, DomainName, Page, ProviderId};

pub trait ReadCompanies {
    fn find_company(
        &mut self,
        scope: ProviderId,
        id: CompanyId,
    ) -> Result<Lookup<CompanyWithOwner>, StoreError>;

    fn find_company_by_domain(
        &mut self,
        scope: ProviderId,
        domain: &DomainName,
    ) -> Result<Lookup<CompanyWithOwner>, StoreError>;

    /// Finds the id of the company with a domain, whichever provider the company belongs to. For the
    /// operator's commands.
    fn find_company_id_by_domain(&mut self, domain: &DomainName) -> Result<Option<CompanyId>, StoreError>;

    /// A page of the provider's companies, or of those in a corporation, oldest first, ties by id.
    fn list_companies(
        &mut self,
        scope: ProviderId,
        corporation: Option<CorporationId>,
        page: Page,
    ) -> Result<Vec<CompanyWithOwner>, StoreError>;

    /// The number of companies on all pages.
    fn count_companies(
        &mut self,
        scope: ProviderId,
        corporation: Option<CorporationId>,
    ) -> Result<i64, StoreError>;

    /// The provider of a company. For the operator's commands, which are not scoped to a provider.
    fn provider_of_company(&mut self, id: CompanyId) -> Result<Option<ProviderId>, StoreError>;

    fn count_active_users(&mut self, id: CompanyId) -> Result<i64, StoreError>;
}

/// Writes companies.
pub trait Companies: ReadCompanies {
    /// Adds a company; `false` if its domain is taken. The row of its owner must follow in the same
    /// transaction.
    fn insert_company(&mut self, company: &Company) -> Result<bool, StoreError>;

    /// Writes all changeable fields of a company that this transaction has locked.
    fn update_company(&mut self, company: &Company) -> Result<(), StoreError>;
}
