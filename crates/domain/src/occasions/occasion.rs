//! The occasion.

use crate::ports::Timestamp;
use crate::values::{CompanyId, Line, Message, OccasionId};

/// What an occasion says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccasionText {
    /// Its name.
    pub name: Line,
    /// The title of its mails.
    pub title: Line,
    /// The message of recognitions that give none.
    pub default_message: Message,
}

/// An occasion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occasion {
    /// Its id.
    pub id: OccasionId,
    /// Its company; none for a global one.
    pub company_id: Option<CompanyId>,
    /// What it says.
    pub text: OccasionText,
    /// Whether it may be used.
    pub enabled: bool,
    /// Whether it can be managed and selected.
    pub visible: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Occasion {
    /// Whether every provider can use it.
    pub fn is_global(&self) -> bool {
        self.company_id.is_none()
    }
}
