//! Mails. They are queued in the transaction that causes them.

use uuid::Uuid;

use super::{StoreError, Timestamp};
use crate::model::NewMail;

/// The state of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailState {
    /// The mail will be tried again.
    Waiting,
    /// The mail server accepted it.
    Sent,
    /// The final attempt failed. The mail is still stored.
    GivenUp,
}

/// A mail as an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMail {
    pub id: Uuid,
    pub recipient: String,
    pub subject: String,
    pub state: MailState,
    /// The number of attempts.
    pub attempts: u16,
    /// When it was created.
    pub created_at: Timestamp,
}

pub trait ReadMails {
    /// The mails in one state, or in any state, that were created at a time or later, newest first; at most
    /// `limit`.
    fn list_mails(
        &mut self,
        state: Option<MailState>,
        since: Option<Timestamp>,
        limit: i64,
    ) -> Result<Vec<StoredMail>, StoreError>;
}

/// The due time of a mail that an operator retries: before all others, and even while the mail server is
/// considered unavailable.
pub const RETRIED_MAIL_DUE: Timestamp = Timestamp::UNIX_EPOCH;

/// Retries mails.
pub trait MailRetries {
    /// Makes a mail that waits or was given up due at [`RETRIED_MAIL_DUE`]. Returns false if there is no such
    /// mail.
    fn retry_mail(&mut self, id: Uuid) -> Result<bool, StoreError>;
}

/// Queues mails.
pub trait MailOutbox {
    fn queue_mails(&mut self, mails: &[NewMail]) -> Result<(), StoreError>;
}
