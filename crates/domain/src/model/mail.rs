//! Mails.

use uuid::Uuid;

use super::Notification;
use crate::values::{CompanyId, EmailAddress, Timestamp};

/// A mail to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMail {
    pub id: Uuid,
    /// The company that it is about.
    pub company_id: CompanyId,
    pub recipient: EmailAddress,
    pub notification: Notification,
    /// When it was created.
    pub created_at: Timestamp,
}
