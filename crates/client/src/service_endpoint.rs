//! The service that a client talks to, and the client's credentials.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use http::request::Builder;
use http::uri::Scheme;

use crate::error::Error;
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

    /// Fails if the credentials would leave this machine unencrypted.
    pub(crate) fn require_encryption(&self) -> Result<(), Error> {
        match self.base_url.parse::<Uri>() {
            Ok(uri) if uri.scheme() == Some(&Scheme::HTTP) && !is_loopback(uri.host()) => {
                Err(Error::Unencrypted)
            }
            _ => Ok(()), // an invalid address fails when it is used
        }
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

fn is_loopback(host: Option<&str>) -> bool {
    let host = host.unwrap_or_default().trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_sent_unencrypted_only_to_this_machine() {
        let is_accepted = |base: &str| {
            let credentials = Credentials { api_key: "gk".to_owned(), api_secret: "gs".to_owned() };
            ServiceEndpoint::new(base, &credentials).require_encryption().is_ok()
        };
        for base in
            ["https://guerdon.example", "http://localhost:1", "http://127.0.0.2:1/v1", "http://[::1]:1"]
        {
            assert!(is_accepted(base), "{base}");
        }
        for base in
            ["http://guerdon.example", "HTTP://guerdon.example:8443", "http://10.0.0.1", "http://[fd00::1]"]
        {
            assert!(!is_accepted(base), "{base}");
        }
    }
}
