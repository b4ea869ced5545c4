//! The service that a client talks to, and who the client is.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::request::Builder;

use crate::request::Request;

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

/// What every request to the service has in common.
#[derive(Clone)]
pub(crate) struct Service {
    base: String,
    authorization: String,
    pub(crate) response_max_bytes: u64,
}

impl Service {
    pub(crate) fn new(base: &str, Credentials { api_key, api_secret }: &Credentials) -> Self {
        let base = base.trim_end_matches('/');
        let base = base.strip_suffix(VERSION).unwrap_or(base).trim_end_matches('/').to_owned();
        let authorization = format!("Basic {}", STANDARD.encode(format!("{api_key}:{api_secret}")));
        Self { base, authorization, response_max_bytes: RESPONSE_MAX_BYTES }
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
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
