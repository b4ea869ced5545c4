//! The mailer's reports on attempts.

/// Receives the outcome of each attempt, for metrics.
pub trait Observer: Send + Sync {
    /// A mail was sent.
    fn sent(&self) {}

    /// An attempt failed; the mail will be tried again.
    fn failed(&self) {}

    /// An attempt failed, and the mail is not tried again.
    fn given_up(&self) {}
}

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {}
