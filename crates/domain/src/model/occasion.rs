//! The occasion.

use crate::values::{CompanyId, InvalidValue, Line, Message, OccasionId, Timestamp};

/// What an occasion says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccasionText {
    pub name: Line,
    /// The title of its mails.
    pub title: Line,
    /// The message of recognitions that give none.
    pub default_message: Message,
}

impl OccasionText {
    /// Reads a default message: it stands in where a recognition gives none, so it must say something.
    pub fn default_message(text: &str) -> Result<Message, InvalidValue> {
        let must_be = "must be text of 1 to 10,000 characters, not blank, without control characters other than line \
                       breaks and tabs";
        Message::parse(text).ok().filter(|it| !it.is_blank()).ok_or(InvalidValue(must_be))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occasion {
    pub id: OccasionId,
    /// Its company; none for a global one.
    pub company_id: Option<CompanyId>,
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
