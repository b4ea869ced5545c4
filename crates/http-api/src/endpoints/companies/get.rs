//! `GET /v1/companies/{id}`: one company, by id or domain.

use guerdon_api_types::views::{CompanyView, WholeCompany};
use guerdon_domain::companies::CompanyWithOwner;
use guerdon_domain::ports::{Lookup, ReadTx, StoreError};
use guerdon_domain::values::{CompanyId, DomainName};

use crate::operation::{ApiError, Call, OperationDocs, ReadOperation, RenderedResponse, require_in_path};

pub(crate) struct Get;

impl OperationDocs for Get {
    const NAME: &'static str = "getCompany";
    const SUMMARY: &'static str = "Fetch a company";
    const DESCRIPTION: &'static str = "A company by id or by domain. The domain may be in any case and in its \
         internationalized form.";
    const ACCEPTS_DOMAIN: bool = true;
    type View = WholeCompany;
}

impl ReadOperation for Get {
    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let found = require_in_path(find_company(reads, call)?, "company")?;
        let user_count = reads.count_active_users(found.company.id)?;
        RenderedResponse::ok(&CompanyView::for_fetch(&found, user_count))
    }
}

/// Finds a company by id or domain. A domain has at least two labels, so it is never a UUID.
fn find_company(reads: &mut dyn ReadTx, call: &Call) -> Result<Lookup<CompanyWithOwner>, StoreError> {
    let text = call.id().unwrap_or_default();
    if let Ok(id) = text.parse::<CompanyId>() {
        return reads.find_company(call.scope, id);
    }
    match DomainName::parse(text) {
        Ok(domain) => reads.find_company_by_domain(call.scope, &domain),
        Err(_) => Ok(Lookup::Absent),
    }
}

/// The company whose id is in the path. Only `GET /v1/companies/{id}` accepts a domain.
pub(super) fn company_in_path(reads: &mut dyn ReadTx, call: &Call) -> Result<CompanyWithOwner, ApiError> {
    let id = call.path_id("company")?;
    require_in_path(reads.find_company(call.scope, id)?, "company")
}
