//! `GET /v1/companies`: the provider's companies, or those of one of its corporations.

use guerdon_api_types::FieldDocs;
use guerdon_api_types::views::{CompanyView, ListedCompany};
use guerdon_domain::ports::ReadTx;
use guerdon_domain::values::{CorporationId, Page};

use super::create::Create;
use crate::operation::list::{self, Links, ListOf};
use crate::operation::{ApiError, Call, OperationDocs, Query, ReadOperation, RenderedResponse};

const CORPORATION_FILTER: &str = "corporation_id";

/// The memory of the largest company, with names, addresses and URLs of the maximum length. Reading and rendering need
/// three copies.
pub(crate) const COMPANY_BYTES_MAX: usize = 3 * (6 << 10);

pub(crate) struct List;

impl OperationDocs for List {
    const NAME: &'static str = "listCompanies";
    const SUMMARY: &'static str = "List companies";
    const DESCRIPTION: &'static str = "Your companies, oldest first, optionally those of one corporation.";
    const FIELD_DOCS: FieldDocs = Create::FIELD_DOCS;
    const READ_QUERY: fn(&mut Query) = |query| _ = read_list_query(query);
    type View = ListOf<ListedCompany>;
}

impl ReadOperation for List {
    const ITEM_BYTES_MAX: usize = COMPANY_BYTES_MAX;

    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let (corporation, page) = call.parse_query(read_list_query)?;
        if let Some(id) = corporation {
            reads.find_corporation(call.scope, id)?.or_denied_reference(CORPORATION_FILTER, id.as_uuid())?;
        }
        let filters = corporation.map(|id| format!("{CORPORATION_FILTER}={id}&")).unwrap_or_default();
        render_list(reads, call, corporation, page, &Links { filters, ..Links::for_path("/v1/companies") })
    }
}

fn read_list_query(query: &mut Query) -> Option<(Option<CorporationId>, Page)> {
    let corporation = query.read_optional(CORPORATION_FILTER);
    Some((corporation, list::read_page(query)?))
}

/// Renders a page of companies.
pub(crate) fn render_list(
    reads: &mut dyn ReadTx,
    call: &Call,
    corporation: Option<CorporationId>,
    page: Page,
    links: &Links,
) -> Result<RenderedResponse, ApiError> {
    let total = reads.count_companies(call.scope, corporation)?;
    let companies = reads.list_companies(call.scope, corporation, page)?;
    list::render_page(links, page, total, companies.iter().map(CompanyView::for_list).collect())
}
