//! Pages for everybody: the description of the API and the documents, without credentials, outside every version
//! (behaviour 2.10).

use actix_web::HttpResponse;
use actix_web::dev::ServiceRequest;
use actix_web::http::Method;
use actix_web::http::header::{
    CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue,
};

use super::compression;
use crate::api::Page;
use crate::operation::error::ApiError;
use crate::operation::segments::Outgoing;
use crate::operation::state::State;

/// Where pages are; they are made when the first is asked for.
const PLACES: [&str; 2] = ["/docs", "/openapi.json"];
/// Nothing but the page's own style; no script, no frame, nothing from another host.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";
const NO_REFERRER: (HeaderName, HeaderValue) =
    (HeaderName::from_static("referrer-policy"), HeaderValue::from_static("no-referrer"));

/// The page whose path a request names exactly.
pub(super) fn asked_for<'a>(state: &'a State, request: &ServiceRequest) -> Option<&'a Page> {
    let path = request.path();
    let may_be_one = PLACES.iter().any(|it| path.starts_with(it));
    if may_be_one { state.api.pages.iter().find(|it| it.path == path) } else { None }
}

/// The page, as the client wants it; it is never compressed anew.
pub(super) fn answer(page: &Page, request: &ServiceRequest, request_id: &str) -> HttpResponse {
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return ApiError::method_not_allowed("GET, HEAD").respond(request_id);
    }
    let mut builder = HttpResponse::Ok();
    builder.insert_header((CONTENT_TYPE, page.content_type));
    if page.content_type.starts_with("text/html") {
        builder.insert_header((CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)));
        builder.insert_header(NO_REFERRER);
    }
    if compression::takes_gzip(request) {
        builder.insert_header((CONTENT_ENCODING, HeaderValue::from_static("gzip")));
        return builder.body(Outgoing::from(page.gzipped.clone()));
    }
    builder.body(Outgoing::from(page.body.clone()))
}
