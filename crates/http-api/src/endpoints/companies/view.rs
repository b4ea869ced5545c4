//! A company: each kind of answer shows other fields of it (behaviour 11.1).

use guerdon_domain::companies::CompanyWithOwner;
use guerdon_domain::money::Points;
use guerdon_domain::values::{CompanyId, EmailAddress, Timestamp, UserId};
use serde::Serialize;

use crate::operation::wire::Shown;

/// A company, as creating and updating answer it.
#[derive(Serialize)]
pub(super) struct ChangedCompanyView<'a> {
    id: Shown<CompanyId>,
    domain: &'a str,
    company_name: &'a str,
    owner_id: Shown<UserId>,
    owner_email: &'a str,
    owner_name: String,
    reserve_alert: Option<i64>,
    reserve_bcc: Option<&'a str>,
    created_at: Shown<Timestamp>,
    updated_at: Shown<Timestamp>,
}

impl<'a> ChangedCompanyView<'a> {
    pub(super) fn of(found: &'a CompanyWithOwner) -> Self {
        let company = &found.company;
        Self {
            id: Shown(company.id),
            domain: company.domain.as_str(),
            company_name: company.name.as_str(),
            owner_id: Shown(company.owner_id),
            owner_email: found.owner_email.as_str(),
            owner_name: found.owner_name(),
            reserve_alert: company.reserve_alert.map(Points::get),
            reserve_bcc: company.reserve_bcc.as_ref().map(EmailAddress::as_str),
            created_at: Shown(company.created_at),
            updated_at: Shown(company.updated_at),
        }
    }
}

/// A company, as fetching one answers it.
#[derive(Serialize)]
pub(super) struct CompanyView<'a> {
    id: Shown<CompanyId>,
    domain: &'a str,
    company_name: &'a str,
    owner_id: Shown<UserId>,
    owner_email: &'a str,
    owner_name: String,
    reserve_alert: Option<i64>,
    reserve_bcc: Option<&'a str>,
    user_count: i64,
    points_per_dollar: i64,
    created_at: Shown<Timestamp>,
    updated_at: Shown<Timestamp>,
}

impl<'a> CompanyView<'a> {
    pub(super) fn of(found: &'a CompanyWithOwner, user_count: i64) -> Self {
        let company = &found.company;
        Self {
            id: Shown(company.id),
            domain: company.domain.as_str(),
            company_name: company.name.as_str(),
            owner_id: Shown(company.owner_id),
            owner_email: found.owner_email.as_str(),
            owner_name: found.owner_name(),
            reserve_alert: company.reserve_alert.map(Points::get),
            reserve_bcc: company.reserve_bcc.as_ref().map(EmailAddress::as_str),
            user_count,
            points_per_dollar: company.rate.get(),
            created_at: Shown(company.created_at),
            updated_at: Shown(company.updated_at),
        }
    }
}

/// A company, as a list shows it.
#[derive(Serialize)]
pub(crate) struct ListedCompanyView<'a> {
    id: Shown<CompanyId>,
    domain: &'a str,
    company_name: &'a str,
    owner_id: Shown<UserId>,
    owner_email: &'a str,
    owner_name: String,
    created_at: Shown<Timestamp>,
    updated_at: Shown<Timestamp>,
}

impl<'a> ListedCompanyView<'a> {
    pub(crate) fn of(found: &'a CompanyWithOwner) -> Self {
        let company = &found.company;
        Self {
            id: Shown(company.id),
            domain: company.domain.as_str(),
            company_name: company.name.as_str(),
            owner_id: Shown(company.owner_id),
            owner_email: found.owner_email.as_str(),
            owner_name: found.owner_name(),
            created_at: Shown(company.created_at),
            updated_at: Shown(company.updated_at),
        }
    }
}
