//! What can go wrong with a request.

/// Why there is no answer to go on with.
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
    Unreachable(#[source] Box<ureq::Error>),
    /// An answer came that is none of this API's.
    #[error("an answer that cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// The certificate to be trusted is none.
    #[error("the certificate cannot be read: {0}")]
    Certificate(String),
    /// The system has no randomness to give.
    #[error("the system has no randomness")]
    Randomness,
}

impl From<ureq::Error> for Error {
    fn from(error: ureq::Error) -> Self {
        Self::Unreachable(Box::new(error))
    }
}
