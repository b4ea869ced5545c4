//! Renders errors as problem details (RFC 9457) for clients that accept them (behaviour 5.6).

use actix_web::HttpResponse;
use actix_web::body::BoxBody;
use actix_web::dev::ServiceResponse;
use actix_web::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::error::{Refused, status_schema};

const PROBLEM: &str = "application/problem+json";

/// A refusal in the other shape.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Problem<'a> {
    /// Always `about:blank`. Example: `"about:blank"`
    #[schemars(extend("const" = "about:blank"))]
    r#type: &'static str,
    /// What the status means. Example: `"Not Found"`
    title: &'a str,
    /// The HTTP status. Example: `404`
    #[schemars(schema_with = "status_schema")]
    status: u16,
    /// The reason, for people: a 400 names each field and what it must be. Example: `"company not found"`
    detail: &'a str,
}

/// Whether a client accepts problem details.
pub(super) fn wants_problems(headers: &HeaderMap) -> bool {
    let ranges =
        headers.get_all(ACCEPT).filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    ranges.map(|range| range.split(';').map(str::trim)).any(|mut parts| {
        let names_it = parts.next().is_some_and(|media_type| media_type.eq_ignore_ascii_case(PROBLEM));
        let is_none =
            |parameter: &str| parameter.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0_f32));
        names_it && !parts.any(is_none)
    })
}

/// Turns an error response into problem details; any other response is unchanged.
pub(super) fn as_problem(mut response: ServiceResponse<BoxBody>) -> ServiceResponse<BoxBody> {
    let Some(Refused(detail)) = response.response_mut().extensions_mut().remove() else { return response };
    let status = response.status();
    let title = status.canonical_reason().unwrap_or_default();
    let problem = Problem { r#type: "about:blank", title, status: status.as_u16(), detail: &detail };
    let Ok(body) = serde_json::to_string(&problem) else { return response };
    let body = HttpResponse::Ok().body(body).into_body();
    let mut response = response.map_body(|_, _| body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
