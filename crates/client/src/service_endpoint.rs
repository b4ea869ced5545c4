//! The service that a client talks to, and the client's credentials.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::request::Builder;

use crate::request::Request;

/// The default of the maximum size of a response.
const RESPONSE_BYTES_MAX: u64 = 256 << 20;
/// The version of the API, which is the prefix of each path.
const VERSION: &str = "/v1";
/// Errors are problem details (RFC 9457), which have a code.
const ACCEPT: &str = "application/json, application/problem+json";

/// The API key of a provider.
#[derive(Clone)]
pub struct Credentials {
    /// `gk_…`
    pub api_key: String,
    /// `gs_…`
    pub api_secret: String,
}

/// The parts that all requests to the service share.
#[derive(Clone)]
pub(crate) struct ServiceEndpoint {
    base_url: String,
    authorization: String,
    pub(crate) response_max_bytes: u64,
}

impl ServiceEndpoint {
    pub(crate) fn new(base: &str, Credentials { api_key, api_secret }: &Credentials) -> Self {
        let base = base.trim_end_matches('/');
        let base = base.strip_suffix(VERSION).unwrap_or(base).trim_end_matches('/').to_owned();
        let authorization = format!("Basic {}", STANDARD.encode(format!("{api_key}:{api_secret}")));
        Self { base_url: base, authorization, response_max_bytes: RESPONSE_BYTES_MAX }
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The head of an HTTP request.
    pub(crate) fn request_builder(&self, request: &Request) -> Builder {
        let mut head = http::Request::builder()
            .method(request.method)
            .uri(format!("{}{VERSION}{}", self.base_url, request.path))
            .header("Authorization", &self.authorization)
            .header("Accept", ACCEPT);
        if request.body.is_some() {
            head = head.header("Content-Type", "application/json");
        }
        if let Some(key) = &request.idempotency_key {
            head = head.header("Idempotency-Key", key);
        }
        head
    }
}
