//! Operations that read a body and change nothing.

use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::http::header::HeaderMap;
use actix_web::web::Payload;
use guerdon_domain::ports::{Reads, StoreExt as _};

use crate::operation::answer::Answer;
use crate::operation::body::{self, parse};
use crate::operation::call::Call;
use crate::operation::described::Described;
use crate::operation::error::ApiError;
use crate::operation::promise::Promise;
use crate::operation::state::State;
use guerdon_api_types::body::Fields;

/// An operation with a body that changes nothing. `find`, `command` and `answer` are called in this order (behaviour 4.1).
pub(crate) trait Question: Described + 'static {
    /// The content of the body.
    type Command: Send + Sync + 'static;
    /// The object in the path.
    type Found;

    /// Looks up the object in the path.
    fn find(reads: &mut dyn Reads, call: &Call) -> Result<Self::Found, ApiError>;

    /// Reads the fields of the body; `None` only after a fault.
    fn command(fields: &mut Fields) -> Option<Self::Command>;

    /// Reads the data and renders the response.
    fn answer(reads: &mut dyn Reads, found: Self::Found, command: &Self::Command)
    -> Result<Answer, ApiError>;
}

/// Runs the operation for a request.
pub(crate) async fn run<Q: Question>(
    state: Arc<State>,
    call: Call,
    request: HttpRequest,
    payload: Payload,
) -> Result<Answer, ApiError> {
    let read = body::read(&request, payload, state.bodies.weight(call.scope)).await;
    let length = read.as_ref().map_or(0, |body| body.bytes.len());
    let parse = move |headers: &HeaderMap| read.and_then(|body| parse(headers, &body.bytes, Q::command));
    let parsed = state.parsing.run(request.headers(), length, parse).await?;
    let turn = state.reads.turn(call.scope).await?;
    let work = move |state: &State, _: &Promise| {
        let _turn = turn;
        state.api.store.snapshot(|reads: &mut dyn Reads| {
            let found = Q::find(reads, &call)?;
            let parsed = parsed.as_ref().map_err(ApiError::clone)?;
            Ok::<_, ApiError>(parsed.tell(Q::answer(reads, found, &parsed.command)?))
        })
    };
    state.block(work).await
}
