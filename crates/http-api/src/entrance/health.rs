//! `GET /health` for load balancers that reach only this port: without a version and without credentials (behaviour 2.9).

use actix_web::dev::ServiceRequest;
use actix_web::http::Method;
use actix_web::{HttpResponse, HttpResponseBuilder};

use crate::operation::error::ApiError;
use crate::operation::state::State;

const PATH: &str = "/health";

/// Whether a request is a health check. Plain HTTP is allowed.
pub(super) fn is_asked(request: &ServiceRequest) -> bool {
    request.path() == PATH && [Method::GET, Method::HEAD].contains(request.method())
}

/// The error for another method on this path. Such a request is handled like any other, over HTTPS only.
pub(super) fn other_method(path: &str) -> Option<ApiError> {
    (path == PATH).then(|| ApiError::method_not_allowed("GET, HEAD"))
}

/// Responds with 200, or with 503 while the service drains or the database is unavailable. Maintenance has no effect.
pub(super) fn answer(state: &State) -> HttpResponse {
    let is_well = !state.api.gate.draining() && state.api.pulse.is_fresh();
    let respond: fn() -> HttpResponseBuilder =
        if is_well { HttpResponse::Ok } else { HttpResponse::ServiceUnavailable };
    respond().finish()
}
