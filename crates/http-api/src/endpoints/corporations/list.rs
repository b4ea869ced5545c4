//! `GET /v1/corporations`: the provider's corporations.

use guerdon_domain::ports::ReadTx;

use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{self, Links, ListOf};
use crate::operation::query::Query;
use crate::operation::response::RenderedResponse;
use crate::operation::{OperationDocs, ReadOperation};
use guerdon_api_types::parameter::Parameter;
use guerdon_api_types::views::CorporationView;

/// The memory of the largest corporation. Reading and rendering need three copies.
const CORPORATION_BYTES_MAX: usize = 3 * (3 << 9);

pub(crate) struct List;

impl OperationDocs for List {
    const NAME: &'static str = "listCorporations";
    const SUMMARY: &'static str = "List corporations";
    const DESCRIPTION: &'static str = "Your corporations, oldest first.";
    type View = ListOf<CorporationView<'static>>;

    fn query_parameters() -> Vec<Parameter> {
        Query::collect_parameters(list::read_page)
    }
}

impl ReadOperation for List {
    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let page = list::requested_page(call)?;
        let total = reads.count_corporations(call.scope)?;
        let corporations = reads.list_corporations(call.scope, page)?;
        let views = corporations.iter().map(CorporationView::from_corporation).collect();
        list::render_page(&Links::for_path("/v1/corporations"), page, total, views)
    }

    fn estimate_memory(call: &Call) -> usize {
        list::estimate_page_memory(list::requested_page(call), CORPORATION_BYTES_MAX)
    }
}
