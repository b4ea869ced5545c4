//! Parses the query of a request (behaviour 6).

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::RangeInclusive;

use guerdon_api_types::parameter::{Parameter, ReadReport};
use guerdon_api_types::values::FromText;
use guerdon_domain::values::Page;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use schemars::json_schema;

use crate::operation::ApiError;

const PER_PAGE_DEFAULT: i64 = 100;
const MUST_BE_POSITIVE: &str = "must be a positive integer";
/// All characters except the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The parameters of a query by name. Parameters are read one by one, and every fault is collected. Unknown parameters
/// are ignored. Readers return `None` for a fault or a missing parameter.
#[derive(Default)]
pub(crate) struct Query {
    /// `None` stands for a value that is not valid UTF-8.
    values: HashMap<String, Vec<Option<String>>>,
    report: ReadReport,
}

impl Query {
    /// Parses `application/x-www-form-urlencoded` with `read`. Fails with a 400 that names every fault.
    pub(crate) fn parse_with<T>(
        text: &str,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Result<T, ApiError> {
        let mut query = Self::default();
        for pair in text.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if let Some(name) = decode(name) {
                query.values.entry(name).or_default().push(decode(value));
            }
        }
        let read = read(&mut query);
        read.filter(|_| query.report.faults.is_empty())
            .ok_or_else(|| ApiError::invalid_fields(query.report.faults))
    }

    /// The parameters that `read` reads, for the API description.
    pub(crate) fn collect_parameters(read: fn(&mut Self)) -> Vec<Parameter> {
        let mut query = Self { report: ReadReport::collecting_parameters(), ..Self::default() };
        read(&mut query);
        query.report.into_parameters()
    }

    /// Reads a required parameter.
    pub(crate) fn read_required<T: FromText>(&mut self, name: &str) -> Option<T> {
        self.report.declare_parameter(|| Parameter::required(name, T::value_schema()));
        match self.single_value(name)? {
            Some(text) => self.report.accept_parsed(name, T::from_text(&text)),
            None => {
                let must_be = T::from_text("").err().map(|fault| format!(" and {fault}")).unwrap_or_default();
                self.report.add_fault(name, format!("is required{must_be}"))
            }
        }
    }

    /// Reads an optional parameter.
    pub(crate) fn read_optional<T: FromText>(&mut self, name: &str) -> Option<T> {
        self.report.declare_parameter(|| Parameter::optional(name, T::value_schema()));
        let text = self.single_value(name)??;
        self.report.accept_parsed(name, T::from_text(&text))
    }

    /// Reads a boolean parameter; false if it is missing.
    pub(crate) fn read_flag(&mut self, name: &str) -> bool {
        self.report
            .declare_parameter(|| Parameter::with_default(name, json_schema!({"type": "boolean"}), false));
        let Some(Some(text)) = self.single_value(name) else { return false };
        let read = text.parse::<bool>().map_err(|_neither| "must be true or false");
        self.report.accept_parsed(name, read).unwrap_or_default()
    }

    /// Encodes those parameters of the query that have one of these names as a query string, with an ampersand after
    /// each.
    pub(crate) fn encode_parameters(&self, names: &[&str]) -> String {
        let given =
            names.iter().filter_map(|name| Some((*name, self.values.get(*name)?.first()?.as_deref()?)));
        given.map(|(name, value)| format!("{name}={}&", utf8_percent_encode(value, RESERVED))).collect()
    }

    /// Reads `page` and `per_page`. A larger `per_page` is reduced to `per_page_max`.
    pub(crate) fn read_page(&mut self, per_page_max: i64) -> Option<Page> {
        let number = self.read_integer("page", 1, 1..=i64::MAX, MUST_BE_POSITIVE);
        let per_page = self.read_limit("per_page", PER_PAGE_DEFAULT, per_page_max);
        Page::new(number?, per_page?)
    }

    /// Reads an integer that is at least 1. A larger one than `max`, however large, is reduced to `max`.
    pub(crate) fn read_limit(&mut self, name: &str, default: i64, max: i64) -> Option<i64> {
        let number = self.read_number(name, default, 1..=i64::MAX, MUST_BE_POSITIVE, Some(i64::MAX));
        number.map(|number| number.min(max))
    }

    /// Reads an integer in a range.
    pub(crate) fn read_integer(
        &mut self,
        name: &str,
        default: i64,
        range: RangeInclusive<i64>,
        fault: &'static str,
    ) -> Option<i64> {
        self.read_number(name, default, range, fault, None)
    }

    /// Reads an integer in a range. An integer that 64 bits cannot hold is read as `overflow`, or refused if that is
    /// `None`.
    fn read_number(
        &mut self,
        name: &str,
        default: i64,
        range: RangeInclusive<i64>,
        fault: &'static str,
        overflow: Option<i64>,
    ) -> Option<i64> {
        let (min, max) = (*range.start(), *range.end());
        let mut form = json_schema!({"type": "integer", "format": "int64", "minimum": min});
        if max < i64::MAX {
            form.insert("maximum".to_owned(), max.into());
        }
        self.report.declare_parameter(|| Parameter::with_default(name, form, default));
        let Some(text) = self.single_value(name)? else { return Some(default) };
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().or(overflow).filter(|number| is_number && range.contains(number));
        self.report.accept_parsed(name, number.ok_or(fault))
    }

    /// The value of a parameter: `Some(None)` if it is absent, and `None`, with a fault, if it is repeated or not valid
    /// UTF-8.
    #[expect(clippy::option_option, reason = "a fault differs from absence")]
    fn single_value(&mut self, name: &str) -> Option<Option<String>> {
        match self.values.get(name).map(Vec::as_slice) {
            None | Some([]) => Some(None),
            Some([Some(value)]) => Some(Some(value.clone())),
            Some([None]) => self.report.add_fault(name, "must be valid UTF-8"),
            Some(_) => self.report.add_fault(name, "must not be repeated"),
        }
    }
}

/// Decodes a name or a value; `None` if it is not UTF-8.
fn decode(text: &str) -> Option<String> {
    percent_decode_str(&text.replace('+', " ")).decode_utf8().ok().map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_page(text: &str) -> Result<(i64, i64), String> {
        let page = Query::parse_with(text, |query| query.read_page(100))
            .map_err(|error| error.status_and_message().1.to_owned())?;
        Ok((page.number(), page.per_page()))
    }

    #[test]
    fn a_page_is_two_positive_integers_and_per_page_is_limited() {
        let check = |text, expected| assert_eq!(parse_page(text), Ok(expected), "{text:?}");
        check("", (1, 100));
        check("page=3", (3, 100));
        check("per_page=7&page=2", (2, 7));
        check("per_page=100", (1, 100));
        check("per_page=101", (1, 100));
        check("per_page=9223372036854775807", (1, 100));
        check("per_page=9223372036854775808", (1, 100));
        check("per_page=99999999999999999999999999999999999999999", (1, 100));
        check("page=9223372036854775807", (9_223_372_036_854_775_807, 100));
        check("colour=red&colour=blue", (1, 100));
        check("%70age=%32", (2, 100));
        check("&page=2&&", (2, 100));
        check("x=%ff&%ff=1&=1&y", (1, 100));
    }

    #[test]
    fn given_parameters_are_encoded_again() {
        let again = Query::parse_with("email=%C3%A4+b%2F%25~%40x.example&other=1", |query| {
            Some(query.encode_parameters(&["email", "id"]))
        });
        assert!(again.is_ok_and(|encoded| encoded == "email=%C3%A4%20b%2F%25~%40x.example&"));
    }

    #[test]
    fn other_values_and_repeated_parameters_are_rejected() {
        let check =
            |text: &str, expected: &str| assert_eq!(parse_page(text), Err(expected.to_owned()), "{text:?}");
        let no_page = "page must be a positive integer";
        for value in ["0", "-1", "%2B1", "+1", "abc", "", "1.0", "1e2", "9223372036854775808", "%00", "1%20"]
        {
            check(&format!("page={value}"), no_page);
        }
        check("page=1&page=2", "page must not be repeated");
        check("page=1&page=%ff", "page must not be repeated");
        check("page=%ff&per_page=1%C3", "page must be valid UTF-8; per_page must be valid UTF-8");
        check("page", no_page);
        check("page=0&per_page=x", "page must be a positive integer; per_page must be a positive integer");
    }
}
