//! Mails.

use uuid::Uuid;

use super::Notification;
use crate::values::{CompanyId, EmailAddress, Timestamp};

/// A mail to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMail {
    pub id: Uuid,
    /// Of which company it tells.
    pub company_id: CompanyId,
    pub recipient: EmailAddress,
    pub notification: Notification,
    /// When it was caused.
    pub created_at: Timestamp,
}
