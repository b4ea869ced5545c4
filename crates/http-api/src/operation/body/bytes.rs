//! Reads a body of limited size. The `StrictStream` of the connection enforces the time limit.

use actix_web::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use actix_web::{HttpMessage as _, HttpRequest, web};
use futures_util::StreamExt;

use crate::operation::ApiError;
use crate::operation::idempotency::KEY_HEADER;
use crate::operation::memory_budget::{MemoryPermit, SMALL_BODY_BYTES_MAX};
use crate::request_info::{AwaitsContinue, BodyFailure, BodyFault};

/// The maximum number of bytes of a body.
const BODY_BYTES_MAX: usize = 1 << 20;

/// A body and the memory that is reserved for it.
#[derive(Default)]
pub(crate) struct ReceivedBody {
    pub(crate) bytes: Vec<u8>,
    pub(crate) memory: Option<MemoryPermit>,
}

/// Reads a body of at most 1 MiB. If the body is larger or arrives too slowly, fails with an error that closes the
/// connection: 503 if a retry may succeed, or if a body with an idempotency key is incomplete, because a 400 would mean
/// that no earlier attempt with this key took effect; otherwise 400. Memory for a large body is reserved before the
/// body is read further.
pub(crate) async fn read_body(
    request: &HttpRequest,
    payload: web::Payload,
    memory: MemoryPermit,
) -> Result<ReceivedBody, ApiError> {
    let headers = request.headers();
    let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > BODY_BYTES_MAX) {
        return Err(too_large_error());
    }
    if request.extensions().contains::<AwaitsContinue>() {
        require_json(headers)?; // reading asks a client that waits for `100 Continue` to send the body
    }
    read_chunks(payload, declared.unwrap_or(BODY_BYTES_MAX), memory).await.unwrap_or_else(|| {
        let fault = request.conn_data::<BodyFailure>().and_then(BodyFailure::fault).unwrap_or(BodyFault {
            reason: "the body must be sent completely",
            is_temporary: false,
            is_incomplete: true,
        });
        let may_retry = fault.is_temporary || (fault.is_incomplete && headers.contains_key(KEY_HEADER));
        Err(ApiError::unreadable_request(fault.reason, may_retry).closing_connection())
    })
}

/// The body; `None` if it ended early.
async fn read_chunks(
    mut payload: web::Payload,
    length_max: usize,
    mut memory: MemoryPermit,
) -> Option<Result<ReceivedBody, ApiError>> {
    let mut body = Vec::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.ok()?;
        if body.len() + chunk.len() > BODY_BYTES_MAX {
            return Some(Err(too_large_error()));
        }
        if body.len() <= SMALL_BODY_BYTES_MAX && body.len() + chunk.len() > SMALL_BODY_BYTES_MAX {
            memory = match memory.grow_to(length_max).await {
                Ok(memory) => memory,
                Err(error) => return Some(Err(error.closing_connection())),
            };
            body.reserve_exact(length_max.saturating_sub(body.len()));
        }
        body.extend_from_slice(&chunk);
    }
    Some(Ok(ReceivedBody { bytes: body, memory: Some(memory) }))
}

fn too_large_error() -> ApiError {
    ApiError::bad_request("the body must be at most 1 MiB").closing_connection()
}

/// Fails if the headers declare the body to be anything other than uncompressed JSON in UTF-8.
pub(crate) fn require_json(headers: &HeaderMap) -> Result<(), ApiError> {
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(ApiError::bad_request("Content-Encoding must not be sent"));
    }
    let mut types = headers.get_all(CONTENT_TYPE);
    let is_json = match (types.next(), types.next()) {
        (None, _) => true,
        (Some(only), None) => only.to_str().is_ok_and(is_json),
        (Some(_), Some(_)) => false,
    };
    if is_json {
        Ok(())
    } else {
        Err(ApiError::bad_request("Content-Type must be application/json in UTF-8"))
    }
}

fn is_json(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    essence.eq_ignore_ascii_case("application/json")
        && parts.filter_map(|parameter| parameter.split_once('=')).all(|(name, value)| {
            let (name, value) = (name.trim_end(), value.trim_start());
            let value = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
            !name.eq_ignore_ascii_case("charset") || value.eq_ignore_ascii_case("utf-8")
        })
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    #[test]
    fn a_content_type_is_json_in_utf_8_or_absent() {
        let check = |types: &[&'static str], expected: bool| {
            let mut headers = HeaderMap::new();
            for content_type in types {
                headers.append(CONTENT_TYPE, HeaderValue::from_static(content_type));
            }
            assert_eq!(require_json(&headers).is_ok(), expected, "{types:?}");
        };
        check(&[], true);
        check(&["application/json"], true);
        check(&["Application/JSON"], true);
        check(&["application/json; charset=utf-8"], true);
        check(&["application/json;charset=\"UTF-8\""], true);
        check(&["application/json; version=1"], true);
        check(&["application/json; charset=latin1"], false);
        check(&["application/json; charset=utf-16"], false);
        check(&["application/json; charset="], false);
        check(&["application/json; charset = utf-8"], true);
        check(&["application/json; charset =latin1"], false);
        check(&["text/plain"], false);
        check(&["application/jsonp"], false);
        check(&["application/problem+json"], false);
        check(&["application/x-www-form-urlencoded"], false);
        check(&[""], false);
        check(&["application/json", "application/json"], false);
    }

    #[test]
    fn any_content_encoding_is_refused() {
        for encoding in ["gzip", "identity", ""] {
            let mut headers = HeaderMap::new();
            headers.append(CONTENT_ENCODING, HeaderValue::from_static(encoding));
            assert!(require_json(&headers).is_err(), "{encoding:?}");
        }
    }
}
