//! `GET /health`, for balancers that reach only this port: outside every version, without credentials (behaviour 2.9).

use actix_web::dev::ServiceRequest;
use actix_web::http::Method;
use actix_web::{HttpResponse, HttpResponseBuilder};

use crate::operation::error::ApiError;
use crate::operation::state::State;

const PATH: &str = "/health";

/// Whether somebody asks for it, in plain HTTP too.
pub(super) fn is_asked(request: &ServiceRequest) -> bool {
    request.path() == PATH && [Method::GET, Method::HEAD].contains(request.method())
}

/// What somebody is told who asks for it by another method: that is a request as any other, over HTTPS alone.
pub(super) fn other_method(path: &str) -> Option<ApiError> {
    (path == PATH).then(|| ApiError::method_not_allowed("GET, HEAD"))
}

/// 200, or 503 while the service drains or the database is away; maintenance does not count.
pub(super) fn answer(state: &State) -> HttpResponse {
    let is_well = !state.api.gate.draining() && state.api.pulse.is_fresh();
    let respond: fn() -> HttpResponseBuilder =
        if is_well { HttpResponse::Ok } else { HttpResponse::ServiceUnavailable };
    respond().finish()
}
