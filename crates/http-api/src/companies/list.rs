//! `GET /v1/companies`: the provider's companies, or those of one of its corporations.

use guerdon_domain::ports::Reads;
use guerdon_domain::values::{CorporationId, Page};

use super::view::ListedCompanyView;
use crate::answer::Answer;
use crate::call::Call;
use crate::error::ApiError;
use crate::list::{self, Links};
use crate::operation::Read;

const FILTER: &str = "corporation_id";

pub(crate) struct List;

impl Read for List {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let within = corporation(call)?;
        let page = list::page_of(call)?;
        if let Some(id) = within {
            reads.corporation(call.scope, id)?.named(FILTER)?;
        }
        let id = within.map(|it| it.to_string());
        let parameter = id.as_deref().map(|it| (FILTER, it));
        answer(reads, call, within, page, &Links { path: "/v1/companies".into(), parameter })
    }
}

/// The filter; judged together with the page, so that every fault of the query is told.
fn corporation(call: &Call) -> Result<Option<CorporationId>, ApiError> {
    let query = call.parameters()?;
    let mut faults = Vec::new();
    let parsed = query.one(FILTER, &mut faults).map(str::parse::<CorporationId>).transpose();
    if let Err(must_be) = &parsed {
        faults.push(format!("{FILTER} {must_be}"));
    }
    if faults.is_empty() {
        return Ok(parsed.ok().flatten());
    }
    list::page_faults(&query, &mut faults);
    Err(ApiError::bad_request(faults.join("; ")))
}

/// A page of companies.
pub(crate) fn answer(
    reads: &mut dyn Reads,
    call: &Call,
    within: Option<CorporationId>,
    page: Page,
    links: &Links<'_>,
) -> Result<Answer, ApiError> {
    let total = reads.company_count(call.scope, within)?;
    let found = reads.companies(call.scope, within, page)?;
    list::answer(links, page, total, found.iter().map(ListedCompanyView::of).collect())
}
