//! The fields of an update, where absence, null and a value are three things (behaviour 7.1).

use std::fmt::Display;

use guerdon_domain::values::Update;
use serde_json::Value;

use super::Fields;

impl Fields {
    /// A text that an update may change and never unset: absent stays, null is a fault.
    pub(crate) fn changed<T, E: Display>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        match self.values.remove(name)? {
            Value::String(text) => self.parsed(name, parse(&text)),
            _ => self.refused(name, "must be a string"),
        }
    }

    /// A text that an update may change or unset: absent stays, null and empty unset.
    pub(crate) fn updated<T, E: Display>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Update<T> {
        match self.values.remove(name) {
            None => Update::Keep,
            Some(Value::Null) => Update::Clear,
            Some(Value::String(text)) if text.is_empty() => Update::Clear,
            Some(Value::String(text)) => self.parsed(name, parse(&text)).map_or(Update::Keep, Update::Set),
            Some(_) => self.refused(name, "must be a string or null").unwrap_or_default(),
        }
    }

    /// An integer that an update may change and never unset.
    pub(crate) fn changed_integer<T>(
        &mut self,
        name: &str,
        must_be: &str,
        judge: impl FnOnce(i64) -> Option<T>,
    ) -> Option<T> {
        let value = self.values.remove(name)?;
        self.integer(name, &value, must_be, judge)
    }

    /// An integer that an update may change or unset.
    pub(crate) fn updated_integer<T>(
        &mut self,
        name: &str,
        must_be: &str,
        judge: impl FnOnce(i64) -> Option<T>,
    ) -> Update<T> {
        match self.values.remove(name) {
            None => Update::Keep,
            Some(Value::Null) => Update::Clear,
            Some(value) => self.integer(name, &value, must_be, judge).map_or(Update::Keep, Update::Set),
        }
    }

    /// A boolean that an update may change and never unset.
    pub(crate) fn changed_flag(&mut self, name: &str) -> Option<bool> {
        match self.values.remove(name)? {
            Value::Bool(flag) => Some(flag),
            _ => self.refused(name, "must be true or false"),
        }
    }
}

#[cfg(test)]
mod tests {
    use guerdon_domain::values::Line;

    use super::super::tests::{fields, told};
    use super::*;

    #[test]
    fn an_update_tells_absence_null_and_a_value_apart() {
        let check = |body: &str, expected: Update<&str>, fault: &str| {
            let mut it = fields(body);
            let read = it.updated("a", Line::parse);
            let read = match &read {
                Update::Keep => Update::Keep,
                Update::Clear => Update::Clear,
                Update::Set(line) => Update::Set(line.as_str()),
            };
            assert_eq!((read, told(&it).as_str()), (expected, fault), "{body}");
        };
        check("{}", Update::Keep, "");
        check(r#"{"a": null}"#, Update::Clear, "");
        check(r#"{"a": ""}"#, Update::Clear, "");
        check(r#"{"a": "x"}"#, Update::Set("x"), "");
        check(r#"{"a": 1}"#, Update::Keep, "a must be a string or null");
        check(r#"{"a": " "}"#, Update::Keep, &format!("a {}", Line::parse(" ").unwrap_err()));
    }

    #[test]
    fn what_cannot_be_unset_refuses_null() {
        let check = |body: &str, fault: &str| {
            let mut it = fields(body);
            it.changed("text", Line::parse);
            it.changed_integer("integer", "must be an integer from 1", |it| (it > 0).then_some(it));
            it.changed_flag("flag");
            assert_eq!(told(&it), fault, "{body}");
        };
        check("{}", "");
        check(r#"{"text": "x", "integer": 1, "flag": false}"#, "");
        check(
            r#"{"text": null, "integer": null, "flag": null}"#,
            "text must be a string; integer must be an integer from 1; flag must be true or false",
        );
        check(
            r#"{"integer": 1.0, "flag": 1}"#,
            "integer must be an integer from 1; flag must be true or false",
        );
    }

    #[test]
    fn every_fault_is_told() {
        let mut it = fields(r#"{"a": 1, "c": 0}"#);
        it.required("a", Line::parse);
        it.required("b", Line::parse);
        it.optional_integer("c", "must be an integer from 1", |c| (c > 0).then_some(c));
        assert_eq!(told(&it), "a must be a string; b is required; c must be an integer from 1");
    }
}
