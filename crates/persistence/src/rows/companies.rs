//! Companies, each with its owner.

use std::borrow::Cow;

use diesel::prelude::*;
use guerdon_domain::companies::{Company, CompanyWithOwner};
use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{
    CompanyId, CorporationId, DomainName, EmailAddress, ProviderId, SingleLine, UserId, WebUrl, checked_cast,
};

use super::schema::{companies, users};
use super::{DbTimestamp, Id, RowReader};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = companies, treat_none_as_default_value = false, treat_none_as_null = true)]
pub(crate) struct CompanyRow<'a> {
    id: Id<CompanyId>,
    pub(crate) provider_id: Id<ProviderId>,
    corporation_id: Option<Id<CorporationId>>,
    domain: Cow<'a, str>,
    company_name: Cow<'a, str>,
    owner_id: Id<UserId>,
    logo_url: Cow<'a, str>,
    points_per_dollar: i32,
    reserve_alert: Option<i64>,
    reserve_bcc: Option<Cow<'a, str>>,
    allow_zero_points: bool,
    created_at: DbTimestamp,
    updated_at: DbTimestamp,
    handed_over_at: Option<DbTimestamp>,
}

impl<'a> CompanyRow<'a> {
    pub(crate) fn from_company(company: &'a Company) -> Self {
        Self {
            id: Id(company.id),
            provider_id: Id(company.provider_id),
            corporation_id: company.corporation_id.map(Id),
            domain: company.domain.as_str().into(),
            company_name: company.name.as_str().into(),
            owner_id: Id(company.owner_id),
            logo_url: company.logo_url.as_str().into(),
            points_per_dollar: rate_column(company.rate),
            reserve_alert: company.reserve_alert.map(Points::get),
            reserve_bcc: company.reserve_bcc.as_ref().map(|reserve_bcc| reserve_bcc.as_str().into()),
            allow_zero_points: company.allow_zero_points,
            created_at: DbTimestamp(company.created_at),
            updated_at: DbTimestamp(company.updated_at),
            handed_over_at: company.handed_over_at.map(DbTimestamp),
        }
    }
}

/// The column value of a rate, at most 10,000.
pub(crate) fn rate_column(rate: PointsPerDollar) -> i32 {
    checked_cast(rate.get())
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
pub(crate) struct OwnerRow {
    email: String,
    first_name: String,
    last_name: Option<String>,
}

impl CompanyRow<'_> {
    pub(crate) fn into_company(self) -> Result<Company, StoreError> {
        let reader = RowReader { table: "companies", id: &self.id.0 };
        let rate = PointsPerDollar::new(i64::from(self.points_per_dollar));
        let alert = self
            .reserve_alert
            .map(|points| reader.require_valid("reserve_alert", Points::new(points)))
            .transpose()?;
        Ok(Company {
            id: self.id.0,
            provider_id: self.provider_id.0,
            corporation_id: self.corporation_id.map(|corporation_id| corporation_id.0),
            domain: reader.parse_column("domain", &self.domain, DomainName::parse)?,
            name: reader.parse_column("company_name", &self.company_name, SingleLine::parse)?,
            owner_id: self.owner_id.0,
            logo_url: reader.parse_column("logo_url", &self.logo_url, WebUrl::parse)?,
            rate: reader.require_valid("points_per_dollar", rate)?,
            reserve_alert: alert,
            reserve_bcc: reader.parse_nullable(
                "reserve_bcc",
                self.reserve_bcc.as_deref(),
                EmailAddress::parse,
            )?,
            allow_zero_points: self.allow_zero_points,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
            handed_over_at: self.handed_over_at.map(|handed_over_at| handed_over_at.0),
        })
    }

    pub(crate) fn into_company_with_owner(self, owner: OwnerRow) -> Result<CompanyWithOwner, StoreError> {
        let company = self.into_company()?;
        let reader = RowReader { table: "users", id: &company.owner_id };
        Ok(CompanyWithOwner {
            owner_email: reader.parse_column("email", &owner.email, EmailAddress::parse)?,
            owner_first_name: reader.parse_column("first_name", &owner.first_name, SingleLine::parse)?,
            owner_last_name: reader.parse_nullable(
                "last_name",
                owner.last_name.as_deref(),
                SingleLine::parse,
            )?,
            company,
        })
    }
}
