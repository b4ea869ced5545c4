//! Parses the bytes of a body into the command of its operation.

use actix_web::http::header::HeaderMap;

use guerdon_api_types::body::Fields;

use super::require_json;
use crate::operation::answer::Answer;
use crate::operation::error::ApiError;

/// The command in a body, and its unknown fields.
pub(crate) struct Parsed<C> {
    pub(crate) command: C,
    ignored: Option<String>,
}

/// Parses a body; `read` may return `None` only after a fault. Fails with a 400 that names every fault.
pub(crate) fn parse<C>(
    headers: &HeaderMap,
    body: &[u8],
    read: impl FnOnce(&mut Fields) -> Option<C>,
) -> Result<Parsed<C>, ApiError> {
    require_json(headers)?;
    let mut fields = Fields::parse(body)?;
    let command = read(&mut fields);
    let command = fields.unless_faulty(command)?;
    if wants_strictness(headers) {
        fields.require_none_ignored()?;
    }
    Ok(Parsed { command, ignored: fields.ignored() })
}

impl<C> Parsed<C> {
    /// The command of a request without a body.
    pub(crate) fn without_body(read: impl FnOnce(&mut Fields) -> Option<C>) -> Result<Self, ApiError> {
        let mut fields = Fields::default();
        let command = read(&mut fields);
        Ok(Self { command: fields.unless_faulty(command)?, ignored: None })
    }

    /// Adds the header that lists unknown fields to a response.
    pub(crate) fn tell(&self, answer: Answer) -> Answer {
        match &self.ignored {
            Some(ignored) => answer.with("x-ignored-fields", ignored),
            None => answer,
        }
    }
}

/// Whether the client wants an error for unknown fields: `Prefer: handling=strict` (RFC 7240).
fn wants_strictness(headers: &HeaderMap) -> bool {
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
    fn strictness_is_one_preference_among_others() {
        let check = |prefer: &str, expected: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(HeaderName::from_static("prefer"), HeaderValue::from_str(prefer).unwrap());
            assert_eq!(wants_strictness(&headers), expected, "{prefer}");
        };
        check("handling=strict", true);
        check("respond-async, Handling = \"strict\"; foo=bar", true);
        check("handling=lenient", false);
        check("handling", false);
        check("wait=10", false);
    }
}
