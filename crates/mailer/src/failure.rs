//! Why a mail was not sent, and what the mailer does about it.

/// Why a mail was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct Failure {
    fault: Fault,
    cause: String,
}

/// What a failure concerns, which decides when the mailer tries again (see the table in the crate's documentation).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No mail can be sent for now.
    Server,
    /// This mail cannot be sent for now.
    Mail,
    /// The server refuses this mail.
    Refused,
    /// This mail can never be sent.
    Unsendable,
}

impl Failure {
    /// No mail can be sent for now. The log shows the cause, so it must not contain a recipient or the text of a mail.
    pub fn server(cause: impl Into<String>) -> Self {
        Self { fault: Fault::Server, cause: cause.into() }
    }

    /// This mail cannot be sent for now. For `cause`, see [`Failure::server`].
    pub fn mail(cause: impl Into<String>) -> Self {
        Self { fault: Fault::Mail, cause: cause.into() }
    }

    /// The server refuses this mail. For `cause`, see [`Failure::server`].
    pub fn refused(cause: impl Into<String>) -> Self {
        Self { fault: Fault::Refused, cause: cause.into() }
    }

    /// This mail can never be sent. For `cause`, see [`Failure::server`].
    pub fn unsendable(cause: impl Into<String>) -> Self {
        Self { fault: Fault::Unsendable, cause: cause.into() }
    }

    /// What the failure concerns.
    pub fn fault(&self) -> Fault {
        self.fault
    }
}
