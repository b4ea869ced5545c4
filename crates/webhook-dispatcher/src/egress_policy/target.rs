//! Checks a callback URL and converts it to a request URI.

use guerdon_domain::values::WebUrl;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use ureq::http::Uri;
use url::{Host, Url};

use super::{EgressPolicy, is_public};

/// The ASCII characters that a path and query cannot contain. Existing percent signs are not encoded again.
const INVALID_IN_PATH: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`').add(b'{').add(b'}').add(b'|').add(b'^');

/// Why a callback URL is refused. Each message is a sentence for the operator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallbackUrlError {
    /// The URL is not an absolute http or https URL, or has user info or invalid characters.
    #[error("callback_url {0}")]
    NotAWebUrl(String),
    /// The URL has a fragment, which is never sent.
    #[error("callback_url must have no fragment")]
    Fragment,
    /// The URL is plain http, which is not allowed.
    #[error("callback_url must be https (webhooks.allow_http allows plain http)")]
    PlainHttp,
    /// The host is an address that is not public, or a name of this machine.
    #[error("callback_url must be a public address (webhooks.allow_private_networks allows others)")]
    NotPublic,
}

/// Checks a callback URL and returns its URI for ureq. Path and query are as registered, neither normalised nor
/// decoded. The signature covers the registered string.
pub(crate) fn parse_target(text: &str, policy: EgressPolicy) -> Result<Uri, CallbackUrlError> {
    WebUrl::parse(text).map_err(|cause| CallbackUrlError::NotAWebUrl(cause.to_string()))?;
    let url = Url::parse(text).map_err(|cause| CallbackUrlError::NotAWebUrl(cause.to_string()))?;
    if url.fragment().is_some() {
        return Err(CallbackUrlError::Fragment);
    }
    if url.scheme() != "https" && !policy.allow_http {
        return Err(CallbackUrlError::PlainHttp);
    }
    let is_public_host = match url.host() {
        Some(Host::Ipv4(address)) => is_public(address.into()),
        Some(Host::Ipv6(address)) => is_public(address.into()),
        Some(Host::Domain(name)) => !is_local_name(name),
        None => false,
    };
    if !is_public_host && !policy.allow_private_networks {
        return Err(CallbackUrlError::NotPublic);
    }
    request_uri(text, &url)
        .ok_or_else(|| CallbackUrlError::NotAWebUrl("cannot be sent in an HTTP request".to_owned()))
}

fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

/// Returns the registered URL as a URI. Only parts that a request cannot contain are rewritten: international host
/// names become ASCII, invalid characters of the path are percent-encoded, and an empty path becomes `/`.
fn request_uri(text: &str, url: &Url) -> Option<Uri> {
    let (_, rest) = text.split_once("://")?;
    let (authority, path_and_query) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let slash = if path_and_query.starts_with('/') { "" } else { "/" };
    Uri::builder()
        .scheme(url.scheme())
        .authority(request_authority(authority, url)?)
        .path_and_query(format!("{slash}{}", utf8_percent_encode(path_and_query, INVALID_IN_PATH)))
        .build()
        .ok()
}

/// Returns the registered authority, or its canonical form if the host is not registered in canonical form.
fn request_authority(registered: &str, url: &Url) -> Option<String> {
    let host = url.host_str()?;
    let lower = registered.to_ascii_lowercase();
    let is_plain = lower.strip_prefix(host).is_some_and(|port| {
        port.is_empty()
            || port
                .strip_prefix(':')
                .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
    });
    Some(match url.port() {
        _ if is_plain => registered.to_owned(),
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

#[cfg(test)]
mod tests;
