//! The mailer's reports on attempts.

/// Receives the outcome of each attempt, for metrics.
pub trait MailerObserver: Send + Sync {
    /// An email was sent.
    fn mail_sent(&self) {}

    /// An attempt failed; the email will be retried.
    fn attempt_failed(&self) {}

    /// An attempt failed, and the email was given up.
    fn mail_given_up(&self) {}
}

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy)]
pub struct NoObserver;

impl MailerObserver for NoObserver {}
