//! The type of a sender in requests and responses.

use schemars::{Schema, json_schema};

use super::{FromText, ValueSchema};

/// The type of object that `sender_id` identifies.
pub enum SenderType {
    User,
    Company,
}

impl ValueSchema for SenderType {
    fn value_schema() -> Schema {
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
