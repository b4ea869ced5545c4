//! A last name that may be empty.

use guerdon_domain::values::{InvalidValue, SingleLine};
use schemars::{Schema, json_schema};

use super::{FromText, ValueSchema};

/// A last name; `None` for an owner whose name is a single word.
pub struct LastName(pub Option<SingleLine>);

impl ValueSchema for LastName {
    fn value_schema() -> Schema {
        json_schema!({"type": "string", "maxLength": SingleLine::CHARS_MAX})
    }
}

impl FromText for LastName {
    type Fault = InvalidValue;
    const EXPECTED: &'static str = SingleLine::EXPECTED;

    fn from_text(text: &str) -> Result<Self, InvalidValue> {
        if text.is_empty() { Ok(Self(None)) } else { SingleLine::parse(text).map(|line| Self(Some(line))) }
    }
}
