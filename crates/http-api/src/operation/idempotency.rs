//! Reads `Idempotency-Key`, and identifies retries of a request.

use std::io::{self, Write as _};

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderMap;
use guerdon_domain::idempotency::{IdempotencyKey, IdempotencyRecord, Repeatable};
use lz4_flex::frame::{BlockMode, BlockSize, FrameDecoder, FrameEncoder, FrameInfo};
use ring::digest;

use crate::arrival::single_header;
use crate::operation::answer::Answer;
use crate::operation::budget::SMALL_MAX;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::segments::Segments;

const HEADER: &str = "idempotency-key";

/// The first bytes of a compressed response. JSON does not begin with them.
const COMPRESSED_PREFIX: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// A response body as it is stored. A large one is compressed, which reduces the response for a message to thousands to a tenth.
pub(super) fn kept(answer: &Answer) -> Result<Vec<u8>, ApiError> {
    if answer.body.len() <= SMALL_MAX {
        return Ok(answer.body.joined());
    }
    let mut packer = FrameEncoder::with_frame_info(
        FrameInfo::new().block_size(BlockSize::Max256KB).block_mode(BlockMode::Linked).content_checksum(true),
        Vec::new(),
    );
    let written =
        answer.body.pieces().try_for_each(|piece| packer.write_all(piece).map_err(|e| e.to_string()));
    let packed = written.and_then(|()| packer.finish().map_err(|e| e.to_string()));
    packed.map_err(|cause| ApiError::internal(format!("an answer cannot be packed: {cause}")))
}

fn unpacked(kept: Vec<u8>) -> Result<Segments, ApiError> {
    if !kept.starts_with(&COMPRESSED_PREFIX) {
        return Ok(Segments::from(kept));
    }
    let mut body = Segments::default();
    match io::copy(&mut FrameDecoder::new(kept.as_slice()), &mut body) {
        Ok(_length) => Ok(body),
        Err(error) => Err(ApiError::internal(format!("a kept answer cannot be unpacked: {error}"))),
    }
}

/// The response of the first request.
pub(super) fn replayed(record: IdempotencyRecord) -> Result<Answer, ApiError> {
    let status = StatusCode::from_u16(record.status)
        .map_err(|error| ApiError::internal(format!("a kept answer has a status that is none: {error}")))?;
    Ok(Answer::kept(status, unpacked(record.body)?).with("idempotency-replayed", "true"))
}

/// The error for a key that was used for another request.
pub(super) fn misused() -> ApiError {
    ApiError::bad_request("Idempotency-Key must not be used for another request")
}

/// The key that a request carries, if any.
pub(super) fn key_of(call: &Call, headers: &HeaderMap, body: &[u8]) -> Result<Option<Repeatable>, ApiError> {
    let Some(key) = header(headers)? else { return Ok(None) };
    let key = IdempotencyKey { scope: call.scope.as_uuid(), key };
    let request_hash = hash(call.method, &call.path, &call.text_of_query, body);
    Ok(Some(Repeatable { key, request_hash, kept: call.answers_kept }))
}

fn header(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    match single_header(headers, HEADER) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => match std::str::from_utf8(bytes) {
            Ok(text) if IdempotencyKey::is_key(text) => Ok(Some(text.to_owned())),
            Ok(_) | Err(_) => {
                Err(ApiError::bad_request("Idempotency-Key must be 1 to 255 visible ASCII characters"))
            }
        },
        Err(_) => Err(ApiError::bad_request("Idempotency-Key must be given once")),
    }
}

/// Method, path and query contain no U+0000, which therefore separates the four parts.
fn hash(method: &str, path: &str, query: &str, body: &[u8]) -> Vec<u8> {
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
                headers.append(HeaderName::from_static(HEADER), HeaderValue::from_bytes(value).unwrap());
            }
            let read = header(&headers).map_err(|_refusal| ());
            assert_eq!(read.as_ref().map(Option::as_deref), expected.as_ref().copied(), "{values:?}");
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
    fn a_large_answer_is_kept_in_little_and_comes_back_the_same() {
        let check = |text: String, kept_max: usize| {
            let answer = Answer::ok(&text).unwrap();
            let kept = kept(&answer).unwrap();
            assert!(kept.len() <= kept_max, "{} of {}", kept.len(), answer.body.len());
            assert_eq!(unpacked(kept).unwrap().joined(), answer.body.joined());
        };
        check("small".to_owned(), 7);
        let message: String = (0..10_000_u32).filter_map(|n| char::from_u32(0x1_0000 + n)).collect();
        check(message.repeat(200), 20 * message.len());
        let mut broken = kept(&Answer::ok(&message.repeat(3)).unwrap()).unwrap();
        broken.truncate(1_000);
        assert!(unpacked(broken).is_err());
    }

    #[test]
    fn each_part_of_a_request_makes_another_hash() {
        let one = hash("POST", "/v1/users", "a=1", b"{}");
        assert_eq!(one, hash("POST", "/v1/users", "a=1", b"{}"));
        for other in [
            hash("PUT", "/v1/users", "a=1", b"{}"),
            hash("POST", "/v1/user", "sa=1", b"{}"),
            hash("POST", "/v1/users", "", b"{}"),
            hash("POST", "/v1/users", "a=1", b"{} "),
            hash("POST", "/v1/users", "a=1{}", b""),
        ] {
            assert_ne!(one, other);
        }
    }
}
