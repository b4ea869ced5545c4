//! One operation with its arguments, before it is sent.

use std::fmt::Display;
use std::marker::PhantomData;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use crate::api::Api;
use crate::error::Error;
use crate::retries::random_uuid;

/// What RFC 3986 leaves unencoded in each part of a URL.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// An operation that is ready to be sent. Its response is a `T`.
#[must_use = "nothing happens until it is sent"]
pub struct Call<'a, C, T> {
    pub(crate) api: &'a Api<C>,
    request: Result<Request, Error>,
    response: PhantomData<fn() -> T>,
}

impl<'a, C, T> Call<'a, C, T> {
    pub(crate) fn new(api: &'a Api<C>, request: impl Into<Result<Request, Error>>) -> Self {
        Self { api, request: request.into(), response: PhantomData }
    }

    /// Sets the idempotency key of a POST (behaviour 19). Keep the key, and the call can be repeated even after a crash
    /// without happening twice. Without this, the client makes a key, which covers its own retries.
    pub fn with_idempotency_key(mut self, key: impl Into<String>) -> Self {
        if let Ok(request) = &mut self.request {
            request.idempotency_key = Some(key.into());
        }
        self
    }

    /// The request with its idempotency key.
    pub(crate) fn into_request(self) -> Result<Request, Error> {
        let mut request = self.request?;
        if request.method == "POST" && request.idempotency_key.is_none() {
            request.idempotency_key = Some(random_uuid().ok_or(Error::Randomness)?.to_string());
        }
        Ok(request)
    }
}

/// What is sent, whatever sends it.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    /// Behind the version, with the query.
    pub(crate) path: String,
    pub(crate) body: Option<String>,
    pub(crate) idempotency_key: Option<String>,
}

impl Request {
    pub(crate) fn new(method: &'static str, path: String) -> Self {
        Self { method, path, body: None, idempotency_key: None }
    }

    pub(crate) fn with_body(self, body: &impl Serialize) -> Result<Self, Error> {
        Ok(Self { body: Some(serde_json::to_string(body)?), ..self })
    }
}

impl From<Request> for Result<Request, Error> {
    fn from(request: Request) -> Self {
        Ok(request)
    }
}

/// Encodes a value as a part of a path or of a query.
pub(crate) fn encode(value: &str) -> impl Display {
    utf8_percent_encode(value, ENCODED)
}

/// Appends a parameter to the query of a path.
pub(crate) fn append_parameter(path: &mut String, name: &str, value: &str) {
    let separator = if path.contains('?') { '&' } else { '?' };
    path.push_str(&format!("{separator}{name}={}", encode(value)));
}
