//! `GET /v1/recognitions/{id}`: one recognition (behaviour 25.7).

use guerdon_api_types::views::RecognitionView;
use guerdon_domain::ports::{Consistency, ReadTx};

use crate::operation::{ApiError, Call, OperationDocs, ReadOperation, RenderedResponse, require_in_path};

pub(crate) struct Get;

impl OperationDocs for Get {
    const NAME: &'static str = "getRecognition";
    const SUMMARY: &'static str = "Fetch a recognition";
    const DESCRIPTION: &'static str = "A recognition of one of your companies. It remains when its sender, receiver or occasion is \
         deleted.";
    const IS_EXTENSION: bool = true;
    type View = RecognitionView<'static>;
}

impl ReadOperation for Get {
    const CONSISTENCY: Consistency = Consistency::PerStatementNoWait;

    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let id = call.path_id("recognition")?;
        let recognition = require_in_path(reads.find_recognition(call.scope, id)?, "recognition")?;
        RenderedResponse::ok(&RecognitionView::from_recognition(&recognition))
    }
}
