//! Reads a request body as one JSON object, without building values that no operation reads.
//!
//! Operations read scalar fields only. An array or an object is therefore checked while it is parsed (syntax, repeated
//! keys, U+0000) and then reduced to [`Field::Composite`], so that a body of many small objects takes no more memory
//! than its top-level keys. Names and strings without escapes borrow from the body.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use super::InvalidBody;

/// The fields of a JSON object by name.
pub type FieldMap<'a> = HashMap<Cow<'a, str>, Field<'a>>;

/// The value of one field.
#[derive(Debug, Clone, PartialEq)]
pub enum Field<'a> {
    Null,
    Flag(bool),
    Integer(i64),
    /// A number outside the range of `i64`. Doubles of this size are integers, even if they are written with a
    /// fraction.
    HugeNumber {
        is_negative: bool,
    },
    /// Any other number.
    Fraction,
    Text(Cow<'a, str>),
    /// An array or an object.
    Composite {
        /// Whether a string or a key in it contains U+0000.
        has_nul: bool,
    },
}

impl Field<'_> {
    /// Whether the value contains U+0000 at any level.
    pub fn has_nul(&self) -> bool {
        match self {
            Self::Text(text) => text.contains('\0'),
            Self::Composite { has_nul } => *has_nul,
            Self::Null | Self::Flag(_) | Self::Integer(_) | Self::HugeNumber { .. } | Self::Fraction => false,
        }
    }
}

/// Parses a body, which must be exactly one JSON object without repeated keys at any level. The parser limits the depth
/// and rejects numbers that exceed the range of a double.
pub fn parse_object(body: &[u8]) -> Result<FieldMap<'_>, InvalidBody> {
    if body.trim_ascii_start().starts_with(b"{") {
        let mut deserializer = serde_json::Deserializer::from_slice(body);
        let parsed = deserializer.deserialize_map(ObjectVisitor);
        let parsed = parsed.and_then(|fields| deserializer.end().map(|()| fields));
        return parsed.map_err(|error| parse_error(body, &error));
    }
    serde_json::from_slice::<Field<'_>>(body).map_err(|error| parse_error(body, &error))?;
    Err(InvalidBody::new("the body must be a JSON object"))
}

fn parse_error(body: &[u8], error: &serde_json::Error) -> InvalidBody {
    if body.trim_ascii().is_empty() {
        return InvalidBody::new("the body is empty and must be a JSON object");
    }
    let (line, column) = (error.line(), error.column());
    // The visitors accept every kind of value, so the only `Data` error is that of a repeated key.
    let fault = match error.classify() {
        Category::Data => "must not contain a field twice: ".to_owned(),
        Category::Io | Category::Syntax | Category::Eof => {
            let reason = syntax_reason(error);
            format!("must be valid JSON in UTF-8, nested at most 127 levels deep: {reason} at ")
        }
    };
    InvalidBody::new(format!("the body {fault}line {line}, column {column}"))
}

/// Returns the reason for a syntax error. The parser has a constant text for each kind of error, so the reason contains
/// no part of the body. Its shortest texts are replaced by clearer ones.
fn syntax_reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&position).unwrap_or(&text) {
        "recursion limit exceeded" => "too many nested arrays and objects".to_owned(),
        "expected ident" => "expected `true`, `false` or `null`".to_owned(),
        "expected value" => {
            "expected a value: a string in double quotes, a number, `true`, `false`, `null`, an array or an object"
                .to_owned()
        }
        "key must be a string" => "the name of a field must be a string in double quotes".to_owned(),
        "invalid unicode code point" => "invalid UTF-8 or Unicode escape".to_owned(),
        reason => reason.replacen("EOF while parsing", "the body ends within", 1),
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = FieldMap<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<FieldMap<'de>, A::Error> {
        let mut fields = FieldMap::new();
        while let Some(FieldName(name)) = entries.next_key()? {
            if fields.contains_key(&name) {
                return Err(repeated_key());
            }
            let field = entries.next_value()?;
            fields.insert(name, field);
        }
        Ok(fields)
    }
}

impl<'de> Deserialize<'de> for Field<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FieldVisitor)
    }
}

struct FieldVisitor;

impl<'de> Visitor<'de> for FieldVisitor {
    type Value = Field<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Field<'de>, E> {
        Ok(Field::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Field<'de>, E> {
        Ok(Field::Flag(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Field<'de>, E> {
        Ok(Field::Integer(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Field<'de>, E> {
        Ok(i64::try_from(number).map_or(Field::HugeNumber { is_negative: false }, Field::Integer))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Field<'de>, E> {
        let is_huge = number.abs() >= 9_223_372_036_854_775_808.0;
        let is_negative = number < 0.0;
        Ok(if is_huge { Field::HugeNumber { is_negative } } else { Field::Fraction })
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Field<'de>, E> {
        Ok(Field::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Field<'de>, E> {
        Ok(Field::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Field<'de>, A::Error> {
        let mut has_nul = false;
        while let Some(item) = items.next_element::<Field<'de>>()? {
            has_nul |= item.has_nul();
        }
        Ok(Field::Composite { has_nul })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Field<'de>, A::Error> {
        // The first key is kept separately, so that objects with a single key allocate nothing.
        let (mut first, mut others, mut has_nul) = (None, HashSet::new(), false);
        while let Some(FieldName(name)) = entries.next_key()? {
            has_nul |= name.contains('\0');
            if first.as_ref() == Some(&name) || others.contains(&name) {
                return Err(repeated_key());
            }
            if first.is_none() {
                first = Some(name);
            } else {
                others.insert(name);
            }
            has_nul |= entries.next_value::<Field<'de>>()?.has_nul();
        }
        Ok(Field::Composite { has_nul })
    }
}

/// A key of an object, borrowed if it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);

fn repeated_key<E: Error>() -> E {
    E::custom("duplicate key")
}

#[cfg(test)]
mod tests;
