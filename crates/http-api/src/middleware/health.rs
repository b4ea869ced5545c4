//! `GET /health` for load balancers that can reach only this port. It requires no API version and no credentials
//! (behaviour 2.9).

use actix_web::HttpResponse;
use actix_web::dev::ServiceRequest;
use actix_web::http::{Method, StatusCode};

use crate::operation::{ApiError, ApiState};

const HEALTH_PATH: &str = "/health";

/// Whether a request is a health check. Plain HTTP is allowed.
pub(super) fn is_health_check(request: &ServiceRequest) -> bool {
    is_health_path(request.path()) && [Method::GET, Method::HEAD].contains(request.method())
}

/// Whether a path is the path of health checks. Health checks may fail every second, so they are not recorded as failed
/// requests.
pub(super) fn is_health_path(path: &str) -> bool {
    path == HEALTH_PATH
}

/// The error for a request to the path of health checks with a method other than GET and HEAD. Such a request is not a
/// health check, so it requires HTTPS.
pub(super) fn method_error(path: &str) -> Option<ApiError> {
    is_health_path(path).then(|| ApiError::method_not_allowed("GET, HEAD"))
}

/// Responds with 200, or with 503 while the service drains or the database is unavailable. Maintenance has no effect.
pub(super) fn health_response(state: &ApiState) -> HttpResponse {
    let is_healthy = !state.api.service_state.is_draining() && state.api.database_health.is_responsive();
    let status = if is_healthy { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    HttpResponse::build(status).finish()
}
