//! Errors of requests.

use std::error::Error as StdError;
use std::io;

/// Why an operation failed. The text of each error is complete: no error has a source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The service refused the request, or kept refusing it until the last retry (behaviour 5).
    #[error("{status}: {message} (request {request_id})")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The reason, for people.
        message: String,
        /// The id by which the service's operator finds the request in the log.
        request_id: String,
    },
    /// No attempt got a response.
    #[error("no response: {0}")]
    Unreachable(String),
    /// The service's certificate is not trusted.
    #[error("the certificate is not trusted: {0}")]
    Untrusted(String),
    /// The response is not one of this API.
    #[error("the response cannot be read: {0}")]
    Unreadable(serde_json::Error),
    /// The response exceeds the client's limit in bytes.
    #[error("the response is larger than {0} bytes")]
    TooLarge(u64),
    /// The certificates to trust cannot be read.
    #[error("the certificate cannot be read: {0}")]
    Certificate(String),
    /// The operating system returned no random bytes.
    #[error("the operating system returned no random bytes")]
    Randomness,
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// Finds the TLS error behind an error of a connection.
pub(crate) fn tls_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
    if let Some(found) = error.downcast_ref() {
        return Some(found);
    }
    // The source of an I/O error is the source of the error within it, not that error.
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => tls_error(wrapped),
        None => tls_error(error.source()?),
    }
}

/// The error of a connection whose service has a certificate that is not trusted.
pub(crate) fn untrusted_certificate(error: &rustls::Error) -> Option<Error> {
    matches!(error, rustls::Error::InvalidCertificate(_)).then(|| Error::Untrusted(error.to_string()))
}
