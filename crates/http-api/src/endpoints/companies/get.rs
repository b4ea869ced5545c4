//! `GET /v1/companies/{id}`: one company, by id or domain.

use guerdon_domain::companies::CompanyWithOwner;
use guerdon_domain::ports::{Lookup, Reads, StoreError};
use guerdon_domain::values::{CompanyId, DomainName};

use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::{ApiError, in_path};
use crate::operation::{Described, Read};
use guerdon_api_types::views::{CompanyView, WholeCompany};

pub(crate) struct Get;

impl Described for Get {
    const NAME: &'static str = "getCompany";
    const SUMMARY: &'static str = "Fetch a company";
    const TEXT: &'static str = "A company by id or by domain. The domain may be in any case and in its \
         internationalized form.";
    const TAKES_DOMAIN: bool = true;
    type View = WholeCompany;
}

impl Read for Get {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let found = in_path(look_up(reads, call)?, "company")?;
        let user_count = reads.active_user_count(found.company.id)?;
        Answer::ok(&CompanyView::whole(&found, user_count))
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

/// The company of the id in the path; a domain names one only where it is fetched.
pub(super) fn company_in_path<R: Reads + ?Sized>(
    reads: &mut R,
    call: &Call,
) -> Result<CompanyWithOwner, ApiError> {
    let id = call.path_id("company")?;
    in_path(reads.company(call.scope, id)?, "company")
}
