//! A company in responses. Each kind of response has different fields (behaviour 11.1).

use guerdon_domain::companies::CompanyWithOwner;
use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::values::{CompanyId, DomainName, EmailAddress, SingleLine, Timestamp, UserId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::WireValue;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "{More}Company")]
pub struct CompanyView<'a, More> {
    /// The company's id. Example: `"019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11"`
    id: WireValue<CompanyId>,
    /// The company's domain name, unique across the service. Example: `"acme.example"`
    #[schemars(with = "WireValue<DomainName>")]
    domain: &'a str,
    /// The display name. Example: `"Acme Robots"`
    #[schemars(with = "WireValue<SingleLine>")]
    company_name: &'a str,
    /// The user who owns the company. Example: `"019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22"`
    owner_id: WireValue<UserId>,
    /// The email of the user who owns the company. Example: `"ada@acme.example"`
    #[schemars(with = "WireValue<EmailAddress>")]
    owner_email: &'a str,
    /// First and last name of the owner, split at the last space. Example: `"Ada Lovelace"`
    owner_name: String,
    #[serde(flatten)]
    more: More,
    /// When it was created, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    created_at: WireValue<Timestamp>,
    /// When it was last changed, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    updated_at: WireValue<Timestamp>,
}

/// The additional fields in lists. There are none.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Listed")]
pub struct ListedFields {}

/// The additional fields in responses to creating and updating.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Changed")]
pub struct ChangedFields<'a> {
    /// If the reserve falls below this number of points, the company's admins are notified by email. Example: `1000`
    #[schemars(with = "Option<WireValue<Points>>")]
    reserve_alert: Option<i64>,
    /// An additional address for the notification that the reserve is low. Example: `"finance@acme.example"`
    #[schemars(with = "Option<WireValue<EmailAddress>>")]
    reserve_bcc: Option<&'a str>,
}

/// The additional fields in the response to fetching a company.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "")]
pub struct FetchedFields<'a> {
    #[serde(flatten)]
    changed: ChangedFields<'a>,
    /// The number of active users. Example: `12`
    #[schemars(range(min = 0))]
    user_count: i64,
    /// Points per dollar; 50 by default. Example: `50`
    #[schemars(with = "WireValue<PointsPerDollar>")]
    points_per_dollar: i64,
}

pub type ListedCompany = CompanyView<'static, ListedFields>;
pub type ChangedCompany = CompanyView<'static, ChangedFields<'static>>;
pub type WholeCompany = CompanyView<'static, FetchedFields<'static>>;

impl<'a, More> CompanyView<'a, More> {
    fn with_fields(found: &'a CompanyWithOwner, more: More) -> Self {
        let company = &found.company;
        Self {
            id: WireValue(company.id),
            domain: company.domain.as_str(),
            company_name: company.name.as_str(),
            owner_id: WireValue(company.owner_id),
            owner_email: found.owner_email.as_str(),
            owner_name: found.owner_name(),
            more,
            created_at: WireValue(company.created_at),
            updated_at: WireValue(company.updated_at),
        }
    }
}

impl<'a> CompanyView<'a, ListedFields> {
    /// The view of a company in lists.
    pub fn for_list(found: &'a CompanyWithOwner) -> Self {
        Self::with_fields(found, ListedFields {})
    }
}

impl<'a> CompanyView<'a, ChangedFields<'a>> {
    /// The view of a company in responses to creating and updating.
    pub fn for_change(found: &'a CompanyWithOwner) -> Self {
        Self::with_fields(found, ChangedFields::from_company(found))
    }
}

impl<'a> CompanyView<'a, FetchedFields<'a>> {
    /// The view of a company in the response to fetching it.
    pub fn for_fetch(found: &'a CompanyWithOwner, user_count: i64) -> Self {
        let points_per_dollar = found.company.rate.get();
        Self::with_fields(
            found,
            FetchedFields { changed: ChangedFields::from_company(found), user_count, points_per_dollar },
        )
    }
}

impl<'a> ChangedFields<'a> {
    fn from_company(found: &'a CompanyWithOwner) -> Self {
        Self {
            reserve_alert: found.company.reserve_alert.map(Points::get),
            reserve_bcc: found.company.reserve_bcc.as_ref().map(EmailAddress::as_str),
        }
    }
}
