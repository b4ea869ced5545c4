//! Compresses responses of more than 1 KiB for clients that accept it (behaviour 3.7).

use actix_http::encoding::Encoder;
use actix_web::HttpMessage;
use actix_web::body::{self, BodySize, BoxBody, MessageBody as _};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{AcceptEncoding, ContentEncoding, Encoding, Header as _};
use actix_web::http::{Method, Version};

/// Smaller responses are not compressed.
const COMPRESSED_BYTES_MIN: u64 = 1_025;

/// The encoding that a client prefers, or `None` for no compression. A client that accepts no known encoding gets an
/// uncompressed response (RFC 9110, 12.5.3), and so does a client of HTTP/1.0: the length of a compressed response is
/// unknown, and chunks must not be sent to it (RFC 9112, 6.1).
pub(super) fn response_encoding(request: &ServiceRequest) -> Option<ContentEncoding> {
    if request.version() < Version::HTTP_11 {
        return None;
    }
    negotiate_encoding(request, &[Encoding::zstd(), Encoding::gzip(), Encoding::identity()])
}

/// Whether a client accepts gzip.
pub(super) fn accepts_gzip(request: &impl HttpMessage) -> bool {
    negotiate_encoding(request, &[Encoding::gzip(), Encoding::identity()]).is_some()
}

fn negotiate_encoding(request: &impl HttpMessage, offered: &[Encoding]) -> Option<ContentEncoding> {
    match AcceptEncoding::parse(request).ok()?.negotiate(offered.iter())? {
        Encoding::Known(encoding @ (ContentEncoding::Zstd | ContentEncoding::Gzip)) => Some(encoding),
        Encoding::Known(_) | Encoding::Unknown(_) => None,
    }
}

/// Compresses a response with `encoding`, if it is large enough. The response to HEAD gets the same header fields as
/// the response to GET, but no length, because that is known only after the compression (RFC 9110, 9.3.2).
pub(super) fn compress_response(
    response: ServiceResponse<BoxBody>,
    encoding: Option<ContentEncoding>,
) -> ServiceResponse<BoxBody> {
    match (encoding, response.response().body().size()) {
        (Some(encoding), BodySize::Sized(COMPRESSED_BYTES_MIN..)) => {
            let is_head = response.request().method() == Method::HEAD;
            response.map_body(|head, body| {
                let compressed = Encoder::response(encoding, head, body);
                if is_head { BoxBody::new(body::None::new()) } else { compressed.boxed() }
            })
        }
        _ => response,
    }
}

#[cfg(test)]
mod tests {
    use actix_web::HttpResponse;
    use actix_web::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, VARY};
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn the_preferred_known_encoding_is_used() {
        let check = |accepted: Option<&str>, expected: Option<ContentEncoding>| {
            let mut request = TestRequest::with_uri("/v1/companies");
            if let Some(accepted) = accepted {
                request = request.insert_header((ACCEPT_ENCODING, accepted));
            }
            assert_eq!(response_encoding(&request.to_srv_request()), expected, "{accepted:?}");
        };
        check(None, None);
        check(Some("gzip"), Some(ContentEncoding::Gzip));
        check(Some("zstd, br"), Some(ContentEncoding::Zstd));
        check(Some("gzip;q=0.5, zstd;q=0.1"), Some(ContentEncoding::Gzip));
        check(Some("br, deflate"), None);
        check(Some("identity"), None);
        check(Some("gzip;q=0"), None);
        check(Some("identity;q=0"), None);
        check(Some("*;q=0"), None);
        check(Some(""), None);
        let old = TestRequest::get().version(Version::HTTP_10).insert_header((ACCEPT_ENCODING, "gzip"));
        assert_eq!(response_encoding(&old.to_srv_request()), None);
    }

    #[test]
    fn a_large_response_to_head_has_the_header_fields_of_get_and_no_length() {
        let check = |method: Method, bytes: usize, is_encoded: bool, size: BodySize| {
            let response = HttpResponse::Ok().body("x".repeat(bytes));
            let response = TestRequest::default().method(method).to_srv_response(response);
            let response = compress_response(response, Some(ContentEncoding::Gzip));
            for name in [CONTENT_ENCODING, VARY] {
                assert_eq!(response.headers().contains_key(&name), is_encoded, "{name}");
            }
            assert_eq!(response.response().body().size(), size);
        };
        check(Method::GET, 1_025, true, BodySize::Stream);
        check(Method::HEAD, 1_025, true, BodySize::None);
        check(Method::GET, 1_024, false, BodySize::Sized(1_024));
        check(Method::HEAD, 1_024, false, BodySize::Sized(1_024));
    }
}
