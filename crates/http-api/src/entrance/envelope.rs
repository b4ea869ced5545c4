//! The outermost middleware: HTTPS, the request id, the headers of every response, one log line per request (behaviour 2.1, 2.7, 3.5).

use std::borrow::Cow;
use std::rc::Rc;
use std::time::{Instant, SystemTime};

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{CACHE_CONTROL, DATE, HeaderMap, HeaderValue, HttpDate};
use actix_web::http::header::{STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS};
use actix_web::http::{ConnectionType, Method, StatusCode, Version};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage};
use guerdon_domain::values::ProviderId;

use super::framing::{Connection, Refusal};
use super::unread::Unread;
use super::{compression, health, pages, preferences};
use crate::api::{Api, Transport};
use crate::arrival::{Arrival, AwaitsLeave, BodyFault, Caller, REQUEST_ID};
use crate::operation::error::ApiError;
use crate::operation::state::State;

/// Wraps the handling of every request.
pub(crate) async fn wrap(
    state: Data<State>,
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let connection = request.conn_data::<Rc<Connection>>().cloned();
    if connection.as_ref().is_some_and(|connection| connection.is_awaited()) {
        request.extensions_mut().insert(AwaitsLeave);
    }
    let asks_to_close = request.head().connection_type() == ConnectionType::Close;
    let unread = Unread::of(&mut request, connection.clone());
    let encoding = compression::asked_for(&request);
    let wants_problems = preferences::wants_problems(request.headers());
    let began = Instant::now();
    let Arrival { id, is_https, .. } = Arrival::note(&request, &state.api.transport, &*state.api.ids);
    let method = request.method().clone();
    // Whether a chunked body is valid is known only at its end; only methods that read the body wait for it.
    let is_sound = match &unread {
        Some(body) if body.is_chunked() && !reads_body(&method) => body.finish().await,
        _ => true,
    };
    let page = pages::find_target(&state, &request);
    let mut is_page = false;
    let mut response = if health::is_asked(&request) {
        request.into_response(health::answer(&state))
    } else if !is_https {
        request.into_response(ApiError::forbidden("HTTPS is required").respond(&id))
    } else if !is_sound {
        let error = unsound(request.conn_data());
        request.into_response(error.and_close().respond(&id))
    } else {
        let served = serve(&state, request, next, page, connection.as_ref()).await?;
        is_page = served.1;
        served.0
    };
    if wants_problems {
        response = preferences::as_problem(response);
    }
    adorn(response.headers_mut(), &state.api, &id, is_https);
    if let Some(sunset) = state.api.sunsets.iter().find(|sunset| sunset.is_of(response.request().path())) {
        sunset.tell(response.headers_mut());
    }
    // A recycled response head keeps the version of an earlier response, and HTTP/1.0 would read as `connection: close`.
    response.response_mut().head_mut().version = Version::HTTP_11;
    let mut closes_because = reason_to_close(&state, asks_to_close, &response);
    if let Some(unread) = unread.filter(|_| closes_because.is_none())
        && !unread.finish().await
    {
        closes_because = Some("its body was not received completely");
    }
    if let Some(reason) = closes_because {
        log::debug!(request_id = &*id; "the connection closes after the response: {reason}");
    }
    let is_last = closes_because.is_some();
    if is_last {
        response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
    if let Some(connection) = &connection {
        connection.end(is_last);
    }
    let provider = response.request().extensions().get::<Caller>().map(|caller| caller.id);
    let pattern = response.request().match_pattern();
    tell(&state.api, &id, provider, known(&method), pattern, response.status(), began);
    Ok(if is_page { response } else { compression::compressed(response, encoding) })
}

/// Why the connection closes after a response, if that is known before the rest of the request's body is received.
fn reason_to_close(
    state: &State,
    asks_to_close: bool,
    response: &ServiceResponse<BoxBody>,
) -> Option<&'static str> {
    if asks_to_close {
        Some("the client asked for it")
    } else if state.api.gate.draining() {
        Some("the service stops")
    } else if response.response().head().connection_type() == ConnectionType::Close {
        Some("the response says so")
    } else {
        None
    }
}

/// The response to a valid request, and whether it is a page.
async fn serve(
    state: &State,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
    page: Option<pages::Target<'_>>,
    connection: Option<&Rc<Connection>>,
) -> Result<(ServiceResponse<BoxBody>, bool), Error> {
    if let Some(page) = page {
        let shown = pages::answer(page, &request, connection);
        return Ok((request.into_response(shown), true));
    }
    let response = next.call(request).await?.map_into_boxed_body();
    Ok(match pages::not_found(state, &response, connection) {
        Some(shown) => (response.into_response(shown), true),
        None => (response, false),
    })
}

/// The bytes of the response to an invalid request head, which never reaches [`wrap`].
pub(super) fn refuse(state: &State, refusal: Refusal, is_head: bool) -> Vec<u8> {
    let (began, id) = (Instant::now(), state.api.ids.next().to_string());
    let error = if refusal.is_for_now() {
        ApiError::unavailable(refusal.message(), 1)
    } else {
        ApiError::bad_request(refusal.message())
    };
    let mut response = error.and_close().respond(&id);
    adorn(response.headers_mut(), &state.api, &id, matches!(state.api.transport, Transport::Tls));
    let method = if is_head { "HEAD" } else { "GET" };
    tell(&state.api, &id, None, method, None, response.status(), began);
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

/// Adds the headers of every response. `Date` and the times in bodies come from the same clock, so times in bodies are never later.
fn adorn(headers: &mut HeaderMap, api: &Api, id: &str, is_https: bool) {
    let now = HttpDate::from(SystemTime::from(api.clock.now().utc()));
    if let Ok(value) = HeaderValue::from_str(&now.to_string()) {
        headers.insert(DATE, value);
    }
    if let Ok(value) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, value);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if is_https {
        headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=63072000"));
    }
}

/// Why a body is rejected that the method does not read.
fn unsound(fault: Option<&BodyFault>) -> ApiError {
    match fault.and_then(|fault| Some((fault.said()?, fault.is_for_now()))) {
        Some((message, true)) => ApiError::unavailable(message, 1),
        Some((message, false)) => ApiError::bad_request(message),
        None => {
            ApiError::bad_request("a body that the method does not read must be sent at once and be small")
        }
    }
}

fn reads_body(method: &Method) -> bool {
    [Method::POST, Method::PUT, Method::PATCH].contains(method)
}

/// Writes the log line and records the duration. Both have the route's pattern in place of the path, which may contain personal data.
fn tell(
    api: &Api,
    id: &str,
    provider: Option<ProviderId>,
    method: &'static str,
    pattern: Option<String>,
    status: StatusCode,
    began: Instant,
) {
    let (status, took, level) = (status.as_u16(), began.elapsed(), api.request_lines);
    api.traffic.answered(status, took);
    let route = pattern.as_deref().unwrap_or("-");
    if log::log_enabled!(level) {
        let provider = provider.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        log::log!(
            level,
            request_id = id, provider_id = provider.as_str(), method, route, status, duration_ms;
            "request {id}: {method} {route} {status} {took:?}"
        );
    }
    let labels = [
        ("method", Cow::Borrowed(method)),
        ("route", pattern.map_or(Cow::Borrowed("none"), Cow::Owned)),
        ("status", Cow::Owned(status.to_string())),
    ];
    metrics::histogram!("guerdon_http_request_duration_seconds", &labels).record(took);
}

/// The name of a standard method; others share one name, so that clients cannot create metric labels.
fn known(method: &Method) -> &'static str {
    let all = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::DELETE,
        Method::PATCH,
        Method::OPTIONS,
    ];
    let names = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];
    all.iter().zip(names).find(|(known, _)| *known == method).map_or("other", |(_, name)| name)
}
