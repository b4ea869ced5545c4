//! Parses the bytes of a body into the command of its operation.

use actix_web::http::header::HeaderMap;

use guerdon_api_types::body::Fields;

use super::require_json;
use crate::operation::error::ApiError;
use crate::operation::response::RenderedResponse;

/// The command in a body, and the unknown fields of the body.
pub(crate) struct ParsedCommand<C> {
    pub(crate) command: C,
    ignored_fields: Option<String>,
}

/// Parses a body with `read`, which may return `None` only after a fault. Fails with a 400 that names every fault.
pub(crate) fn parse_command<C>(
    headers: &HeaderMap,
    body: &[u8],
    read: impl FnOnce(&mut Fields) -> Option<C>,
) -> Result<ParsedCommand<C>, ApiError> {
    require_json(headers)?;
    let mut fields = Fields::parse(body)?;
    let command = read(&mut fields);
    let command = fields.check_faults(command)?;
    if wants_strict_handling(headers) {
        fields.reject_unknown()?;
    }
    Ok(ParsedCommand { command, ignored_fields: fields.ignored_names() })
}

impl<C> ParsedCommand<C> {
    /// The command of a request without a body.
    pub(crate) fn without_body(read: impl FnOnce(&mut Fields) -> Option<C>) -> Result<Self, ApiError> {
        let mut fields = Fields::default();
        let command = read(&mut fields);
        Ok(Self { command: fields.check_faults(command)?, ignored_fields: None })
    }

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

    use super::*;

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
