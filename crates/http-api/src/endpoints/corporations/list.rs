//! `GET /v1/corporations`: the provider's corporations.

use guerdon_api_types::views::CorporationView;
use guerdon_domain::ports::ReadTx;

use crate::operation::list::{self, Links, ListOf};
use crate::operation::{ApiError, Call, OperationDocs, Query, ReadOperation, RenderedResponse};

/// The memory of the largest corporation. Reading and rendering need three copies.
const CORPORATION_BYTES_MAX: usize = 3 * (3 << 9);

pub(crate) struct List;

impl OperationDocs for List {
    const NAME: &'static str = "listCorporations";
    const SUMMARY: &'static str = "List corporations";
    const DESCRIPTION: &'static str = "Your corporations, oldest first.";
    const READ_QUERY: fn(&mut Query) = |query| _ = list::read_page(query);
    type View = ListOf<CorporationView<'static>>;
}

impl ReadOperation for List {
    const ITEM_BYTES_MAX: usize = CORPORATION_BYTES_MAX;

    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let page = list::requested_page(call)?;
        let total = reads.count_corporations(call.scope)?;
        let corporations = reads.list_corporations(call.scope, page)?;
        let views = corporations.iter().map(CorporationView::from_corporation).collect();
        list::render_page(&Links::for_path("/v1/corporations"), page, total, views)
    }
}
