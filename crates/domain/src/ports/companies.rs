//! Companies and corporations.

use super::{Lookup, StoreError, Timestamp};
use crate::companies::{Company, CompanyWithOwner};
use crate::corporations::Corporation;
use crate::money::PointsPerDollar;
use crate::values::{CompanyId, CorporationId, DomainName, ProviderId};

/// Reading companies and corporations.
pub trait ReadCompanies {
    /// The company of an id.
    fn company(&mut self, scope: ProviderId, id: CompanyId) -> Result<Lookup<CompanyWithOwner>, StoreError>;

    /// The company of a domain.
    fn company_by_domain(
        &mut self,
        scope: ProviderId,
        domain: &DomainName,
    ) -> Result<Lookup<CompanyWithOwner>, StoreError>;

    /// The provider a company belongs to: for the operator's commands, which have no scope of their own.
    fn provider_of_company(&mut self, id: CompanyId) -> Result<Option<ProviderId>, StoreError>;

    /// How many active users the company has.
    fn active_user_count(&mut self, id: CompanyId) -> Result<i64, StoreError>;

    /// The corporation of an id.
    fn corporation(
        &mut self,
        scope: ProviderId,
        id: CorporationId,
    ) -> Result<Lookup<Corporation>, StoreError>;
}

/// Writing companies.
pub trait Companies: ReadCompanies {
    /// Adds a company; `false` where its domain is taken. The owner's user row follows in the same transaction.
    fn insert_company(&mut self, company: &Company) -> Result<bool, StoreError>;

    /// Sets the conversion rate of a company found before in this transaction.
    fn set_rate(&mut self, id: CompanyId, rate: PointsPerDollar, at: Timestamp) -> Result<(), StoreError>;

    /// Sets whether recognitions of zero points are allowed.
    fn set_allow_zero_points(&mut self, id: CompanyId, allow: bool, at: Timestamp) -> Result<(), StoreError>;

    /// Adds a corporation.
    fn insert_corporation(&mut self, corporation: &Corporation) -> Result<(), StoreError>;
}
