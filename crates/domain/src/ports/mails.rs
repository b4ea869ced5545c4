//! Mail, queued in the transaction of its cause.

use uuid::Uuid;

use super::{StoreError, Timestamp};
use crate::model::NewMail;

/// What has become of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailState {
    /// It is tried again.
    Waiting,
    /// The mail server took it.
    Sent,
    /// It failed for the last time, and is kept.
    GivenUp,
}

/// A mail as an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptMail {
    pub id: Uuid,
    pub recipient: String,
    pub subject: String,
    pub state: MailState,
    /// Attempts made.
    pub attempts: u16,
    /// When it was caused.
    pub created_at: Timestamp,
}

pub trait ReadMails {
    /// The mails of a state, or all, that were caused then or later, newest first; at most `limit`.
    fn mails(
        &mut self,
        state: Option<MailState>,
        since: Option<Timestamp>,
        limit: i64,
    ) -> Result<Vec<KeptMail>, StoreError>;
}

/// When a mail is due that an operator retries: before all others, and even while the mail server counts as away.
pub const RETRIED_MAIL_DUE: Timestamp = Timestamp::UNIX_EPOCH;

/// Sending mails again.
pub trait MailRetries {
    /// Makes a mail that was given up, or that waits, due at [`RETRIED_MAIL_DUE`]. Returns false if there is no such mail.
    fn retry_mail(&mut self, id: Uuid) -> Result<bool, StoreError>;
}

/// Queueing mail.
pub trait MailOutbox {
    fn queue_mails(&mut self, mails: &[NewMail]) -> Result<(), StoreError>;
}
