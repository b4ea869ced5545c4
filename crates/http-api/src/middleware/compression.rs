//! Compresses responses of more than 1 KiB for clients that accept it (behaviour 3.7).

use actix_http::encoding::Encoder;
use actix_web::HttpMessage;
use actix_web::body::{BodySize, BoxBody, MessageBody as _};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{AcceptEncoding, ContentEncoding, Encoding, Header as _};

/// Smaller responses are not compressed.
const COMPRESSED_BYTES_MIN: u64 = 1_025;

/// The encoding that a client prefers, or `None` for no compression. A client that accepts no known encoding gets an
/// uncompressed response (RFC 9110, 12.5.3).
pub(super) fn response_encoding(request: &ServiceRequest) -> Option<ContentEncoding> {
    if request.method() == Method::HEAD {
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

/// Compresses a response with `encoding`, if it is large enough.
pub(super) fn compress_response(
    response: ServiceResponse<BoxBody>,
    encoding: Option<ContentEncoding>,
) -> ServiceResponse<BoxBody> {
    match (encoding, response.response().body().size()) {
        (Some(encoding), BodySize::Sized(COMPRESSED_BYTES_MIN..)) => {
            response.map_body(|head, body| Encoder::response(encoding, head, body).boxed())
        }
        _ => response,
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::ACCEPT_ENCODING;
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn the_preferred_known_encoding_is_used() {
        let check = |method: Method, accepted: Option<&str>, expected: Option<ContentEncoding>| {
            let mut request = TestRequest::with_uri("/v1/companies").method(method);
            if let Some(accepted) = accepted {
                request = request.insert_header((ACCEPT_ENCODING, accepted));
            }
            assert_eq!(response_encoding(&request.to_srv_request()), expected, "{accepted:?}");
        };
        check(Method::GET, None, None);
        check(Method::GET, Some("gzip"), Some(ContentEncoding::Gzip));
        check(Method::GET, Some("zstd, br"), Some(ContentEncoding::Zstd));
        check(Method::GET, Some("gzip;q=0.5, zstd;q=0.1"), Some(ContentEncoding::Gzip));
        check(Method::GET, Some("br, deflate"), None);
        check(Method::GET, Some("identity"), None);
        check(Method::GET, Some("gzip;q=0"), None);
        check(Method::GET, Some("identity;q=0"), None);
        check(Method::GET, Some("*;q=0"), None);
        check(Method::GET, Some(""), None);
        check(Method::HEAD, Some("gzip"), None);
    }
}
