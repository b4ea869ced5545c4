//! Errors of requests.

use std::error::Error as StdError;
use std::io;

use serde::Deserialize;

/// Why an operation failed. The message includes the cause, so `source` always returns `None`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The service refused the request. Transient refusals are returned only after the last retry (behaviour 5).
    #[error("{status}: {message} (request {request_id})")]
    #[non_exhaustive]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The code of the error, such as `insufficient_funds` (behaviour 5.7); `None` if a proxy responded.
        code: Option<String>,
        /// Human-readable explanation.
        message: String,
        /// The invalid fields of the path, the query or the body, in the order of the message (behaviour 5.6). Empty if
        /// the error concerns no field, or if a proxy responded.
        errors: Vec<FieldError>,
        /// The request's id, with which the service's operator can find the request in the log.
        request_id: String,
    },
    /// A POST may have taken effect: an attempt got no readable response or a server error, and no later response
    /// settled whether it was executed. Send the request again with the same key until it succeeds or is refused with
    /// status 404, or with status 400 and a code other than `idempotency_key_reused`; no other refusal settles the
    /// outcome.
    #[error(
        "the outcome is unknown ({last_error}); send the request again with the idempotency key {idempotency_key}"
    )]
    OutcomeUnknown {
        /// The key of all attempts, for [`Call::with_idempotency_key`](crate::Call::with_idempotency_key).
        idempotency_key: String,
        /// The error of the last attempt.
        last_error: Box<Error>,
    },
    /// The last attempt got no response.
    #[error("no response: {0}")]
    Unreachable(String),
    /// The service's address begins with `http` and is not on this machine. Nothing was sent, because the credentials
    /// would not be encrypted.
    #[error("the service's address must be https: the credentials would be sent unencrypted")]
    Unencrypted,
    /// The service's certificate is not trusted.
    #[error("the certificate is not trusted: {0}")]
    Untrusted(String),
    /// The body of the request cannot be serialized. Nothing was sent.
    #[error("the request cannot be serialized: {0}")]
    Unserializable(serde_json::Error),
    /// The body of the response cannot be parsed as a response of this API.
    #[error("the response cannot be read: {0}")]
    Unreadable(serde_json::Error),
    /// The response exceeds the client's limit in bytes.
    #[error("the response is larger than {0} bytes")]
    TooLarge(u64),
    /// The certificates to trust cannot be read.
    #[error("the certificate cannot be read: {0}")]
    Certificate(String),
    /// The TLS library cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    /// The operating system returned no random bytes.
    #[error("the operating system returned no random bytes")]
    Randomness,
}

/// An invalid field of the path, the query or the body.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct FieldError {
    /// The name of the field.
    pub field: String,
    /// The field's part of the message.
    pub message: String,
}

/// Finds the TLS error that caused a connection error.
pub(crate) fn tls_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
    if let Some(found) = error.downcast_ref() {
        return Some(found);
    }
    // `io::Error::source` skips the wrapped error and returns that error's source, so the wrapped error is read with
    // `get_ref`.
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => tls_error(wrapped),
        None => tls_error(error.source()?),
    }
}

/// Returns [`Error::Untrusted`] if the TLS error means that the service's certificate is not trusted.
pub(crate) fn untrusted_certificate(error: &rustls::Error) -> Option<Error> {
    matches!(error, rustls::Error::InvalidCertificate(_)).then(|| Error::Untrusted(error.to_string()))
}
