//! `GET /v1/companies/{id}`: one company, by id or domain.

use guerdon_domain::companies::CompanyWithOwner;
use guerdon_domain::money::Points;
use guerdon_domain::ports::{Lookup, Reads, StoreError};
use guerdon_domain::values::{CompanyId, DomainName, EmailAddress, UserId};
use serde::Serialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::error::{ApiError, in_path};
use crate::operation::Read;
use crate::wire::{Moment, Shown};

pub(crate) struct Get;

impl Read for Get {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let found = in_path(look_up(reads, call)?, "company")?;
        let user_count = reads.active_user_count(found.company.id)?;
        Answer::ok(&CompanyView::of(&found, user_count))
    }
}

/// No domain is a UUID: it has two labels.
fn look_up(reads: &mut dyn Reads, call: &Call) -> Result<Lookup<CompanyWithOwner>, StoreError> {
    let text = call.id().unwrap_or_default();
    if let Ok(id) = text.parse::<CompanyId>() {
        return reads.company(call.scope, id);
    }
    match DomainName::parse(text) {
        Ok(domain) => reads.company_by_domain(call.scope, &domain),
        Err(_) => Ok(Lookup::Absent),
    }
}

#[derive(Serialize)]
struct CompanyView<'a> {
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
    created_at: Moment,
    updated_at: Moment,
}

impl<'a> CompanyView<'a> {
    fn of(found: &'a CompanyWithOwner, user_count: i64) -> Self {
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
            created_at: Moment(company.created_at),
            updated_at: Moment(company.updated_at),
        }
    }
}
