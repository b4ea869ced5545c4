//! Renders errors as problem details (RFC 9457) for clients that accept them (behaviour 5.6, 5.7).

use actix_web::HttpResponse;
use actix_web::body::BoxBody;
use actix_web::dev::ServiceResponse;
use actix_web::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::error::{ErrorDetails, status_schema};
use crate::operation::error_code::ErrorCode;
use guerdon_api_types::parameter::FieldFault;

const PROBLEM_TYPE: &str = "application/problem+json";
const PROBLEM_CONTENT_TYPE: HeaderValue = HeaderValue::from_static(PROBLEM_TYPE);

/// An error in the format of RFC 9457.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Problem<'a> {
    /// The documentation of the code. Example: `"https://localhost:8443/docs/errors#not_found"`
    #[schemars(extend("format" = "uri"))]
    r#type: String,
    /// What the status means. Example: `"Not Found"`
    title: &'a str,
    /// The HTTP status. Example: `404`
    #[schemars(schema_with = "status_schema")]
    status: u16,
    /// The reason, for people: the message of the default format. Example: `"company not found"`
    detail: &'a str,
    /// The reason, for programs. Codes can be added. Example: `"not_found"`
    code: ErrorCode,
    /// The id of the request, as in `X-Request-Id`. Example: `"019a9c3e-5d73-7b1a-8f0e-2d4c6a8b0e12"`
    request_id: &'a str,
    /// The invalid fields of the path, the query or the body, in the order of the detail; empty if the error concerns no field.
    errors: Vec<FieldError>,
}

/// An invalid field.
#[derive(Debug, Serialize, JsonSchema, PartialEq, Eq)]
pub(crate) struct FieldError {
    /// Its name. Example: `"id"`
    field: String,
    /// Its part of the detail. Example: `"company not found"`
    message: String,
}

impl<'a> Problem<'a> {
    /// The problem that an error response describes.
    pub(crate) fn new(details: &'a ErrorDetails, service_url: &str, request_id: &'a str) -> Self {
        let ErrorDetails { code, message, faults } = details;
        Self {
            r#type: format!("{service_url}/docs/errors#{}", code.name()),
            title: code.status().canonical_reason().unwrap_or_default(),
            status: code.status().as_u16(),
            detail: message,
            code: *code,
            request_id,
            errors: list_field_errors(faults),
        }
    }
}

/// One entry for each field. A field that breaks several rules has all its messages in one entry.
fn list_field_errors(faults: &[FieldFault]) -> Vec<FieldError> {
    let mut errors: Vec<FieldError> = Vec::new();
    for FieldFault { fields, message } in faults {
        for field in fields {
            match errors.iter_mut().find(|error| error.field == *field) {
                Some(error) => error.message = format!("{}; {message}", error.message),
                None => errors.push(FieldError { field: field.clone(), message: message.clone() }),
            }
        }
    }
    errors
}

/// Whether a client accepts problem details.
pub(super) fn wants_problems(headers: &HeaderMap) -> bool {
    headers.get_all(ACCEPT).filter_map(|value| value.to_str().ok()).any(names_problems)
}

/// Whether a client whose request head is malformed accepts problem details, by the lines of the head that were received.
pub(super) fn head_wants_problems(head: &[u8]) -> bool {
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).take_while(|line| !line.is_empty());
    let headers = lines.filter_map(|line| std::str::from_utf8(line).ok()?.split_once(':'));
    headers
        .filter(|(name, _)| name.eq_ignore_ascii_case(ACCEPT.as_str()))
        .any(|(_, value)| names_problems(value))
}

/// Whether a value of `Accept` names problem details with a weight above zero.
fn names_problems(accept: &str) -> bool {
    accept.split(',').map(|range| range.split(';').map(str::trim)).any(|mut parts| {
        let is_problem = parts.next().is_some_and(|media_type| media_type.eq_ignore_ascii_case(PROBLEM_TYPE));
        let is_zero_weight =
            |parameter: &str| parameter.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0_f32));
        is_problem && !parts.any(is_zero_weight)
    })
}

/// Turns an error response into problem details; any other response is unchanged.
pub(super) fn as_problem(
    mut response: ServiceResponse<BoxBody>,
    service_url: &str,
    request_id: &str,
) -> ServiceResponse<BoxBody> {
    let problem = take_problem(response.response_mut(), service_url, request_id);
    let Some(body) = problem else { return response };
    let mut response = response.map_body(|_, _| BoxBody::new(body));
    response.headers_mut().insert(CONTENT_TYPE, PROBLEM_CONTENT_TYPE);
    response
}

/// The same for the response to a request that never reached a service.
pub(super) fn response_as_problem(
    mut response: HttpResponse,
    service_url: &str,
    request_id: &str,
) -> HttpResponse {
    let problem = take_problem(&mut response, service_url, request_id);
    let Some(body) = problem else { return response };
    let mut response = response.map_body(|_, _| BoxBody::new(body));
    response.headers_mut().insert(CONTENT_TYPE, PROBLEM_CONTENT_TYPE);
    response
}

/// The body of the problem that an error response describes.
fn take_problem(response: &mut HttpResponse, service_url: &str, request_id: &str) -> Option<String> {
    let details = response.extensions_mut().remove::<ErrorDetails>()?;
    serde_json::to_string(&Problem::new(&details, service_url, request_id)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::error::ApiError;

    #[test]
    fn a_client_wants_what_it_names() {
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
    fn the_head_of_a_malformed_request_is_searched_for_what_the_client_wants() {
        let check = |head: &str, expected: bool| {
            assert_eq!(head_wants_problems(head.as_bytes()), expected, "{head:?}")
        };
        check("GET / HTTP/1.1\r\nHost: a\r\nACCEPT: text/html, application/problem+json\r\n\r\n", true);
        check("GET / HTTP/1.1\nAccept:application/problem+json", true);
        check("GET / HTTP/1.1\r\nAccept: application/problem+json;q=0\r\n\r\n", false);
        check("GET / HTTP/1.1\r\nAccept: */*\r\n\r\nAccept: application/problem+json\r\n", false);
        check("", false);
    }

    fn problem_of(error: ApiError) -> serde_json::Value {
        let mut response = error.log_and_respond("r-1");
        let body = take_problem(&mut response, "https://api.example", "r-1").unwrap();
        serde_json::from_str(&body).unwrap()
    }

    #[test]
    fn a_problem_has_all_its_members_in_order() {
        let mut response = ApiError::not_found_in_path("company").log_and_respond("r-1");
        let body = take_problem(&mut response, "https://api.example", "r-1").unwrap();
        let expected = concat!(
            r#"{"type":"https://api.example/docs/errors#not_found","title":"Not Found","status":404,"#,
            r#""detail":"company not found","code":"not_found","request_id":"r-1","#,
            r#""errors":[{"field":"id","message":"company not found"}]}"#,
        );
        assert_eq!(body, expected);
        assert_eq!(take_problem(&mut response, "", ""), None, "the details were taken");
    }

    #[test]
    fn every_code_has_its_status_title_and_documentation() {
        for code in ErrorCode::ALL {
            let problem = problem_of(ApiError::new(*code, "reason"));
            assert_eq!(problem["code"], code.name());
            assert_eq!(problem["type"], format!("https://api.example/docs/errors#{}", code.name()));
            assert_eq!(problem["status"], code.status().as_u16());
            assert_eq!(problem["title"], code.status().canonical_reason().unwrap());
            assert_eq!(problem["errors"], serde_json::json!([]));
        }
    }

    #[test]
    fn each_field_has_one_entry_with_its_part_of_the_detail() {
        let problem = problem_of(ApiError::invalid_fields(vec![
            FieldFault::new("a", "a is required"),
            FieldFault::new("b", "b must not be x"),
            FieldFault::new("b", "b must not be y"),
            FieldFault::of_fields(["c", "d"], "c and d must be small"),
        ]));
        let entry = |field: &str, message: &str| serde_json::json!({"field": field, "message": message});
        let expected = serde_json::json!([
            entry("a", "a is required"),
            entry("b", "b must not be x; b must not be y"),
            entry("c", "c and d must be small"),
            entry("d", "c and d must be small"),
        ]);
        assert_eq!(problem["errors"], expected);
        assert_eq!(
            problem["detail"],
            "a is required; b must not be x; b must not be y; c and d must be small"
        );
    }
}
