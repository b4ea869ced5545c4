//! A last name that may be empty.

use guerdon_domain::values::{InvalidValue, Line};
use schemars::{Schema, json_schema};

use super::{Form, FromText};

/// An owner who is named by a single word has none.
pub struct LastName(pub Option<Line>);

impl Form for LastName {
    fn form() -> Schema {
        json_schema!({"type": "string", "maxLength": Line::CHARS_MAX})
    }
}

impl FromText for LastName {
    type Fault = InvalidValue;
    const EXPECTED: &'static str = Line::EXPECTED;

    fn from_text(text: &str) -> Result<Self, InvalidValue> {
        if text.is_empty() { Ok(Self(None)) } else { Line::parse(text).map(|line| Self(Some(line))) }
    }
}
