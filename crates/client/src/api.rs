//! The service that a client talks to.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::request::Builder;
use serde::Serialize;

use crate::call::{Call, Request};

/// The most bytes of a response, unless the client is given another limit.
const RESPONSE_MAX_BYTES: u64 = 256 << 20;
/// The prefix of each path.
const VERSION: &str = "/v1";

/// The API key of a provider.
#[derive(Clone)]
pub struct Credentials {
    /// `gk_…`
    pub api_key: String,
    /// `gs_…`
    pub api_secret: String,
}

/// A client of one service with the API key of one provider: `Client` or `AsyncClient`. Clones share their connections.
///
/// Each operation returns a [`Call`], which is sent with `send`, or a list, which is an iterator.
#[derive(Clone)]
pub struct Api<C> {
    pub(crate) connection: C,
    pub(crate) service: Service,
}

#[derive(Clone)]
pub(crate) struct Service {
    base: String,
    authorization: String,
    pub(crate) response_max_bytes: u64,
}

impl<C> Api<C> {
    pub(crate) fn over(connection: C, base: &str, credentials: &Credentials) -> Self {
        Self { connection, service: Service::new(base, credentials) }
    }

    /// Sets the limit in bytes on each response, which is held in memory; 256 MiB unless set. A response beyond the limit is
    /// an [`Error::TooLarge`](crate::Error::TooLarge).
    #[must_use]
    pub fn with_response_max_bytes(mut self, response_max_bytes: u64) -> Self {
        self.service.response_max_bytes = response_max_bytes;
        self
    }

    /// The address of the service without the version and without a slash at its end.
    pub fn base(&self) -> &str {
        &self.service.base
    }

    /// A GET of a path behind the version, such as `/companies`, for what no method of this type covers.
    pub fn get<T>(&self, path: impl Into<String>) -> Call<'_, C, T> {
        Call::new(self, Request::new("GET", path.into()))
    }

    /// A POST of a path behind the version, under an idempotency key.
    pub fn post<T>(&self, path: impl Into<String>, body: &impl Serialize) -> Call<'_, C, T> {
        Call::new(self, Request::new("POST", path.into()).with_body(body))
    }

    /// A PUT of a path behind the version.
    pub fn put<T>(&self, path: impl Into<String>, body: &impl Serialize) -> Call<'_, C, T> {
        Call::new(self, Request::new("PUT", path.into()).with_body(body))
    }

    /// A DELETE of a path behind the version.
    pub fn delete(&self, path: impl Into<String>) -> Call<'_, C, ()> {
        Call::new(self, Request::new("DELETE", path.into()))
    }
}

impl Service {
    fn new(base: &str, Credentials { api_key, api_secret }: &Credentials) -> Self {
        let base = base.trim_end_matches('/');
        let base = base.strip_suffix(VERSION).unwrap_or(base).trim_end_matches('/').to_owned();
        let authorization = format!("Basic {}", STANDARD.encode(format!("{api_key}:{api_secret}")));
        Self { base, authorization, response_max_bytes: RESPONSE_MAX_BYTES }
    }

    /// The head of an HTTP request.
    pub(crate) fn head(&self, request: &Request) -> Builder {
        let mut head = http::Request::builder()
            .method(request.method)
            .uri(format!("{}{VERSION}{}", self.base, request.path))
            .header("Authorization", &self.authorization);
        if request.body.is_some() {
            head = head.header("Content-Type", "application/json");
        }
        if let Some(key) = &request.idempotency_key {
            head = head.header("Idempotency-Key", key);
        }
        head
    }
}
