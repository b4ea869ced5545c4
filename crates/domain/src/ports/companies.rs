//! Companies.

use super::{Lookup, StoreError};
use crate::model::{Company, CompanyWithOwner};
use crate::values::{CompanyId, CorporationId, DomainName, Page, ProviderId};

pub trait ReadCompanies {
    fn company(&mut self, scope: ProviderId, id: CompanyId) -> Result<Lookup<CompanyWithOwner>, StoreError>;

    fn company_by_domain(
        &mut self,
        scope: ProviderId,
        domain: &DomainName,
    ) -> Result<Lookup<CompanyWithOwner>, StoreError>;

    /// The company of a domain, whoever's it is: for the operator's commands.
    fn id_of_domain(&mut self, domain: &DomainName) -> Result<Option<CompanyId>, StoreError>;

    /// A page of the provider's companies, or of those within a corporation, oldest first, ties by id.
    fn companies(
        &mut self,
        scope: ProviderId,
        within: Option<CorporationId>,
        page: Page,
    ) -> Result<Vec<CompanyWithOwner>, StoreError>;

    /// How many companies all pages list.
    fn company_count(&mut self, scope: ProviderId, within: Option<CorporationId>) -> Result<i64, StoreError>;

    /// The provider a company belongs to: for the operator's commands, which have no scope of their own.
    fn provider_of_company(&mut self, id: CompanyId) -> Result<Option<ProviderId>, StoreError>;

    fn active_user_count(&mut self, id: CompanyId) -> Result<i64, StoreError>;
}

/// Writing companies.
pub trait Companies: ReadCompanies {
    /// Adds a company; `false` where its domain is taken. The owner's user row follows in the same transaction.
    fn insert_company(&mut self, company: &Company) -> Result<bool, StoreError>;

    /// Writes everything that can change of a company that this transaction holds.
    fn update_company(&mut self, company: &Company) -> Result<(), StoreError>;
}
