//! Parses the bytes of a body into the input of its operation.

use actix_web::http::header::HeaderMap;
use guerdon_api_types::Fields;

use super::require_json;
use crate::operation::{ApiError, RenderedResponse};

/// The input of an operation, and the unknown fields of the body.
pub(crate) struct ParsedInput<I> {
    pub(crate) input: I,
    ignored_fields: Option<String>,
}

/// Parses a body with `read`, which may return `None` only after a fault. Without a body, `read` gets no fields. Fails
/// with a 400 that names every fault.
pub(crate) fn parse_input<I>(
    headers: &HeaderMap,
    body: Option<&[u8]>,
    read: impl FnOnce(&mut Fields) -> Option<I>,
) -> Result<ParsedInput<I>, ApiError> {
    let mut fields = Fields::default();
    if let Some(body) = body {
        require_json(headers)?;
        fields = Fields::parse(body)?;
    }
    let input = read(&mut fields);
    if wants_strict_handling(headers) {
        fields.reject_unknown();
    }
    let input = fields.check_faults(input)?;
    Ok(ParsedInput { input, ignored_fields: fields.ignored_names() })
}

impl<I> ParsedInput<I> {
    /// Adds the header that lists unknown fields to a response.
    pub(crate) fn add_ignored_fields(&self, response: RenderedResponse) -> RenderedResponse {
        match &self.ignored_fields {
            Some(ignored) => response.with_header("x-ignored-fields", ignored),
            None => response,
        }
    }
}

/// Whether the client wants an error for unknown fields: `Prefer: handling=strict` (RFC 7240).
fn wants_strict_handling(headers: &HeaderMap) -> bool {
    let named =
        headers.get_all("prefer").filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    named.filter_map(|preference| preference.split(';').next()?.split_once('=')).any(|(name, value)| {
        let value = value.trim().trim_matches('"');
        name.trim().eq_ignore_ascii_case("handling") && value.eq_ignore_ascii_case("strict")
    })
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};
    use guerdon_domain::money::Points;

    use super::*;

    #[test]
    fn strict_handling_reports_unknown_fields_after_the_other_faults() {
        let check = |prefer: &'static str, body: &str, expected: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HeaderName::from_static("prefer"), HeaderValue::from_static(prefer));
            let read = |fields: &mut Fields<'_>| fields.read_required_integer::<Points>("points");
            let parsed = parse_input(&headers, Some(body.as_bytes()), read);
            let message = parsed.err().map(|error| error.status_and_message().1.to_owned());
            assert_eq!(message.unwrap_or_default(), expected, "{body}");
        };
        let missing = "points is required and must be a non-negative integer";
        check("handling=strict", r#"{"points": 1}"#, "");
        check("handling=strict", r#"{"points": 1, "point": 1}"#, "the body has unknown fields: point");
        let both = format!("{missing}; the body has unknown fields: point");
        check("handling=strict", r#"{"point": 1}"#, &both);
        check("handling=lenient", r#"{"point": 1}"#, missing);
    }

    #[test]
    fn strict_handling_is_found_among_other_preferences() {
        let check = |prefer: &str, expected: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(HeaderName::from_static("prefer"), HeaderValue::from_str(prefer).unwrap());
            assert_eq!(wants_strict_handling(&headers), expected, "{prefer}");
        };
        check("handling=strict", true);
        check("respond-async, Handling = \"strict\"; foo=bar", true);
        check("handling=lenient", false);
        check("handling", false);
        check("wait=10", false);
    }
}
