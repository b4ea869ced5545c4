//! `GET /v1/corporations/{id}`: one corporation.

use guerdon_api_types::views::CorporationView;
use guerdon_domain::corporations::Corporation;
use guerdon_domain::ports::{Consistency, ReadTx};

use crate::operation::{ApiError, Call, OperationDocs, ReadOperation, RenderedResponse, require_in_path};

pub(crate) struct Get;

impl OperationDocs for Get {
    const NAME: &'static str = "getCorporation";
    const SUMMARY: &'static str = "Fetch a corporation";
    const DESCRIPTION: &'static str = "A corporation by id.";
    type View = CorporationView<'static>;
}

impl ReadOperation for Get {
    const CONSISTENCY: Consistency = Consistency::PerStatementNoWait;

    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let corporation = corporation_in_path(reads, call)?;
        RenderedResponse::ok(&CorporationView::from_corporation(&corporation))
    }
}

/// The corporation whose id is in the path.
pub(super) fn corporation_in_path(reads: &mut dyn ReadTx, call: &Call) -> Result<Corporation, ApiError> {
    let id = call.path_id("corporation")?;
    require_in_path(reads.find_corporation(call.scope, id)?, "corporation")
}
