//! Renders errors as problem details (RFC 9457) for clients that accept them (behaviour 5.6).

use actix_web::HttpResponse;
use actix_web::body::BoxBody;
use actix_web::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};

use crate::operation::{ErrorDetails, Problem};

const PROBLEM_TYPE: &str = "application/problem+json";
const PROBLEM_CONTENT_TYPE: HeaderValue = HeaderValue::from_static(PROBLEM_TYPE);

/// Whether a client accepts problem details.
pub(super) fn wants_problems(headers: &HeaderMap) -> bool {
    headers.get_all(ACCEPT).filter_map(|value| value.to_str().ok()).any(names_problems)
}

/// Whether a client accepts problem details, according to the received lines of a malformed request head.
pub(super) fn head_wants_problems(head: &[u8]) -> bool {
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).take_while(|line| !line.is_empty());
    let headers = lines.filter_map(|line| std::str::from_utf8(line).ok()?.split_once(':'));
    headers
        .filter(|(name, _)| name.eq_ignore_ascii_case(ACCEPT.as_str()))
        .any(|(_, value)| names_problems(value))
}

/// Whether a value of `Accept` contains the media type of problem details with a weight above zero.
fn names_problems(accept: &str) -> bool {
    accept.split(',').map(|range| range.split(';').map(str::trim)).any(|mut parts| {
        let is_problem = parts.next().is_some_and(|media_type| media_type.eq_ignore_ascii_case(PROBLEM_TYPE));
        let is_zero_weight =
            |parameter: &str| parameter.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0_f32));
        is_problem && !parts.any(is_zero_weight)
    })
}

/// Turns an error response into problem details; any other response is unchanged.
pub(super) fn as_problem(response: HttpResponse, service_url: &str, request_id: &str) -> HttpResponse {
    let problem = render_problem(&response, service_url, request_id);
    let Some(body) = problem else { return response };
    let mut response = response.map_body(|_, _| BoxBody::new(body));
    response.headers_mut().insert(CONTENT_TYPE, PROBLEM_CONTENT_TYPE);
    response
}

/// Renders an error response as the body of problem details.
fn render_problem(response: &HttpResponse, service_url: &str, request_id: &str) -> Option<String> {
    let extensions = response.extensions();
    let details = extensions.get::<ErrorDetails>()?;
    serde_json::to_string(&Problem::new(details, service_url, request_id)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::ApiError;

    #[test]
    fn problem_details_are_used_only_if_a_client_names_them() {
        let check = |accept: &str, expected: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_str(accept).unwrap());
            assert_eq!(wants_problems(&headers), expected, "{accept}");
        };
        check("application/problem+json", true);
        check("application/json, Application/Problem+JSON;q=0.5", true);
        check("application/problem+json ; q=0", false);
        check("application/problem+json;q=0.0", false);
        check("*/*", false);
        check("application/json", false);
        check("", false);
    }

    #[test]
    fn the_accept_header_of_a_malformed_request_is_found() {
        let check = |head: &str, expected: bool| {
            assert_eq!(head_wants_problems(head.as_bytes()), expected, "{head:?}")
        };
        check("GET / HTTP/1.1\r\nHost: a\r\nACCEPT: text/html, application/problem+json\r\n\r\n", true);
        check("GET / HTTP/1.1\nAccept:application/problem+json", true);
        check("GET / HTTP/1.1\r\nAccept: application/problem+json;q=0\r\n\r\n", false);
        check("GET / HTTP/1.1\r\nAccept: */*\r\n\r\nAccept: application/problem+json\r\n", false);
        check("", false);
    }

    #[test]
    fn a_problem_has_all_its_members_in_order() {
        let error = ApiError::not_found_in_path("company").with_path_id(Some(uuid::Uuid::nil()));
        let response = error.log_and_respond("r-1");
        let body = render_problem(&response, "https://api.example", "r-1").unwrap();
        let expected = concat!(
            r#"{"type":"https://api.example/docs/errors#not_found","title":"Not Found","status":404,"#,
            r#""detail":"company not found: id 00000000-0000-0000-0000-000000000000","code":"not_found","#,
            r#""request_id":"r-1","errors":[{"field":"id","#,
            r#""message":"company not found: id 00000000-0000-0000-0000-000000000000"}]}"#,
        );
        assert_eq!(body, expected);
        assert_eq!(render_problem(&HttpResponse::Ok().finish(), "", ""), None);
    }
}
