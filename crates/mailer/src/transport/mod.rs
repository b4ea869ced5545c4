//! Ways to send.

mod folder;

use std::time::Duration;

use guerdon_domain::ports::ClaimedMail;

pub use folder::FolderTransport;

/// The longest that one mail may take; none is begun with less than this left of its lease.
pub(crate) const SENDING_MAX: Duration = Duration::from_secs(30);

/// A way to send mails.
pub trait Transport: Send {
    /// Sends one mail, in half a minute at most. An `Ok` is as durable as the other side's word.
    fn send(&mut self, mail: &ClaimedMail) -> Result<(), Failure>;

    /// Whether mails can be sent at all, as far as can be told without sending one.
    fn check(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// No more mail for now: what is open may be closed.
    fn rest(&mut self) {}
}

/// Why a mail was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct Failure {
    fault: Fault,
    cause: String,
}

/// Whose fault a failure is, and so what follows (see the crate's page).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No mail can be sent for now.
    Server,
    /// This mail cannot be sent for now.
    Mail,
    /// The server will not have this mail.
    Refused,
    /// Nobody could send this mail.
    Unsendable,
}

impl Failure {
    /// No mail can be sent for now. The cause goes to the log: it never tells a recipient or a text.
    pub fn server(cause: impl Into<String>) -> Self {
        Self { fault: Fault::Server, cause: cause.into() }
    }

    /// This mail cannot be sent for now.
    pub fn mail(cause: impl Into<String>) -> Self {
        Self { fault: Fault::Mail, cause: cause.into() }
    }

    /// The server will not have this mail.
    pub fn refused(cause: impl Into<String>) -> Self {
        Self { fault: Fault::Refused, cause: cause.into() }
    }

    /// Nobody could send this mail.
    pub fn unsendable(cause: impl Into<String>) -> Self {
        Self { fault: Fault::Unsendable, cause: cause.into() }
    }

    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        self.fault
    }
}
