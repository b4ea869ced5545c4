//! Why an email was not sent, and what the mailer does about it.

/// Why an email was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SendFailure {
    kind: FailureKind,
    message: String,
}

/// What a failure concerns, which decides when the mailer tries again (see the table in the crate's documentation).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// No email can be sent for now.
    Server,
    /// This email cannot be sent for now.
    Mail,
    /// There was no valid response once sending of the text had begun: the server may have accepted the email.
    Unconfirmed,
    /// The server refuses this email.
    Refused,
    /// This email can never be sent.
    Unsendable,
}

impl SendFailure {
    /// No email can be sent for now. `message` is logged, so it must not contain a recipient or the text of an email.
    pub fn server(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Server, message: message.into() }
    }

    /// This email cannot be sent for now. For `message`, see [`SendFailure::server`].
    pub fn mail(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Mail, message: message.into() }
    }

    /// The server did not confirm the text of the email. For `message`, see [`SendFailure::server`].
    pub fn unconfirmed(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Unconfirmed, message: message.into() }
    }

    /// The server refuses this email. For `message`, see [`SendFailure::server`].
    pub fn refused(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Refused, message: message.into() }
    }

    /// This email can never be sent. For `message`, see [`SendFailure::server`].
    pub fn unsendable(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Unsendable, message: message.into() }
    }

    /// What the failure concerns.
    pub fn kind(&self) -> FailureKind {
        self.kind
    }
}
