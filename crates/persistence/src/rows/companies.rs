//! Companies, each with its owner.

use std::borrow::Cow;

use diesel::prelude::*;
use guerdon_domain::companies::{Company, CompanyWithOwner};
use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{
    CompanyId, CorporationId, DomainName, EmailAddress, Line, ProviderId, UserId, WebUrl, fit,
};

use super::Reading;
use super::schema::{companies, users};
use super::types::{At, Id};

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
    created_at: At,
    updated_at: At,
}

impl<'a> CompanyRow<'a> {
    pub(crate) fn of(it: &'a Company) -> Self {
        Self {
            id: Id(it.id),
            provider_id: Id(it.provider_id),
            corporation_id: it.corporation_id.map(Id),
            domain: it.domain.as_str().into(),
            company_name: it.name.as_str().into(),
            owner_id: Id(it.owner_id),
            logo_url: it.logo_url.as_str().into(),
            points_per_dollar: rate_column(it.rate),
            reserve_alert: it.reserve_alert.map(Points::get),
            reserve_bcc: it.reserve_bcc.as_ref().map(|reserve_bcc| reserve_bcc.as_str().into()),
            allow_zero_points: it.allow_zero_points,
            created_at: At(it.created_at),
            updated_at: At(it.updated_at),
        }
    }
}

/// A rate as its column stores it; at most 10,000.
pub(crate) fn rate_column(rate: PointsPerDollar) -> i32 {
    fit(rate.get())
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
pub(crate) struct OwnerRow {
    email: String,
    first_name: String,
    last_name: Option<String>,
}

impl CompanyRow<'_> {
    pub(crate) fn company(self) -> Result<Company, StoreError> {
        let reading = Reading { table: "companies", id: &self.id.0 };
        let rate = PointsPerDollar::new(i64::from(self.points_per_dollar));
        let alert = self
            .reserve_alert
            .map(|points| reading.make("reserve_alert", Points::new(points)))
            .transpose()?;
        Ok(Company {
            id: self.id.0,
            provider_id: self.provider_id.0,
            corporation_id: self.corporation_id.map(|corporation_id| corporation_id.0),
            domain: reading.parse("domain", &self.domain, DomainName::parse)?,
            name: reading.parse("company_name", &self.company_name, Line::parse)?,
            owner_id: self.owner_id.0,
            logo_url: reading.parse("logo_url", &self.logo_url, WebUrl::parse)?,
            rate: reading.make("points_per_dollar", rate)?,
            reserve_alert: alert,
            reserve_bcc: reading.parse_opt(
                "reserve_bcc",
                self.reserve_bcc.as_deref(),
                EmailAddress::parse,
            )?,
            allow_zero_points: self.allow_zero_points,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }

    pub(crate) fn read(self, owner: OwnerRow) -> Result<CompanyWithOwner, StoreError> {
        let company = self.company()?;
        let reading = Reading { table: "users", id: &company.owner_id };
        Ok(CompanyWithOwner {
            owner_email: reading.parse("email", &owner.email, EmailAddress::parse)?,
            owner_first_name: reading.parse("first_name", &owner.first_name, Line::parse)?,
            owner_last_name: reading.parse_opt("last_name", owner.last_name.as_deref(), Line::parse)?,
            company,
        })
    }
}
