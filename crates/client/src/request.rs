//! Requests, independent of the HTTP library.

use std::fmt::Display;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use crate::error::Error;

/// The characters to encode: all except the unreserved characters of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    /// The path after the version, with the query.
    pub(crate) path: String,
    pub(crate) body: Option<String>,
    pub(crate) idempotency_key: Option<String>,
    /// Whether the request changes something that a retry could change again. Such a request needs a key.
    pub(crate) needs_key: bool,
}

impl Request {
    pub(crate) fn new(method: &'static str, path: String) -> Self {
        Self { method, path, body: None, idempotency_key: None, needs_key: method == "POST" }
    }

    pub(crate) fn with_body(self, body: &impl Serialize) -> Result<Self, Error> {
        Ok(Self { body: Some(serde_json::to_string(body).map_err(Error::Unserializable)?), ..self })
    }

    /// Returns the error for a request that may have taken effect: [`Error::OutcomeUnknown`] if it needs a key. Other
    /// requests can be repeated without one, so their error is returned unchanged.
    pub(crate) fn with_unknown_outcome(&self, last_error: Error) -> Error {
        match &self.idempotency_key {
            Some(key) if self.needs_key => {
                Error::OutcomeUnknown { idempotency_key: key.clone(), last_error: Box::new(last_error) }
            }
            _ => last_error,
        }
    }
}

/// Encodes a value for a segment of a path or for a query.
pub(crate) fn percent_encode(value: &str) -> impl Display {
    utf8_percent_encode(value, ENCODED)
}

/// Appends a parameter to the query of a path.
pub(crate) fn append_parameter(path: &mut String, name: &str, value: &str) {
    let separator = if path.contains('?') { '&' } else { '?' };
    path.push_str(&format!("{separator}{name}={}", percent_encode(value)));
}
