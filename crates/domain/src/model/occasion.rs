//! Occasions.

use crate::values::{CompanyId, InvalidValue, Message, OccasionId, SingleLine, Timestamp};

/// The editable strings of an occasion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccasionText {
    pub name: SingleLine,
    /// The title of its emails.
    pub title: SingleLine,
    /// The default message of its recognitions.
    pub default_message: Message,
}

impl OccasionText {
    /// Parses a default message. It must not be blank, because it is used when a recognition has no message.
    pub fn default_message(text: &str) -> Result<Message, InvalidValue> {
        let must_be = "must be text of 1 to 10,000 characters, not blank, without control characters other than line \
                       breaks and tabs";
        Message::parse(text).ok().filter(|message| !message.is_blank()).ok_or(InvalidValue(must_be))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occasion {
    pub id: OccasionId,
    /// Its company; `None` for a global occasion.
    pub company_id: Option<CompanyId>,
    pub text: OccasionText,
    /// Whether it may be used.
    pub enabled: bool,
    /// Whether forms should show it. It can be used either way (behaviour 14.3).
    pub visible: bool,
    /// When it was created.
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
