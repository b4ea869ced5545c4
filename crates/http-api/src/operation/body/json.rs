//! Reads a request body as one JSON object, without building values that no operation reads.
//!
//! Operations read scalar fields only. An array or an object is therefore checked while it is parsed (syntax, repeated
//! keys, U+0000) and then reduced to [`Field::Composite`], so that a body of many small objects takes no more memory than
//! its top-level keys. Names and strings without escapes borrow from the body.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use crate::operation::error::ApiError;

/// The fields of a JSON object by name.
pub(super) type Fields<'a> = HashMap<Cow<'a, str>, Field<'a>>;

/// The value of one field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Field<'a> {
    Null,
    Flag(bool),
    Integer(i64),
    /// A number of at least 2^63 in magnitude, with or without a fraction: no double of that size has one.
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
    pub(super) fn has_nul(&self) -> bool {
        match self {
            Self::Text(text) => text.contains('\0'),
            Self::Composite { has_nul } => *has_nul,
            Self::Null | Self::Flag(_) | Self::Integer(_) | Self::HugeNumber { .. } | Self::Fraction => false,
        }
    }
}

/// Parses a body: exactly one JSON object, in which no object at any level repeats a key. The parser limits the depth
/// and rejects numbers that exceed a double.
pub(super) fn parse_object(body: &[u8]) -> Result<Fields<'_>, ApiError> {
    if body.trim_ascii_start().starts_with(b"{") {
        let Object(fields) = serde_json::from_slice(body).map_err(|error| rejected(body, &error))?;
        return Ok(fields);
    }
    serde_json::from_slice::<Field<'_>>(body).map_err(|error| rejected(body, &error))?;
    Err(ApiError::bad_request("the body must be a JSON object"))
}

fn rejected(body: &[u8], error: &serde_json::Error) -> ApiError {
    if body.trim_ascii().is_empty() {
        return ApiError::bad_request("the body is empty and must be a JSON object");
    }
    // The visitors accept every kind of value; the only error that they raise themselves is a repeated key.
    let must = match error.classify() {
        Category::Data => "must not name a field twice",
        Category::Io | Category::Syntax | Category::Eof => {
            "must be valid JSON in UTF-8, nested at most 127 deep"
        }
    };
    let (line, column) = (error.line(), error.column());
    ApiError::bad_request(format!("the body {must}: line {line}, column {column}"))
}

struct Object<'a>(Fields<'a>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor).map(Self)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Fields::new();
        while let Some(Key(name)) = entries.next_key()? {
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
        let (mut names, mut has_nul) = (HashSet::new(), false);
        while let Some(Key(name)) = entries.next_key()? {
            has_nul |= name.contains('\0');
            if !names.insert(name) {
                return Err(repeated_key());
            }
            has_nul |= entries.next_value::<Field<'de>>()?.has_nul();
        }
        Ok(Field::Composite { has_nul })
    }
}

/// A key of an object, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor).map(Self)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

fn repeated_key<E: Error>() -> E {
    E::custom("a key occurs twice")
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "the body is empty and must be a JSON object";
    const NOT_JSON: &str = "the body must be valid JSON in UTF-8, nested at most 127 deep";
    const NOT_AN_OBJECT: &str = "the body must be a JSON object";
    const TWICE: &str = "the body must not name a field twice";

    fn check(body: impl AsRef<[u8]>, expected: Result<usize, &str>) {
        let body = body.as_ref();
        let read = parse_object(body);
        let told =
            |refusal: &ApiError| refusal.told().1.split(": line").next().unwrap_or_default().to_owned();
        let read = read.as_ref().map(Fields::len).map_err(told);
        let expected = expected.map_err(str::to_owned);
        assert_eq!(read, expected, "{:?}", String::from_utf8_lossy(&body[..body.len().min(80)]));
    }

    #[test]
    fn a_body_is_one_object() {
        check("{}", Ok(0));
        check(" \r\n\t{\"a\": [1, {\"b\": null}], \"c\": \"d\"} \n", Ok(2));
        check(r#"{"a": "\ud83c\udf89", "\u0000": 1e2, "b": -0, "c": 18446744073709551616}"#, Ok(4));
        check("", Err(EMPTY));
        check(" \r\n ", Err(EMPTY));
        for other in ["[]", "1", "null", "\"{}\"", "true", "[{}]"] {
            check(other, Err(NOT_AN_OBJECT));
        }
    }

    #[test]
    fn where_it_went_wrong_is_told() {
        let told = |body: &str| parse_object(body.as_bytes()).unwrap_err().told().1.to_owned();
        assert!(told("{\n  \"a\": 1,\n  b\n}").ends_with(": line 3, column 3"));
        assert!(told("{\"a\": 1,\n \"a\": 2}").ends_with(": line 2, column 4"));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for broken in [
            "{",
            "{\"a\":1,}",
            "{a:1}",
            "{'a':1}",
            "{}{}",
            "{} x",
            "{}\0",
            "{\"a\":01}",
            "{\"a\":NaN}",
            "{\"a\":+1}",
            "{\"a\":\"\n\"}",
            r#"{"a":"\ud800"}"#,
            r#"{"a":"\udc00x"}"#,
            "// x\n{}",
            "\u{feff}{}",
        ] {
            check(broken, Err(NOT_JSON));
        }
        check(b"{\"a\":\"\xff\"}", Err(NOT_JSON));
        check(b"\xff\xfe{\0}\0", Err(NOT_JSON));
        check(format!("{{\"a\":1{}}}", "0".repeat(400)), Err(NOT_JSON));
    }

    #[test]
    fn a_key_is_named_once_at_every_level() {
        check(r#"{"a":1,"a":1}"#, Err(TWICE));
        check(r#"{"a":1,"\u0061":2}"#, Err(TWICE));
        check(r#"{"x":{"a":1,"a":1}}"#, Err(TWICE));
        check(r#"{"x":[[{"a":1,"b":2,"a":null}]]}"#, Err(TWICE));
        check(r#"{"a":{"a":{"a":1}}}"#, Ok(1));
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
        check(nested(127), Ok(1));
        check(nested(128), Err(NOT_JSON));
        check(nested(500_000), Err(NOT_JSON));
        check("[".repeat(1 << 20), Err(NOT_JSON));
    }

    #[test]
    fn a_hundred_thousand_keys_are_read() {
        let keys: Vec<String> = (0..100_000).map(|it| format!("\"{it}\":1")).collect();
        check(format!("{{{}}}", keys.join(",")), Ok(100_000));
    }

    #[test]
    fn arrays_and_objects_are_checked_and_not_built() {
        let check = |value: &str, has_nul: bool| {
            let body = format!("{{\"x\": {value}}}");
            let fields = parse_object(body.as_bytes()).unwrap();
            assert_eq!(fields.get("x"), Some(&Field::Composite { has_nul }), "{value}");
        };
        check("[]", false);
        check("{}", false);
        check(r#"[{"": 1}, {"": [true, null, 1.5, -1, "a"]}]"#, false);
        check(r#"[[["\u0000"]]]"#, true);
        check(r#"{"a": {"b\u0000": 1}}"#, true);
    }

    #[test]
    fn scalars_are_read_and_borrow_where_they_can() {
        let check = |value: &str, expected: Field<'_>| {
            let body = format!("{{\"x\": {value}}}");
            assert_eq!(parse_object(body.as_bytes()).unwrap().get("x"), Some(&expected), "{value}");
        };
        check("null", Field::Null);
        check("true", Field::Flag(true));
        check("-3", Field::Integer(-3));
        check("9223372036854775807", Field::Integer(i64::MAX));
        check("9223372036854775808", Field::HugeNumber { is_negative: false });
        check("-9223372036854775809", Field::HugeNumber { is_negative: true });
        check("-1e300", Field::HugeNumber { is_negative: true });
        check("1.0", Field::Fraction);
        check(r#""a\n""#, Field::Text("a\n".into()));
        let fields = parse_object(br#"{"x": "plain"}"#).unwrap();
        assert!(matches!(fields.get("x"), Some(Field::Text(Cow::Borrowed("plain")))));
    }
}
