//! Who sends, as requests and answers name it.

use schemars::{Schema, json_schema};

use super::{Form, FromText};

/// What `sender_id` names.
pub enum SenderType {
    User,
    Company,
}

impl Form for SenderType {
    fn form() -> Schema {
        json_schema!({"type": "string", "enum": ["user", "company"]})
    }
}

impl FromText for SenderType {
    type Fault = &'static str;
    const EXPECTED: &'static str = "a string: user or company";

    fn from_text(text: &str) -> Result<Self, &'static str> {
        match text {
            "user" => Ok(Self::User),
            "company" => Ok(Self::Company),
            _ => Err("must be user or company"),
        }
    }
}
