//! `GET /v1/companies`: the provider's companies, or those of one of its corporations.

use guerdon_domain::ports::Reads;
use guerdon_domain::values::{CorporationId, Page};

use super::create::Create;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{self, Links, ListOf};
use crate::operation::query::Query;
use crate::operation::{Described, Read};
use guerdon_api_types::docs::FieldDocs;
use guerdon_api_types::parameter::Parameter;
use guerdon_api_types::views::{CompanyView, ListedCompany};

const FILTER: &str = "corporation_id";

/// What the largest one takes as it is read and rendered, thrice: names, addresses and URLs at their longest.
const WEIGHT: usize = 3 * (6 << 10);

pub(crate) struct List;

impl Described for List {
    const NAME: &'static str = "listCompanies";
    const SUMMARY: &'static str = "List companies";
    const TEXT: &'static str = "Your companies, oldest first, optionally those of one corporation.";
    const FIELD_DOCS: FieldDocs = Create::FIELD_DOCS;
    type View = ListOf<ListedCompany>;

    fn query() -> Vec<Parameter> {
        Query::parameters_of(parameters)
    }
}

impl Read for List {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let (within, page) = call.query(parameters)?;
        if let Some(id) = within {
            reads.corporation(call.scope, id)?.named(FILTER)?;
        }
        let id = within.map(|id| id.to_string());
        let parameter = id.as_deref().map(|id| (FILTER, id));
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

fn parameters(query: &mut Query) -> Option<(Option<CorporationId>, Page)> {
    let within = query.optional(FILTER);
    Some((within, list::page(query)?))
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
