//! Answers that are worth it go out compressed where the client asks for that (behaviour 3.7).

use actix_http::encoding::Encoder;
use actix_web::HttpMessage;
use actix_web::body::{BodySize, BoxBody, MessageBody as _};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{AcceptEncoding, ContentEncoding, Encoding, Header as _};

/// A smaller answer is not worth it.
const WORTH_IT: u64 = 1_025;

/// The encoding that a client asks for; none where it wants the answer as it is. One that says it takes neither that nor
/// anything known is answered all the same (RFC 9110, 12.5.3).
pub(super) fn asked_for(request: &ServiceRequest) -> Option<ContentEncoding> {
    if request.method() == Method::HEAD {
        return None;
    }
    negotiated(request, &[Encoding::zstd(), Encoding::gzip(), Encoding::identity()])
}

/// Whether a client takes what is there in gzip alone, beside the answer as it is.
pub(super) fn takes_gzip(request: &impl HttpMessage) -> bool {
    negotiated(request, &[Encoding::gzip(), Encoding::identity()]).is_some()
}

fn negotiated(request: &impl HttpMessage, offered: &[Encoding]) -> Option<ContentEncoding> {
    match AcceptEncoding::parse(request).ok()?.negotiate(offered.iter())? {
        Encoding::Known(encoding @ (ContentEncoding::Zstd | ContentEncoding::Gzip)) => Some(encoding),
        Encoding::Known(_) | Encoding::Unknown(_) => None,
    }
}

/// The answer in this encoding, where it is worth it.
pub(super) fn compressed(
    answer: ServiceResponse<BoxBody>,
    encoding: Option<ContentEncoding>,
) -> ServiceResponse<BoxBody> {
    match (encoding, answer.response().body().size()) {
        (Some(encoding), BodySize::Sized(WORTH_IT..)) => {
            answer.map_body(|head, body| Encoder::response(encoding, head, body).boxed())
        }
        _ => answer,
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::ACCEPT_ENCODING;
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn what_is_asked_for_and_known_is_taken() {
        let check = |method: Method, accepted: Option<&str>, expected: Option<ContentEncoding>| {
            let mut request = TestRequest::with_uri("/v1/companies").method(method);
            if let Some(accepted) = accepted {
                request = request.insert_header((ACCEPT_ENCODING, accepted));
            }
            assert_eq!(asked_for(&request.to_srv_request()), expected, "{accepted:?}");
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
