//! Reads the fields of a body one by one and collects every fault. Fields that no reader asked for are unknown.

mod json;
mod updates;

use std::borrow::Cow;

use schemars::json_schema;

use self::json::Field;
use crate::form::{FromInteger, FromText};
use crate::parameter::{Parameter, Report};

const IGNORED_MAX: usize = 20;
const IGNORED_NAME_MAX: usize = 64;

/// Why a body was rejected: a sentence for the client that names the invalid fields and the rules that they break.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidBody(pub Cow<'static, str>);

impl InvalidBody {
    fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self(message.into())
    }
}

/// The fields of one body. A reader answers `None` for a fault, which [`Fields::unless_faulty`] then reports; an
/// optional reader answers `None` for an unset field too.
#[derive(Default)]
pub struct Fields<'a> {
    values: json::Fields<'a>,
    report: Report,
}

impl<'a> Fields<'a> {
    /// The parameters that a reader reads.
    pub fn parameters_of<T>(read: impl FnOnce(&mut Self) -> T) -> Vec<Parameter> {
        let mut fields = Self { report: Report::of_parameters(), ..Self::default() };
        read(&mut fields);
        fields.report.into_parameters()
    }

    /// Reads a body that must be a JSON object.
    pub fn parse(body: &'a [u8]) -> Result<Self, InvalidBody> {
        Ok(Self { values: json::parse_object(body)?, ..Self::default() })
    }

    /// A text that must be sent.
    pub fn required<T: FromText>(&mut self, name: &str) -> Option<T> {
        self.report.declare(|| Parameter::required(name, T::form()));
        match self.sent(name) {
            Some(Field::Text(text)) => self.report.parsed(name, T::from_text(&text)),
            Some(_) => self.expected(name, T::EXPECTED),
            None => self.report.reject(name, "is required"),
        }
    }

    /// A text that may be absent, null or empty, which are the same.
    pub fn optional<T: FromText>(&mut self, name: &str) -> Option<T> {
        self.report.declare(|| Parameter::nullable(name, T::form()));
        match self.sent(name) {
            Some(Field::Text(text)) if text.is_empty() => None,
            Some(Field::Text(text)) => self.report.parsed(name, T::from_text(&text)),
            Some(_) => self.expected(name, T::EXPECTED),
            None => None,
        }
    }

    /// An integer that must be sent, for a rule to judge. One beyond what `i64` holds is read as the largest or the
    /// least, so that the rule tells its range; it must never be stored.
    pub fn unjudged_integer(&mut self, name: &str) -> Option<i64> {
        self.report.declare(|| {
            Parameter::required(name, json_schema!({"type": "integer", "format": "int64", "minimum": 0}))
        });
        match self.sent(name) {
            Some(Field::Integer(integer)) => Some(integer),
            Some(Field::HugeNumber { is_negative: false }) => Some(i64::MAX),
            Some(Field::HugeNumber { is_negative: true }) => Some(i64::MIN),
            Some(_) => self.expected(name, "an integer"),
            None => self.report.reject(name, "is required"),
        }
    }

    /// An integer that must be sent.
    pub fn required_integer<T: FromInteger>(&mut self, name: &str) -> Option<T> {
        self.report.declare(|| Parameter::required(name, T::form()));
        match self.sent(name) {
            Some(value) => self.integer(name, &value),
            None => self.report.reject(name, "is required"),
        }
    }

    /// Reports a fault of several fields together, unless one of them has a fault already.
    pub fn fault<T>(&mut self, told: &str) -> Option<T> {
        if self.report.faults.is_empty() {
            self.report.faults.push(told.to_owned());
        }
        None
    }

    /// An integer that may be absent or null.
    pub fn optional_integer<T: FromInteger>(&mut self, name: &str) -> Option<T> {
        self.report.declare(|| Parameter::nullable(name, T::form()));
        let value = self.sent(name)?;
        self.integer(name, &value)
    }

    /// A boolean; absent and null mean the default.
    pub fn flag(&mut self, name: &str, default: bool) -> bool {
        self.report.declare(|| {
            let flag = Parameter::with_default(name, json_schema!({"type": "boolean"}), default);
            Parameter { may_be_null: true, ..flag }
        });
        match self.sent(name) {
            Some(Field::Flag(flag)) => flag,
            Some(_) => self.report.reject(name, "must be true or false").unwrap_or(default),
            None => default,
        }
    }

    /// The names of unknown fields for the header `X-Ignored-Fields`; `None` if there are none.
    pub fn ignored(&self) -> Option<String> {
        let is_plain = |name: &&str| {
            (1..=IGNORED_NAME_MAX).contains(&name.len())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        };
        let mut names: Vec<&str> = self.values.keys().map(AsRef::as_ref).filter(is_plain).collect();
        names.sort_unstable();
        names.truncate(IGNORED_MAX);
        if names.is_empty() { None } else { Some(names.join(", ")) }
    }

    /// Rejects unknown fields (behaviour 7.4).
    pub fn require_none_ignored(&self) -> Result<(), InvalidBody> {
        if self.values.is_empty() {
            return Ok(());
        }
        let named = self.ignored().map(|names| format!(": {names}")).unwrap_or_default();
        Err(InvalidBody::new(format!("the body holds fields that are unknown{named}")))
    }

    /// The value that a reader returned, or every fault.
    pub fn unless_faulty<T>(&self, read: Option<T>) -> Result<T, InvalidBody> {
        if self.report.faults.is_empty()
            && self.values.iter().any(|(name, value)| name.contains('\0') || value.has_nul())
        {
            return Err(InvalidBody::new("fields that are unknown must not hold U+0000 either"));
        }
        match read {
            Some(read) if self.report.faults.is_empty() => Ok(read),
            None if self.report.faults.is_empty() => Err(InvalidBody::new("the body is invalid")),
            _ => Err(InvalidBody::new(self.report.faults.join("; "))),
        }
    }

    /// Takes a field out of the body; `None` where it is absent or null.
    fn sent(&mut self, name: &str) -> Option<Field<'a>> {
        self.values.remove(name).filter(|value| *value != Field::Null)
    }

    fn integer<T: FromInteger>(&mut self, name: &str, value: &Field<'_>) -> Option<T> {
        let read = if let Field::Integer(integer) = value { T::from_integer(*integer) } else { None };
        match read {
            Some(read) => Some(read),
            None => self.expected(name, T::EXPECTED),
        }
    }

    fn expected<T>(&mut self, name: &str, expected: &str) -> Option<T> {
        self.report.reject(name, format!("must be {expected}"))
    }
}

#[cfg(test)]
mod tests {
    use guerdon_domain::values::{Line, UserId};

    use super::*;

    pub fn fields(body: &str) -> Fields<'_> {
        Fields::parse(body.as_bytes()).unwrap()
    }

    pub fn told(fields: &Fields<'_>) -> String {
        match fields.unless_faulty(Some(())) {
            Ok(()) => String::new(),
            Err(refusal) => refusal.to_string(),
        }
    }

    #[test]
    fn a_required_text_is_a_string() {
        let check = |body: &str, expected: &str| {
            let mut fields = fields(body);
            let read = fields.required::<UserId>("a");
            assert_eq!((read.is_some(), told(&fields).as_str()), (expected.is_empty(), expected), "{body}");
        };
        check(r#"{"a": "0193a5c0-0000-7000-8000-000000000001"}"#, "");
        check(r#"{"a": "x"}"#, "a must be a UUID");
        check(r#"{"a": ""}"#, "a must be a UUID");
        check(r#"{"a": null}"#, "a is required");
        check("{}", "a is required");
        check(r#"{"a": ["0193a5c0-0000-7000-8000-000000000001"]}"#, "a must be a string with a UUID");
        check(r#"{"a": 1}"#, "a must be a string with a UUID");
    }

    #[test]
    fn an_optional_text_is_unset_by_absence_null_and_emptiness() {
        let check = |body: &str, expected: Option<&str>, fault: bool| {
            let mut fields = fields(body);
            let read = fields.optional::<Line>("a");
            assert_eq!(read.as_ref().map(Line::as_str), expected, "{body}");
            assert_eq!(!told(&fields).is_empty(), fault, "{body}");
        };
        check(r#"{"a": "x"}"#, Some("x"), false);
        check(r#"{"a": ""}"#, None, false);
        check(r#"{"a": null}"#, None, false);
        check("{}", None, false);
        check(r#"{"a": " "}"#, None, true);
        check(r#"{"a": false}"#, None, true);
    }

    #[test]
    fn an_integer_is_a_json_integer_of_64_bits() {
        let check = |value: &str, expected: Option<i64>| {
            let body = format!("{{\"a\": {value}}}");
            let mut fields = fields(&body);
            assert_eq!(fields.unjudged_integer("a"), expected, "{value}");
            assert_eq!(told(&fields).is_empty(), expected.is_some(), "{value}");
        };
        check("10", Some(10));
        check("0", Some(0));
        check("-9223372036854775808", Some(i64::MIN));
        check("9223372036854775807", Some(i64::MAX));
        check("9223372036854775808", Some(i64::MAX));
        check("1000000000000000000000000000000", Some(i64::MAX));
        check("-9223372036854775809", Some(i64::MIN));
        for other in ["10.0", "1e2", "\"10\"", "true", "[1]", "{}", "null"] {
            check(other, None);
        }
    }

    #[test]
    fn a_flag_is_a_json_boolean() {
        let check = |body: &str, expected: bool, fault: &str| {
            let mut fields = fields(body);
            assert_eq!((fields.flag("a", true), told(&fields).as_str()), (expected, fault), "{body}");
        };
        check(r#"{"a": false}"#, false, "");
        check(r#"{"a": null}"#, true, "");
        check("{}", true, "");
        check(r#"{"a": "false"}"#, true, "a must be true or false");
        check(r#"{"a": 0}"#, true, "a must be true or false");
    }

    #[test]
    fn what_is_unknown_holds_no_nul_either() {
        for body in [r#"{"a": "x\u0000"}"#, r#"{"a": [{"b": "\u0000"}]}"#, r#"{"a\u0000": 1}"#] {
            assert!(fields(body).unless_faulty(Some(())).is_err(), "{body}");
        }
        assert!(fields(r#"{"a": [{"b": "x"}]}"#).unless_faulty(Some(())).is_ok());
    }

    #[test]
    fn what_is_left_over_is_named_where_its_name_is_plain() {
        let check = |body: &str, expected: Option<&str>| {
            assert_eq!(fields(body).ignored().as_deref(), expected, "{body}");
        };
        check("{}", None);
        check(r#"{"z": null, "b.c": 1, "x-y_Z": 2}"#, Some("b.c, x-y_Z, z"));
        check(r#"{"a b": 1, "": 1, "ü": 1, "a\r\nb": 1}"#, None);
        check(&format!("{{\"{}\": 1}}", "x".repeat(64)), Some(&"x".repeat(64)));
        check(&format!("{{\"{}\": 1}}", "x".repeat(65)), None);
        let many: Vec<String> = (0..30).map(|number| format!("\"f{number}\": 1")).collect();
        let named = format!("{{{}}}", many.join(","));
        let named = fields(&named).ignored().unwrap();
        assert_eq!(named.split(", ").count(), 20);
    }
}
