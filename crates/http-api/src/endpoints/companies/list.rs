//! `GET /v1/companies`: the provider's companies, or those of one of its corporations.

use guerdon_domain::ports::Reads;
use guerdon_domain::values::{CorporationId, Page};

use super::view::CompanyView;
use crate::operation::Read;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{self, Links};
use crate::operation::query::{Query, unless_faulty};

const FILTER: &str = "corporation_id";

/// What the largest one takes as it is read and rendered, thrice: names, addresses and URLs at their longest.
const WEIGHT: usize = 3 * (6 << 10);

pub(crate) struct List;

impl Read for List {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let (within, page) = parameters(&call.parameters()?)?;
        if let Some(id) = within {
            reads.corporation(call.scope, id)?.named(FILTER)?;
        }
        let id = within.map(|it| it.to_string());
        let parameter = id.as_deref().map(|it| (FILTER, it));
        answer(reads, call, within, page, &Links { parameter, ..Links::to("/v1/companies") })
    }

    fn weight(call: &Call) -> usize {
        weight(call)
    }
}

/// What a page of companies takes.
pub(crate) fn weight(call: &Call) -> usize {
    list::weight(list::page_of(call), WEIGHT)
}

fn parameters(query: &Query) -> Result<(Option<CorporationId>, Page), ApiError> {
    let mut faults = Vec::new();
    let within = query.one(FILTER, &mut faults).map(str::parse::<CorporationId>).transpose();
    if let Err(must_be) = &within {
        faults.push(format!("{FILTER} {must_be}"));
    }
    let page = list::page_in(query, &mut faults);
    unless_faulty(within.ok().zip(page), &faults)
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
    list::answer(links, page, total, found.iter().map(CompanyView::listed).collect())
}
