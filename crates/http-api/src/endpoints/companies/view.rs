//! A company: each kind of answer shows other fields of it (behaviour 11.1).

use guerdon_domain::companies::CompanyWithOwner;
use guerdon_domain::money::Points;
use guerdon_domain::values::{CompanyId, EmailAddress, Timestamp, UserId};
use serde::Serialize;

use crate::operation::wire::Shown;

#[derive(Serialize)]
pub(crate) struct CompanyView<'a> {
    id: Shown<CompanyId>,
    domain: &'a str,
    company_name: &'a str,
    owner_id: Shown<UserId>,
    owner_email: &'a str,
    owner_name: String,
    #[serde(flatten)]
    alert: Option<Alert<'a>>,
    #[serde(flatten)]
    rest: Option<Rest>,
    created_at: Shown<Timestamp>,
    updated_at: Shown<Timestamp>,
}

#[derive(Serialize)]
struct Alert<'a> {
    reserve_alert: Option<i64>,
    reserve_bcc: Option<&'a str>,
}

#[derive(Serialize)]
struct Rest {
    user_count: i64,
    points_per_dollar: i64,
}

impl<'a> CompanyView<'a> {
    /// As a list shows it.
    pub(crate) fn listed(found: &'a CompanyWithOwner) -> Self {
        let company = &found.company;
        Self {
            id: Shown(company.id),
            domain: company.domain.as_str(),
            company_name: company.name.as_str(),
            owner_id: Shown(company.owner_id),
            owner_email: found.owner_email.as_str(),
            owner_name: found.owner_name(),
            alert: None,
            rest: None,
            created_at: Shown(company.created_at),
            updated_at: Shown(company.updated_at),
        }
    }

    /// As creating and updating answer it.
    pub(super) fn changed(found: &'a CompanyWithOwner) -> Self {
        let company = &found.company;
        let alert = Alert {
            reserve_alert: company.reserve_alert.map(Points::get),
            reserve_bcc: company.reserve_bcc.as_ref().map(EmailAddress::as_str),
        };
        Self { alert: Some(alert), ..Self::listed(found) }
    }

    /// As fetching one answers it.
    pub(crate) fn whole(found: &'a CompanyWithOwner, user_count: i64) -> Self {
        let rest = Rest { user_count, points_per_dollar: found.company.rate.get() };
        Self { rest: Some(rest), ..Self::changed(found) }
    }
}
