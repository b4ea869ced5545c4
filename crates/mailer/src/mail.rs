//! An email that is ready to be sent.

use guerdon_domain::ports::{ClaimedNotification, Timestamp};
use uuid::Uuid;

use crate::mail_text::MailText;

/// An email to one recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// The id of the notification.
    pub id: Uuid,
    /// The recipient: an address that was valid when the notification was queued.
    pub recipient: String,
    /// The subject, one line.
    pub subject: String,
    /// The body, plain text.
    pub body: String,
    /// The number of previous attempts.
    pub attempts: u16,
    /// When the notification was queued.
    pub created_at: Timestamp,
}

impl Mail {
    /// Renders a notification.
    pub fn from_notification(claimed: ClaimedNotification) -> Self {
        let MailText { subject, body } = MailText::from_notification(&claimed.notification);
        let ClaimedNotification { id, recipient, attempts, created_at, .. } = claimed;
        Self { id, recipient, subject, body, attempts, created_at }
    }
}
