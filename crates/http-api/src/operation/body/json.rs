//! JSON, strictly: one object, no key twice at any level, nothing after it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Value};

use crate::operation::error::ApiError;

/// Reads a body. Depth is bounded by the parser; numbers that no double holds are refused with it.
pub(super) fn object(body: &[u8]) -> Result<Map<String, Value>, ApiError> {
    match serde_json::from_slice::<Strict>(body) {
        Ok(Strict(Value::Object(fields))) => Ok(fields),
        Ok(_) => Err(ApiError::bad_request("the body must be a JSON object")),
        // The visitor takes every kind of value; the one thing that it refuses itself is a repeated key.
        Err(error) if error.classify() == Category::Data => {
            let (line, column) = (error.line(), error.column());
            Err(ApiError::bad_request(format!(
                "the body must not name a field twice: line {line}, column {column}"
            )))
        }
        Err(_) if body.trim_ascii().is_empty() => {
            Err(ApiError::bad_request("the body is empty and must be a JSON object"))
        }
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            Err(ApiError::bad_request(format!(
                "the body must be valid JSON in UTF-8, nested at most 127 deep: line {line}, column {column}"
            )))
        }
    }
}

/// A JSON value in which no object names a key twice.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, it: bool) -> Result<Value, E> {
        Ok(Value::Bool(it))
    }

    fn visit_i64<E: Error>(self, it: i64) -> Result<Value, E> {
        Ok(Value::from(it))
    }

    fn visit_u64<E: Error>(self, it: u64) -> Result<Value, E> {
        Ok(Value::from(it))
    }

    fn visit_f64<E: Error>(self, it: f64) -> Result<Value, E> {
        Ok(Value::from(it))
    }

    fn visit_str<E: Error>(self, it: &str) -> Result<Value, E> {
        Ok(Value::from(it))
    }

    fn visit_string<E: Error>(self, it: String) -> Result<Value, E> {
        Ok(Value::String(it))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if fields.contains_key(&name) {
                return Err(A::Error::custom("a key occurs twice"));
            }
            let Strict(value) = entries.next_value()?;
            fields.insert(name, value);
        }
        Ok(Value::Object(fields))
    }
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
        let read = object(body);
        let told =
            |refusal: &ApiError| refusal.told().1.split(": line").next().unwrap_or_default().to_owned();
        let read = read.as_ref().map(Map::len).map_err(told);
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
        let told = |body: &str| object(body.as_bytes()).unwrap_err().told().1.to_owned();
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
}
