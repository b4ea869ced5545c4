//! What can go wrong with a request.

use std::io::ErrorKind;

/// Why there is no answer to go on with. Each line says all of it: there is no source to be printed behind it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The service refused, for good or for longer than the client waited (behaviour 5).
    #[error("{status}: {message} (request {request_id})")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The reason, for people.
        message: String,
        /// By which the operator finds the request.
        request_id: String,
    },
    /// Nothing came back, however often it was asked.
    #[error("no answer: {0}")]
    Unreachable(Box<ureq::Error>),
    /// Somebody answered whose certificate nobody vouches for, or another than is trusted.
    #[error("the certificate is not trusted: {0}")]
    Untrusted(rustls::Error),
    /// An answer came that is none of this API's.
    #[error("an answer that cannot be read: {0}")]
    Unreadable(serde_json::Error),
    /// A response has more bytes than the client takes.
    #[error("the response is larger than {0} bytes")]
    TooLarge(u64),
    /// The certificates to be trusted are none.
    #[error("the certificate cannot be read: {0}")]
    Certificate(String),
    /// The system has no randomness to give.
    #[error("the system has no randomness")]
    Randomness,
}

impl From<ureq::Error> for Error {
    fn from(error: ureq::Error) -> Self {
        match (untrusted(&error), error) {
            (Some(cause), _) => Self::Untrusted(cause),
            (None, ureq::Error::BodyExceedsLimit(limit)) => Self::TooLarge(limit),
            (None, error) => Self::Unreachable(Box::new(error)),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// Whether the next attempt would fail as this one did.
pub(crate) fn is_lasting(error: &ureq::Error) -> bool {
    matches!(
        error,
        ureq::Error::Rustls(_)
            | ureq::Error::BadUri(_)
            | ureq::Error::Http(_)
            | ureq::Error::Tls(_)
            | ureq::Error::BodyExceedsLimit(_)
    ) || matches!(error, ureq::Error::Io(cause) if cause.kind() == ErrorKind::InvalidData)
}

/// What is wrong with a certificate; ureq passes on what TLS says as what the connection said.
fn untrusted(error: &ureq::Error) -> Option<rustls::Error> {
    let ureq::Error::Io(cause) = error else { return None };
    let cause = cause.get_ref()?.downcast_ref::<rustls::Error>()?;
    matches!(cause, rustls::Error::InvalidCertificate(_)).then(|| cause.clone())
}
