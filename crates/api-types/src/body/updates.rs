//! Reads the fields of an update, which may be absent, null or have a value (behaviour 7.1).

use guerdon_domain::values::Update;
use schemars::json_schema;

use super::{Field, Fields};
use crate::parameter::Parameter;
use crate::values::{FromInteger, FromText};

impl Fields<'_> {
    /// Reads a string that an update may change but not unset. If the field is absent, the string does not change; null
    /// is a fault.
    pub fn read_change<T: FromText>(&mut self, name: &str) -> Option<T> {
        self.report.declare_parameter(|| Parameter::optional(name, T::value_schema()));
        match self.values.remove(name)? {
            Field::Text(text) => self.report.accept_parsed(name, T::from_text(&text)),
            _ => self.reject_type(name, T::EXPECTED),
        }
    }

    /// Reads a string that an update may change or unset. If the field is absent, the string does not change; null and
    /// the empty string unset it.
    pub fn read_update<T: FromText>(&mut self, name: &str) -> Update<T> {
        self.report.declare_parameter(|| Parameter::nullable(name, T::value_schema()));
        match self.values.remove(name) {
            None => Update::Keep,
            Some(Field::Null) => Update::Clear,
            Some(Field::Text(text)) if text.is_empty() => Update::Clear,
            Some(Field::Text(text)) => {
                self.report.accept_parsed(name, T::from_text(&text)).map_or(Update::Keep, Update::Set)
            }
            Some(_) => {
                self.report.add_fault(name, format!("must be {}, or null", T::EXPECTED)).unwrap_or_default()
            }
        }
    }

    /// Reads an integer that an update may change but not unset.
    pub fn read_integer_change<T: FromInteger>(&mut self, name: &str) -> Option<T> {
        self.report.declare_parameter(|| Parameter::optional(name, T::value_schema()));
        let value = self.values.remove(name)?;
        self.convert_integer(name, &value)
    }

    /// Reads an integer that an update may change or unset.
    pub fn read_integer_update<T: FromInteger>(&mut self, name: &str) -> Update<T> {
        self.report.declare_parameter(|| Parameter::nullable(name, T::value_schema()));
        match self.values.remove(name) {
            None => Update::Keep,
            Some(Field::Null) => Update::Clear,
            Some(value) => self.convert_integer(name, &value).map_or(Update::Keep, Update::Set),
        }
    }

    /// Reads a boolean that an update may change but not unset.
    pub fn read_flag_change(&mut self, name: &str) -> Option<bool> {
        self.report.declare_parameter(|| Parameter::optional(name, json_schema!({"type": "boolean"})));
        match self.values.remove(name)? {
            Field::Flag(flag) => Some(flag),
            _ => self.report.add_fault(name, "must be true or false"),
        }
    }
}

#[cfg(test)]
mod tests {
    use guerdon_domain::money::PointsPerDollar;
    use guerdon_domain::values::SingleLine;

    use super::super::tests::{fault_text, parse_fields};
    use super::*;

    #[test]
    fn an_update_distinguishes_absence_null_and_a_value() {
        let check = |body: &str, expected: Update<&str>, fault: &str| {
            let mut fields = parse_fields(body);
            let update = fields.read_update::<SingleLine>("a");
            let update = match &update {
                Update::Keep => Update::Keep,
                Update::Clear => Update::Clear,
                Update::Set(line) => Update::Set(line.as_str()),
            };
            assert_eq!((update, fault_text(&fields).as_str()), (expected, fault), "{body}");
        };
        check("{}", Update::Keep, "");
        check(r#"{"a": null}"#, Update::Clear, "");
        check(r#"{"a": ""}"#, Update::Clear, "");
        check(r#"{"a": "x"}"#, Update::Set("x"), "");
        check(r#"{"a": 1}"#, Update::Keep, "a must be a string of 1 to 255 characters, or null");
        check(r#"{"a": " "}"#, Update::Keep, &format!("a {}", SingleLine::parse(" ").unwrap_err()));
    }

    #[test]
    fn fields_that_cannot_be_unset_reject_null() {
        let check = |body: &str, fault: &str| {
            let mut fields = parse_fields(body);
            fields.read_change::<SingleLine>("text");
            fields.read_integer_change::<PointsPerDollar>("integer");
            fields.read_flag_change("flag");
            assert_eq!(fault_text(&fields), fault, "{body}");
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
    fn every_fault_is_reported() {
        let mut fields = parse_fields(r#"{"a": 1, "c": 0}"#);
        fields.read_required::<SingleLine>("a");
        fields.read_required::<SingleLine>("b");
        fields.read_optional_integer::<PointsPerDollar>("c");
        let expected = "a must be a string of 1 to 255 characters; \
             b is required and must be a string of 1 to 255 characters; c must be an integer from 1 to 10000";
        assert_eq!(fault_text(&fields), expected);
    }
}
