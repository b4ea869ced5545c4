//! `GET /v1/occasions/{id}`: one occasion.

use guerdon_api_types::views::OccasionView;
use guerdon_domain::occasions::Occasion;
use guerdon_domain::ports::{Consistency, ReadTx};

use crate::operation::{ApiError, Call, OperationDocs, ReadOperation, RenderedResponse, require_in_path};

pub(crate) struct Get;

impl OperationDocs for Get {
    const NAME: &'static str = "getOccasion";
    const SUMMARY: &'static str = "Fetch an occasion";
    const DESCRIPTION: &'static str = "An occasion of one of your companies, or a global one.";
    type View = OccasionView<'static>;
}

impl ReadOperation for Get {
    const CONSISTENCY: Consistency = Consistency::PerStatementNoWait;

    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let occasion = occasion_in_path(reads, call)?;
        RenderedResponse::ok(&OccasionView::from_occasion(&occasion))
    }
}

/// The occasion whose id is in the path.
pub(super) fn occasion_in_path(reads: &mut dyn ReadTx, call: &Call) -> Result<Occasion, ApiError> {
    let id = call.path_id("occasion")?;
    require_in_path(reads.find_occasion(call.scope, id)?, "occasion")
}
