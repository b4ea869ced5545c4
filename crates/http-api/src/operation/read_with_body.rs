//! Operations that read a body and change nothing.

use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::http::header::HeaderMap;
use actix_web::web::Payload;
use guerdon_domain::ports::{Consistency, ReadTx};

use crate::operation::body::{self, parse_input};
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::operation_docs::OperationDocs;
use crate::operation::read::read_blocking;
use crate::operation::response::RenderedResponse;
use crate::operation::state::ApiState;
use guerdon_api_types::body::Fields;

/// An operation with a body that changes nothing.
pub(crate) trait ReadWithBody: OperationDocs + 'static {
    /// The content of the body.
    type Input: Send + Sync + 'static;

    /// Reads the fields of the body; `None` only after a fault.
    fn parse_input(fields: &mut Fields) -> Option<Self::Input>;

    /// Reads the data and renders the response. Must look up the object in the path before it returns the error of
    /// `input` (behaviour 4.1).
    fn execute_read(
        reads: &mut dyn ReadTx,
        call: &Call,
        input: Result<&Self::Input, ApiError>,
    ) -> Result<RenderedResponse, ApiError>;
}

/// Runs the operation for a request.
pub(crate) async fn run_read_with_body<Q: ReadWithBody>(
    state: Arc<ApiState>,
    call: Call,
    request: HttpRequest,
    payload: Payload,
) -> Result<RenderedResponse, ApiError> {
    let received = body::read_body(&request, payload, state.body_memory.empty_permit(call.scope)).await;
    let length = received.as_ref().map_or(0, |body| body.bytes.len());
    let parse = move |headers: &HeaderMap| {
        received.and_then(|body| parse_input(headers, Some(body.bytes.as_slice()), Q::parse_input))
    };
    let parsed = state.body_parser.run_parser(request.headers(), length, parse).await?;
    let caller = call.caller.clone();
    let read = move |reads: &mut dyn ReadTx| {
        let input = parsed.as_ref().map(|parsed| &parsed.input).map_err(ApiError::clone);
        let response = Q::execute_read(reads, &call, input)?;
        parsed.as_ref().map(|parsed| parsed.add_ignored_fields(response)).map_err(ApiError::clone)
    };
    read_blocking(&state, caller, Consistency::Snapshot, read).await
}
