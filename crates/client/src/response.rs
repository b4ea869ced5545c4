//! Responses, independent of the HTTP library.

use std::time::Duration;

use http::HeaderMap;
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;

/// The maximum number of characters of an unexpected response body that an error contains.
const EXCERPT_CHARACTERS_MAX: usize = 1_000;

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) retry_after: Duration,
    request_id: String,
    location: String,
    pub(crate) body: String,
}

impl Response {
    /// Creates a response. Bytes of the body that are not UTF-8, such as those of a proxy's page, are replaced.
    pub(crate) fn new(status: u16, headers: &HeaderMap, body: Vec<u8>) -> Self {
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        Self {
            status,
            retry_after: Duration::from_secs(header("retry-after").parse().unwrap_or_default()),
            request_id: header("x-request-id").to_owned(),
            location: header("location").to_owned(),
            body: String::from_utf8(body)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        }
    }

    /// The code of an error of the service (behaviour 5.7); `None` if a proxy responded.
    pub(crate) fn error_code(&self) -> Option<String> {
        Some(serde_json::from_str::<Value>(&self.body).ok()?.get("code")?.as_str()?.to_owned())
    }

    /// The error for a response whose status is not a success.
    pub(crate) fn into_refusal(self) -> Error {
        let code = self.error_code();
        let body = serde_json::from_str::<Value>(&self.body).ok();
        let message = body
            .as_ref()
            .and_then(|body| body.pointer("/detail").or_else(|| body.pointer("/error/message"))?.as_str());
        let errors = body.as_ref().and_then(|body| Vec::deserialize(body.get("errors")?).ok());
        let message = match message {
            Some(message) => message.to_owned(),
            // Redirects are not followed, because the credentials are only for this address. The service itself sends
            // no redirects.
            None if !self.location.is_empty() => {
                format!("redirected to {}, which is not followed", self.location)
            }
            None => self.body.chars().take(EXCERPT_CHARACTERS_MAX).collect(),
        };
        Error::Refused {
            status: self.status,
            code,
            message,
            errors: errors.unwrap_or_default(),
            request_id: self.request_id,
        }
    }
}

/// Parses the body of a successful response. An empty body is parsed as `()`.
pub(crate) fn read_body<T: DeserializeOwned>(body: &str) -> Result<T, Error> {
    serde_json::from_str(if body.is_empty() { "null" } else { body }).map_err(Error::Unreadable)
}
