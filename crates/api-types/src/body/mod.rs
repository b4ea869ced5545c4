//! Reads the fields of a body one by one and collects every fault. Fields that remain unread are unknown.

mod json;
mod updates;

use std::borrow::Cow;

use schemars::json_schema;

use self::json::Field;
use crate::parameter::{FieldFault, Parameter, ReadReport};
use crate::values::{FromInteger, FromText};

const IGNORED_NAMES_MAX: usize = 20;
const IGNORED_NAME_BYTES_MAX: usize = 64;

/// Why a body was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InvalidBody {
    /// A sentence for the client that names the invalid fields and the rules that they break.
    pub message: Cow<'static, str>,
    /// The faults of fields, in the order of the message; empty if the body as a whole is invalid.
    pub faults: Vec<FieldFault>,
}

impl InvalidBody {
    fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), faults: Vec::new() }
    }

    fn from_faults(faults: Vec<FieldFault>) -> Self {
        Self { message: FieldFault::join_messages(&faults).into(), faults }
    }
}

/// The fields of one body. Readers return `None` for a fault, which [`Fields::check_faults`] then reports; optional
/// readers also return `None` for an unset field.
#[derive(Default)]
pub struct Fields<'a> {
    values: json::FieldMap<'a>,
    report: ReadReport,
}

impl<'a> Fields<'a> {
    /// The parameters that `read` reads, for the API description.
    pub fn collect_parameters<T>(read: impl FnOnce(&mut Self) -> T) -> Vec<Parameter> {
        let mut fields = Self { report: ReadReport::collecting_parameters(), ..Self::default() };
        read(&mut fields);
        fields.report.into_parameters()
    }

    /// Reads a body that must be a JSON object.
    pub fn parse(body: &'a [u8]) -> Result<Self, InvalidBody> {
        Ok(Self { values: json::parse_object(body)?, ..Self::default() })
    }

    /// Reads a required string.
    pub fn read_required<T: FromText>(&mut self, name: &str) -> Option<T> {
        self.report.declare_parameter(|| Parameter::required(name, T::value_schema()));
        match self.take_field(name) {
            Some(Field::Text(text)) => self.report.accept_parsed(name, T::from_text(&text)),
            Some(_) => self.reject_type(name, T::EXPECTED),
            None => self.reject_absence(name, T::EXPECTED),
        }
    }

    /// Reads an optional string. An absent field, null and the empty string have the same effect.
    pub fn read_optional<T: FromText>(&mut self, name: &str) -> Option<T> {
        self.report.declare_parameter(|| Parameter::nullable(name, T::value_schema()));
        match self.take_field(name) {
            Some(Field::Text(text)) if text.is_empty() => None,
            Some(Field::Text(text)) => self.report.accept_parsed(name, T::from_text(&text)),
            Some(_) => self.reject_type(name, T::EXPECTED),
            None => None,
        }
    }

    /// Reads a required integer whose range the use case checks. An integer outside the range of `i64` is read as the
    /// largest or smallest `i64`, so that the use case refuses it with a message that states the valid range. The value
    /// must never be stored unchecked.
    pub fn read_unchecked_integer(&mut self, name: &str) -> Option<i64> {
        self.report.declare_parameter(|| {
            Parameter::required(name, json_schema!({"type": "integer", "format": "int64", "minimum": 0}))
        });
        match self.take_field(name) {
            Some(Field::Integer(integer)) => Some(integer),
            Some(Field::HugeNumber { is_negative: false }) => Some(i64::MAX),
            Some(Field::HugeNumber { is_negative: true }) => Some(i64::MIN),
            Some(_) => self.reject_type(name, "an integer"),
            None => self.reject_absence(name, "an integer"),
        }
    }

    /// Reads a required integer.
    pub fn read_required_integer<T: FromInteger>(&mut self, name: &str) -> Option<T> {
        self.report.declare_parameter(|| Parameter::required(name, T::value_schema()));
        match self.take_field(name) {
            Some(value) => self.convert_integer(name, &value),
            None => self.reject_absence(name, T::EXPECTED),
        }
    }

    /// Reports a fault of several fields together, unless a fault was found before. Returns `None`.
    pub fn report_fault<T>(&mut self, names: &[&str], message: &str) -> Option<T> {
        if self.report.faults.is_empty() {
            self.report.faults.push(FieldFault::of_fields(names.iter().copied(), message));
        }
        None
    }

    /// Reads an optional integer. An absent field and null have the same effect.
    pub fn read_optional_integer<T: FromInteger>(&mut self, name: &str) -> Option<T> {
        self.report.declare_parameter(|| Parameter::nullable(name, T::value_schema()));
        let value = self.take_field(name)?;
        self.convert_integer(name, &value)
    }

    /// Reads a boolean; absent and null mean the default.
    pub fn read_flag(&mut self, name: &str, default: bool) -> bool {
        self.report.declare_parameter(|| {
            let flag = Parameter::with_default(name, json_schema!({"type": "boolean"}), default);
            Parameter { is_nullable: true, ..flag }
        });
        match self.take_field(name) {
            Some(Field::Flag(flag)) => flag,
            Some(_) => self.report.add_fault(name, "must be true or false").unwrap_or(default),
            None => default,
        }
    }

    /// The names of unknown fields for the header `X-Ignored-Fields`; `None` if there are none.
    pub fn ignored_names(&self) -> Option<String> {
        let names = self.list_ignored(|_| true);
        if names.is_empty() { None } else { Some(names.join(", ")) }
    }

    /// The unknown fields whose names can be shown and whose values match, in alphabetical order and limited in number.
    fn list_ignored(&self, is_match: impl Fn(&Field<'a>) -> bool) -> Vec<&str> {
        let is_plain = |name: &str| {
            (1..=IGNORED_NAME_BYTES_MAX).contains(&name.len())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        };
        let matching = self.values.iter().filter(|(name, value)| is_plain(name) && is_match(value));
        let mut names: Vec<&str> = matching.map(|(name, _)| name.as_ref()).collect();
        names.sort_unstable();
        names.truncate(IGNORED_NAMES_MAX);
        names
    }

    /// Adds a fault if there are unknown fields (behaviour 7.4). Call this after the fields were read.
    pub fn reject_unknown(&mut self) {
        if !self.values.is_empty() {
            let names = self.list_ignored(|_| true);
            let fault = FieldFault::of_unknown_fields(&names, "the body has unknown fields");
            self.report.faults.push(fault);
        }
    }

    /// Returns the value that a reader returned, or an error with every fault.
    pub fn check_faults<T>(&self, read: Option<T>) -> Result<T, InvalidBody> {
        let mut faults = self.report.faults.clone();
        if self.values.iter().any(|(name, value)| name.contains('\0') || value.has_nul()) {
            let names = self.list_ignored(Field::has_nul);
            faults.push(FieldFault::of_unknown_fields(&names, "unknown fields must not contain U+0000"));
        }
        match read {
            Some(read) if faults.is_empty() => Ok(read),
            None if faults.is_empty() => Err(InvalidBody::new("the body is invalid")),
            _ => Err(InvalidBody::from_faults(faults)),
        }
    }

    /// Takes a field out of the body; `None` if it is absent or null.
    fn take_field(&mut self, name: &str) -> Option<Field<'a>> {
        self.values.remove(name).filter(|value| *value != Field::Null)
    }

    fn convert_integer<T: FromInteger>(&mut self, name: &str, value: &Field<'_>) -> Option<T> {
        let converted = if let Field::Integer(integer) = value { T::from_integer(*integer) } else { None };
        converted.or_else(|| self.reject_type(name, T::EXPECTED))
    }

    fn reject_type<T>(&mut self, name: &str, expected: &str) -> Option<T> {
        self.report.add_fault(name, format!("must be {expected}"))
    }

    fn reject_absence<T>(&mut self, name: &str, expected: &str) -> Option<T> {
        self.report.add_fault(name, format!("is required and must be {expected}"))
    }
}

#[cfg(test)]
mod tests {
    use guerdon_domain::values::{SingleLine, UserId};

    use super::*;

    pub fn parse_fields(body: &str) -> Fields<'_> {
        Fields::parse(body.as_bytes()).unwrap()
    }

    pub fn fault_text(fields: &Fields<'_>) -> String {
        match fields.check_faults(Some(())) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_required_string_must_be_sent() {
        let check = |body: &str, expected: &str| {
            let mut fields = parse_fields(body);
            let read = fields.read_required::<UserId>("a");
            assert_eq!(
                (read.is_some(), fault_text(&fields).as_str()),
                (expected.is_empty(), expected),
                "{body}"
            );
        };
        check(r#"{"a": "0193a5c0-0000-7000-8000-000000000001"}"#, "");
        check(r#"{"a": "x"}"#, "a must be a UUID");
        check(r#"{"a": ""}"#, "a must be a UUID");
        check(r#"{"a": null}"#, "a is required and must be a string with a UUID");
        check("{}", "a is required and must be a string with a UUID");
        check(r#"{"a": ["0193a5c0-0000-7000-8000-000000000001"]}"#, "a must be a string with a UUID");
        check(r#"{"a": 1}"#, "a must be a string with a UUID");
    }

    #[test]
    fn an_optional_string_is_unset_by_absence_null_and_emptiness() {
        let check = |body: &str, expected: Option<&str>, fault: bool| {
            let mut fields = parse_fields(body);
            let read = fields.read_optional::<SingleLine>("a");
            assert_eq!(read.as_ref().map(SingleLine::as_str), expected, "{body}");
            assert_eq!(!fault_text(&fields).is_empty(), fault, "{body}");
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
            let mut fields = parse_fields(&body);
            assert_eq!(fields.read_unchecked_integer("a"), expected, "{value}");
            assert_eq!(fault_text(&fields).is_empty(), expected.is_some(), "{value}");
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
            let mut fields = parse_fields(body);
            assert_eq!(
                (fields.read_flag("a", true), fault_text(&fields).as_str()),
                (expected, fault),
                "{body}"
            );
        };
        check(r#"{"a": false}"#, false, "");
        check(r#"{"a": null}"#, true, "");
        check("{}", true, "");
        check(r#"{"a": "false"}"#, true, "a must be true or false");
        check(r#"{"a": 0}"#, true, "a must be true or false");
    }

    #[test]
    fn unknown_fields_must_not_contain_nul() {
        let check =
            |body: &str, expected: &str| assert_eq!(fault_text(&parse_fields(body)), expected, "{body}");
        let rule = "unknown fields must not contain U+0000";
        check(r#"{"a": "x\u0000", "b": "x"}"#, &format!("{rule}: a"));
        check(r#"{"b": [{"c": "\u0000"}], "a": "\u0000"}"#, &format!("{rule}: a, b"));
        check(r#"{"a\u0000": 1}"#, rule);
        check(r#"{"a": [{"b": "x"}]}"#, "");
        let mut fields = parse_fields(r#"{"a": "\u0000"}"#);
        fields.read_unchecked_integer("b");
        fields.reject_unknown();
        let all = format!("b is required and must be an integer; the body has unknown fields: a; {rule}: a");
        assert_eq!(fault_text(&fields), all);
    }

    #[test]
    fn unknown_fields_with_plain_names_are_listed() {
        let check = |body: &str, expected: Option<&str>| {
            assert_eq!(parse_fields(body).ignored_names().as_deref(), expected, "{body}");
        };
        check("{}", None);
        check(r#"{"z": null, "b.c": 1, "x-y_Z": 2}"#, Some("b.c, x-y_Z, z"));
        check(r#"{"a b": 1, "": 1, "ü": 1, "a\r\nb": 1}"#, None);
        check(&format!("{{\"{}\": 1}}", "x".repeat(64)), Some(&"x".repeat(64)));
        check(&format!("{{\"{}\": 1}}", "x".repeat(65)), None);
        let many: Vec<String> = (0..30).map(|number| format!("\"f{number}\": 1")).collect();
        let named = format!("{{{}}}", many.join(","));
        let named = parse_fields(&named).ignored_names().unwrap();
        assert_eq!(named.split(", ").count(), 20);
    }
}
