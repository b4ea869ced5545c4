//! The outermost middleware: requires HTTPS, assigns the request id, adds the headers of every response, and writes one
//! log line per request (behaviour 2.1, 2.7, 3.5).

use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{CACHE_CONTROL, DATE, HeaderMap, HeaderName, HeaderValue, HttpDate};
use actix_web::http::header::{STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS};
use actix_web::http::{ConnectionType, Method, Version};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage};

use super::drain_body::DrainableBody;
use super::framing::{Connection, FramingError};
use super::request_log::{self, HandledRequest, method_name};
use super::{compression, health, pages, problem_details};
use crate::api::Api;
use crate::operation::{ApiError, ApiState};
use crate::request_info::{
    AwaitsContinue, BodyFailure, Caller, REQUEST_ID, RequestInfo, TimeWaited, first_segment,
};

const CELL: HeaderName = HeaderName::from_static("x-service-cell");

/// Wraps the handling of every request.
pub(crate) async fn wrap_request(
    state: Data<ApiState>,
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let connection = request.conn_data::<Rc<Connection>>().cloned();
    if connection.as_ref().is_some_and(|connection| connection.awaits_continue()) {
        request.extensions_mut().insert(AwaitsContinue);
    }
    let client_closes = request.head().connection_type() == ConnectionType::Close;
    let request_body = DrainableBody::replace_body(&mut request, connection.clone());
    let encoding = compression::response_encoding(&request);
    let wants_problems = problem_details::wants_problems(request.headers());
    let started_at = Instant::now();
    let RequestInfo { id, is_https, .. } =
        RequestInfo::attach_to(&request, &state.api.transport, &*state.api.context_sources.ids);
    let method = request.method().clone();
    let is_body_accepted = accepts_body(request_body.as_ref(), &request).await;
    let page = pages::find_target(&state, &request);
    let mut is_page = false;
    let mut response = if health::is_health_check(&request) {
        request.into_response(health::health_response(&state))
    } else if !is_https {
        request.into_response(ApiError::https_required().log_and_respond(&id))
    } else if !is_body_accepted {
        let error = body_error(request.conn_data());
        request.into_response(error.closing_connection().log_and_respond(&id))
    } else {
        let served = serve_request(&state, request, next, page, connection.as_ref()).await?;
        is_page = served.1;
        served.0
    };
    if wants_problems {
        let (request, inner) = response.into_parts();
        let inner = problem_details::as_problem(inner, &state.api.service_url, &id);
        response = ServiceResponse::new(request, inner);
    }
    add_common_headers(response.headers_mut(), &state.api, &id, is_https);
    let version = first_segment(response.request().path());
    if let Some(sunset) = state.api.sunsets.iter().find(|sunset| sunset.version == version) {
        sunset.add_headers(response.headers_mut());
    }
    // actix-web recycles response heads with the version of an earlier response, and clients take HTTP/1.0 as
    // `connection: close`.
    response.response_mut().head_mut().version = Version::HTTP_11;
    let mut close_reason = reason_to_close(&state, client_closes, &response);
    if let Some(request_body) = request_body.filter(|_| close_reason.is_none())
        && !request_body.drain_rest().await
    {
        close_reason = Some("its body was not received completely");
    }
    if let Some(reason) = close_reason {
        log::debug!(request_id = &*id, reason; "the connection closes after the response");
        response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
    if let Some(connection) = &connection {
        connection.finish_response(close_reason.is_some());
    }
    log_response(&state.api, &id, &method, &response, started_at);
    Ok(if is_page { response } else { compression::compress_response(response, encoding) })
}

/// Logs the response to a request. The logged duration does not include the time for which the request waited for
/// events.
fn log_response(
    api: &Api,
    id: &str,
    method: &Method,
    response: &ServiceResponse<BoxBody>,
    started_at: Instant,
) {
    let (request, status) = (response.request(), response.status());
    let waited = request.extensions().get::<TimeWaited>().map_or(Duration::ZERO, |waited| waited.0);
    let handled = HandledRequest {
        id,
        provider: request.extensions().get::<Caller>().map(|caller| caller.id),
        method: method_name(method),
        pattern: request.match_pattern(),
        status,
        failure: request_log::find_failure(response.response(), request.path()),
        duration: (started_at + waited).elapsed(),
    };
    handled.log_and_record(api);
}

/// Why the connection closes after a response, if that is known before the rest of the request's body is received.
fn reason_to_close(
    state: &ApiState,
    client_closes: bool,
    response: &ServiceResponse<BoxBody>,
) -> Option<&'static str> {
    if client_closes {
        Some("the client asked for it")
    } else if state.api.service_state.is_draining() {
        Some("the service is stopping")
    } else if response.response().head().connection_type() == ConnectionType::Close {
        Some("the response requires it")
    } else {
        None
    }
}

/// The response to a valid request, and whether it is a page.
async fn serve_request(
    state: &ApiState,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
    page: Option<pages::PageTarget<'_>>,
    connection: Option<&Rc<Connection>>,
) -> Result<(ServiceResponse<BoxBody>, bool), Error> {
    if let Some(page) = page {
        let page = pages::serve_page(page, &request, connection);
        return Ok((request.into_response(page), true));
    }
    let response = next.call(request).await?.map_into_boxed_body();
    Ok(match pages::not_found_page(state, &response, connection) {
        Some(page) => (response.into_response(page), true),
        None => (response, false),
    })
}

/// Renders the response to an invalid request head, which never reaches [`wrap_request`]. `received` contains the bytes
/// of the head.
pub(super) fn render_framing_error(
    state: &ApiState,
    framing_error: FramingError,
    received: &[u8],
) -> Vec<u8> {
    let is_head = received.starts_with(b"HEAD ");
    let (started_at, id) = (Instant::now(), state.api.context_sources.ids.next_id().to_string());
    let error = ApiError::unreadable_request(framing_error.message(), framing_error.is_temporary());
    let mut response = error.closing_connection().log_and_respond(&id);
    if problem_details::head_wants_problems(received) {
        response = problem_details::as_problem(response, &state.api.service_url, &id);
    }
    add_common_headers(response.headers_mut(), &state.api, &id, state.api.transport.terminates_tls);
    let handled = HandledRequest {
        id: &id,
        provider: None,
        method: request_log::method_of_head(received),
        pattern: None,
        status: response.status(),
        failure: request_log::find_failure(&response, ""),
        duration: started_at.elapsed(),
    };
    handled.log_and_record(&state.api);
    let (head, body) = response.into_parts();
    let body = body.try_into_bytes().unwrap_or_default();
    let mut bytes =
        format!("HTTP/1.1 {}\r\ncontent-length: {}\r\nconnection: close\r\n", head.status(), body.len())
            .into_bytes();
    for (name, value) in head.headers() {
        bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    bytes.extend_from_slice(b"\r\n");
    if !is_head {
        bytes.extend_from_slice(&body);
    }
    bytes
}

/// Adds the headers of every response. `Date` and the times in bodies come from the same clock, so no time in a body is
/// later than `Date`.
fn add_common_headers(headers: &mut HeaderMap, api: &Api, id: &str, is_https: bool) {
    let now = HttpDate::from(SystemTime::from(api.context_sources.clock.now().to_utc()));
    if let Ok(value) = HeaderValue::from_str(&now.to_string()) {
        headers.insert(DATE, value);
    }
    if let Ok(value) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, value);
    }
    if let Some(Ok(cell)) = api.cell.as_deref().map(HeaderValue::from_str) {
        headers.insert(CELL, cell);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if is_https {
        headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=63072000"));
    }
}

/// Whether a request is served with this body. A chunked body can be malformed, incomplete or too slow, which is known
/// only at its end. If the method does not read the body, a small rest is read here. A larger rest is not read, and the
/// connection closes after the response.
async fn accepts_body(body: Option<&DrainableBody>, request: &ServiceRequest) -> bool {
    let Some(body) = body.filter(|body| body.is_chunked() && !reads_body(request.method())) else {
        return true;
    };
    let is_complete = body.drain_rest().await;
    let failure: Option<&BodyFailure> = request.conn_data();
    is_complete || !(body.is_broken() || failure.is_some_and(|failure| failure.fault().is_some()))
}

/// The error for an invalid body that the method does not read.
fn body_error(failure: Option<&BodyFailure>) -> ApiError {
    let fault = failure.and_then(BodyFailure::fault);
    fault.map_or_else(ApiError::unread_body, |fault| {
        ApiError::unreadable_request(fault.reason, fault.is_temporary)
    })
}

fn reads_body(method: &Method) -> bool {
    [Method::POST, Method::PUT, Method::PATCH].contains(method)
}
