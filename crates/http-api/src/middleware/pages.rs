//! Public pages, which need no credentials and belong to no API version: the OpenAPI document and the documentation
//! (behaviour 2.10, 2.11).

use std::rc::Rc;

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{
    Accept, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, Header as _, HeaderName, HeaderValue,
    LOCATION,
};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};

use super::admission::has_current_version;
use super::compression;
use super::framing::Connection;
use crate::api::{NOT_FOUND_PATH, PublicPage};
use crate::operation::chunked_body::OutgoingBody;
use crate::operation::{ApiError, ApiState};
use crate::request_info::RequestInfo;

/// Path prefixes of pages. All pages are rendered when one of them is requested for the first time.
const PAGE_PREFIXES: [&str; 3] = ["/docs", "/openapi.json", "/llms.txt"];
/// The page to which `/` redirects.
const HOME_LOCATION: HeaderValue = HeaderValue::from_static("/docs");
const NO_REFERRER: (HeaderName, HeaderValue) =
    (HeaderName::from_static("referrer-policy"), HeaderValue::from_static("no-referrer"));

/// The page that a request outside the API versions asks for.
#[derive(Clone, Copy)]
pub(super) enum PageTarget<'a> {
    Page(&'a PublicPage),
    /// `/`, which redirects to the documentation.
    Home,
}

/// The page with exactly the request's path, if there is one.
pub(super) fn find_target<'a>(state: &'a ApiState, request: &ServiceRequest) -> Option<PageTarget<'a>> {
    let path = request.path();
    if path == "/" {
        return Some(PageTarget::Home);
    }
    let has_page_prefix = PAGE_PREFIXES.iter().any(|prefix| path.starts_with(prefix));
    if has_page_prefix {
        state.api.pages.iter().find(|page| page.path == path).map(PageTarget::Page)
    } else {
        None
    }
}

/// The response with the page. If the client accepts gzip, the response contains the copy of the page that was
/// compressed in advance.
pub(super) fn serve_page(
    target: PageTarget<'_>,
    request: &ServiceRequest,
    connection: Option<&Rc<Connection>>,
) -> HttpResponse {
    let request_id = &RequestInfo::from_request(request.request()).id;
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return ApiError::method_not_allowed("GET, HEAD").log_and_respond(request_id);
    }
    let page = match target {
        PageTarget::Page(page) => page,
        PageTarget::Home => {
            return HttpResponse::SeeOther().insert_header((LOCATION, HOME_LOCATION)).finish();
        }
    };
    page_response(StatusCode::OK, page, request.request(), connection)
        .unwrap_or_else(|| ApiError::busy().closing_connection().log_and_respond(request_id))
}

/// The HTML page that replaces a JSON 404 for a path outside the API. `None` if the client does not prefer
/// HTML, or if the connection has reached its memory limit.
pub(super) fn not_found_page(
    state: &ApiState,
    response: &ServiceResponse<BoxBody>,
    connection: Option<&Rc<Connection>>,
) -> Option<HttpResponse> {
    let request = response.request();
    let path = request.path();
    if response.status() != StatusCode::NOT_FOUND || has_current_version(path) || !prefers_html(response) {
        return None;
    }
    let page = state.api.pages.iter().find(|page| page.path == NOT_FOUND_PATH)?;
    page_response(StatusCode::NOT_FOUND, page, request, connection)
}

/// The page in an encoding that the client accepts; `None` if the connection has reached its memory limit.
fn page_response(
    status: StatusCode,
    page: &PublicPage,
    request: &HttpRequest,
    connection: Option<&Rc<Connection>>,
) -> Option<HttpResponse> {
    let mut builder = HttpResponse::build(status);
    builder.insert_header((CONTENT_TYPE, page.content_type));
    if let Some(policy) = &page.content_security_policy {
        builder.insert_header((CONTENT_SECURITY_POLICY, policy));
        builder.insert_header(NO_REFERRER);
    }
    let use_gzip = compression::accepts_gzip(request);
    if use_gzip {
        builder.insert_header((CONTENT_ENCODING, HeaderValue::from_static("gzip")));
    }
    let bytes = if use_gzip { &page.gzipped } else { &page.body };
    let guard = match connection {
        Some(connection) if request.method() != Method::HEAD => Some(connection.begin_page(bytes.len())?),
        _ => None,
    };
    Some(builder.body(OutgoingBody::from_bytes(bytes.clone(), guard)))
}

fn prefers_html(response: &ServiceResponse<BoxBody>) -> bool {
    let accept = Accept::parse(response.request());
    accept.is_ok_and(|accept| accept.preference().essence_str() == "text/html")
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::ACCEPT;
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn a_browser_prefers_html_and_a_program_does_not() {
        let check = |accept: Option<&str>, expected: bool| {
            let mut request = TestRequest::get();
            if let Some(accept) = accept {
                request = request.insert_header((ACCEPT, accept));
            }
            let response = request.to_srv_response(HttpResponse::NotFound().finish());
            assert_eq!(prefers_html(&response), expected, "{accept:?}");
        };
        check(Some("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"), true);
        check(Some("application/json;q=0.5, text/html"), true);
        check(Some("text/html;q=0.5, application/json"), false);
        check(Some("application/json"), false);
        check(Some("*/*"), false);
        check(Some("text/html;q=0"), false);
        check(Some("not a type"), false);
        check(None, false);
    }
}
