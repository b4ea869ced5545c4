//! Reads `Idempotency-Key`, and identifies retries of a request.

use std::io::{self, Write as _};

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderMap;
use guerdon_domain::idempotency::{IdempotencyKey, IdempotencyRecord, IdempotentRequest};
use lz4_flex::frame::{BlockMode, BlockSize, FrameDecoder, FrameEncoder, FrameInfo};
use ring::digest;

use crate::operation::chunked_body::ChunkedBody;
use crate::operation::memory_budget::SMALL_BODY_BYTES_MAX;
use crate::operation::{ApiError, Call, RenderedResponse};
use crate::request_info::single_header;

pub(crate) const KEY_HEADER: &str = "idempotency-key";

/// The first bytes of a compressed response. JSON does not begin with them.
const COMPRESSED_PREFIX: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// A response body as it is stored. Large bodies are compressed: the response to a recognition with thousands of
/// receivers shrinks to a tenth.
pub(super) fn pack_body(response: &RenderedResponse) -> Result<Vec<u8>, ApiError> {
    if response.body.len() <= SMALL_BODY_BYTES_MAX {
        return Ok(response.body.to_vec());
    }
    let mut encoder = FrameEncoder::with_frame_info(
        FrameInfo::new().block_size(BlockSize::Max256KB).block_mode(BlockMode::Linked).content_checksum(true),
        Vec::new(),
    );
    let written =
        response.body.iter_chunks().try_for_each(|chunk| encoder.write_all(chunk).map_err(|e| e.to_string()));
    let packed = written.and_then(|()| encoder.finish().map_err(|e| e.to_string()));
    packed.map_err(|cause| ApiError::internal(format!("cannot encode a stored response: {cause}")))
}

fn unpack_body(stored: Vec<u8>) -> Result<ChunkedBody, ApiError> {
    if !stored.starts_with(&COMPRESSED_PREFIX) {
        return Ok(ChunkedBody::from(stored));
    }
    let mut body = ChunkedBody::default();
    match io::copy(&mut FrameDecoder::new(stored.as_slice()), &mut body) {
        Ok(_length) => Ok(body),
        Err(error) => Err(ApiError::internal(format!("cannot decode a stored response: {error}"))),
    }
}

/// The response to a retry: the stored response of the first request.
pub(super) fn replay_response(record: IdempotencyRecord) -> Result<RenderedResponse, ApiError> {
    let status = StatusCode::from_u16(record.status)
        .map_err(|error| ApiError::internal(format!("a stored response has an invalid status: {error}")))?;
    Ok(RenderedResponse::from_stored(status, unpack_body(record.body)?)
        .with_header("idempotency-replayed", "true"))
}

/// Reads the idempotency key of a request; `None` without one. Fails with 400 if the header is malformed or repeated.
pub(super) fn read_key(
    call: &Call,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Option<IdempotentRequest>, ApiError> {
    let Some(key) = read_key_header(headers)? else { return Ok(None) };
    let key = IdempotencyKey { scope: call.scope.as_uuid(), key };
    let request_hash = hash_request(call.method, &call.path, &call.query_string, body);
    Ok(Some(IdempotentRequest { key, request_hash, retention: call.response_retention }))
}

pub(crate) fn read_key_header(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    match single_header(headers, KEY_HEADER) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => match std::str::from_utf8(bytes) {
            Ok(text) if IdempotencyKey::is_valid_key(text) => Ok(Some(text.to_owned())),
            Ok(_) | Err(_) => Err(ApiError::malformed_key()),
        },
        Err(_) => Err(ApiError::bad_request("Idempotency-Key must be sent only once")),
    }
}

/// U+0000 separates the four parts, because method, path and query cannot contain it.
fn hash_request(method: &str, path: &str, query: &str, body: &[u8]) -> Vec<u8> {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in [method, path, query] {
        context.update(part.as_bytes());
        context.update(&[0]);
    }
    context.update(body);
    context.finish().as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn a_key_is_1_to_255_visible_ascii_characters_sent_once() {
        let check = |values: &[&[u8]], expected: Result<Option<&str>, ()>| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(HeaderName::from_static(KEY_HEADER), HeaderValue::from_bytes(value).unwrap());
            }
            let parsed = read_key_header(&headers).map_err(|_error| ());
            assert_eq!(parsed.as_ref().map(Option::as_deref), expected.as_ref().copied(), "{values:?}");
        };
        let long = "x".repeat(256);
        check(&[], Ok(None));
        check(&[b"a"], Ok(Some("a")));
        check(&[b"!~/\"8e03978e-40d5\""], Ok(Some("!~/\"8e03978e-40d5\"")));
        check(&[&long.as_bytes()[..255]], Ok(Some(&long[..255])));
        check(&[long.as_bytes()], Err(()));
        check(&[b""], Err(()));
        check(&[b"a b"], Err(()));
        check(&[b"a\tb"], Err(()));
        check(&["ü".as_bytes()], Err(()));
        check(&[b"\xff"], Err(()));
        check(&[b"a", b"a"], Err(()));
    }

    #[test]
    fn a_large_response_is_stored_compressed_and_unpacked_unchanged() {
        let check = |text: String, stored_bytes_max: usize| {
            let response = RenderedResponse::ok(&text).unwrap();
            let stored = pack_body(&response).unwrap();
            assert!(stored.len() <= stored_bytes_max, "{} of {}", stored.len(), response.body.len());
            assert_eq!(unpack_body(stored).unwrap().to_vec(), response.body.to_vec());
        };
        check("small".to_owned(), 7);
        let message: String = (0..10_000_u32).filter_map(|n| char::from_u32(0x1_0000 + n)).collect();
        check(message.repeat(200), 20 * message.len());
        let mut broken = pack_body(&RenderedResponse::ok(&message.repeat(3)).unwrap()).unwrap();
        broken.truncate(1_000);
        assert!(unpack_body(broken).is_err());
    }

    #[test]
    fn each_part_of_a_request_changes_the_hash() {
        let original = hash_request("POST", "/v1/users", "a=1", b"{}");
        assert_eq!(original, hash_request("POST", "/v1/users", "a=1", b"{}"));
        for changed in [
            hash_request("PUT", "/v1/users", "a=1", b"{}"),
            hash_request("POST", "/v1/user", "sa=1", b"{}"),
            hash_request("POST", "/v1/users", "", b"{}"),
            hash_request("POST", "/v1/users", "a=1", b"{} "),
            hash_request("POST", "/v1/users", "a=1{}", b""),
        ] {
            assert_ne!(original, changed);
        }
    }
}
