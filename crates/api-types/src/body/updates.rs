//! The fields of an update, where absence, null and a value are three things (behaviour 7.1).

use guerdon_domain::values::Update;
use schemars::json_schema;

use super::{Field, Fields};
use crate::form::{FromInteger, FromText};
use crate::parameter::Parameter;

impl Fields<'_> {
    /// A text that an update may change and never unset: absent stays, null is a fault.
    pub fn changed<T: FromText>(&mut self, name: &str) -> Option<T> {
        self.report.declare(|| Parameter::optional(name, T::form()));
        match self.values.remove(name)? {
            Field::Text(text) => self.report.parsed(name, T::from_text(&text)),
            _ => self.expected(name, T::EXPECTED),
        }
    }

    /// A text that an update may change or unset: absent stays, null and empty unset.
    pub fn updated<T: FromText>(&mut self, name: &str) -> Update<T> {
        self.report.declare(|| Parameter::nullable(name, T::form()));
        match self.values.remove(name) {
            None => Update::Keep,
            Some(Field::Null) => Update::Clear,
            Some(Field::Text(text)) if text.is_empty() => Update::Clear,
            Some(Field::Text(text)) => {
                self.report.parsed(name, T::from_text(&text)).map_or(Update::Keep, Update::Set)
            }
            Some(_) => {
                self.report.reject(name, format!("must be {}, or null", T::EXPECTED)).unwrap_or_default()
            }
        }
    }

    /// An integer that an update may change and never unset.
    pub fn changed_integer<T: FromInteger>(&mut self, name: &str) -> Option<T> {
        self.report.declare(|| Parameter::optional(name, T::form()));
        let value = self.values.remove(name)?;
        self.integer(name, &value)
    }

    /// An integer that an update may change or unset.
    pub fn updated_integer<T: FromInteger>(&mut self, name: &str) -> Update<T> {
        self.report.declare(|| Parameter::nullable(name, T::form()));
        match self.values.remove(name) {
            None => Update::Keep,
            Some(Field::Null) => Update::Clear,
            Some(value) => self.integer(name, &value).map_or(Update::Keep, Update::Set),
        }
    }

    /// A boolean that an update may change and never unset.
    pub fn changed_flag(&mut self, name: &str) -> Option<bool> {
        self.report.declare(|| Parameter::optional(name, json_schema!({"type": "boolean"})));
        match self.values.remove(name)? {
            Field::Flag(flag) => Some(flag),
            _ => self.report.reject(name, "must be true or false"),
        }
    }
}

#[cfg(test)]
mod tests {
    use guerdon_domain::money::PointsPerDollar;
    use guerdon_domain::values::Line;

    use super::super::tests::{fields, told};
    use super::*;

    #[test]
    fn an_update_tells_absence_null_and_a_value_apart() {
        let check = |body: &str, expected: Update<&str>, fault: &str| {
            let mut fields = fields(body);
            let read = fields.updated::<Line>("a");
            let read = match &read {
                Update::Keep => Update::Keep,
                Update::Clear => Update::Clear,
                Update::Set(line) => Update::Set(line.as_str()),
            };
            assert_eq!((read, told(&fields).as_str()), (expected, fault), "{body}");
        };
        check("{}", Update::Keep, "");
        check(r#"{"a": null}"#, Update::Clear, "");
        check(r#"{"a": ""}"#, Update::Clear, "");
        check(r#"{"a": "x"}"#, Update::Set("x"), "");
        check(r#"{"a": 1}"#, Update::Keep, "a must be a string of 1 to 255 characters, or null");
        check(r#"{"a": " "}"#, Update::Keep, &format!("a {}", Line::parse(" ").unwrap_err()));
    }

    #[test]
    fn what_cannot_be_unset_refuses_null() {
        let check = |body: &str, fault: &str| {
            let mut fields = fields(body);
            fields.changed::<Line>("text");
            fields.changed_integer::<PointsPerDollar>("integer");
            fields.changed_flag("flag");
            assert_eq!(told(&fields), fault, "{body}");
        };
        check("{}", "");
        check(r#"{"text": "x", "integer": 1, "flag": false}"#, "");
        check(
            r#"{"text": null, "integer": null, "flag": null}"#,
            "text must be a string of 1 to 255 characters; integer must be an integer from 1 to 10000; flag must be true or false",
        );
        check(
            r#"{"integer": 1.0, "flag": 1}"#,
            "integer must be an integer from 1 to 10000; flag must be true or false",
        );
    }

    #[test]
    fn every_fault_is_told() {
        let mut fields = fields(r#"{"a": 1, "c": 0}"#);
        fields.required::<Line>("a");
        fields.required::<Line>("b");
        fields.optional_integer::<PointsPerDollar>("c");
        let expected =
            "a must be a string of 1 to 255 characters; b is required; c must be an integer from 1 to 10000";
        assert_eq!(told(&fields), expected);
    }
}
