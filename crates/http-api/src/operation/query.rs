//! Parses the query of a request (behaviour 6).

use std::collections::HashMap;
use std::ops::RangeInclusive;

use actix_web::web;
use guerdon_domain::values::Page;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::json_schema;

use crate::operation::error::ApiError;
use guerdon_api_types::parameter::{Parameter, ReadReport};
use guerdon_api_types::values::FromText;

const PER_PAGE_DEFAULT: i64 = 100;
/// All characters except the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The parameters of a query by name. Parameters are read one by one, and every fault is collected. Unknown parameters
/// are ignored. Readers return `None` for a fault or a missing parameter.
#[derive(Default)]
pub(crate) struct Query {
    values: HashMap<String, Vec<String>>,
    report: ReadReport,
}

impl Query {
    /// Parses `application/x-www-form-urlencoded` with `read`. Fails with a 400 that names every fault.
    pub(crate) fn parse_with<T>(
        text: &str,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Result<T, ApiError> {
        let pairs = web::Query::<Vec<(String, String)>>::from_query(text)
            .map_err(|_error| ApiError::bad_request("the query must be parameters in the form name=value"))?;
        let mut query = Self::default();
        for (name, value) in pairs.into_inner() {
            query.values.entry(name).or_default().push(value);
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
        let given = names.iter().filter_map(|name| Some((*name, self.values.get(*name)?.first()?)));
        given.map(|(name, value)| format!("{name}={}&", utf8_percent_encode(value, RESERVED))).collect()
    }

    /// Reads `page` and `per_page`. A larger `per_page` is reduced to `per_page_max`.
    pub(crate) fn read_page(&mut self, per_page_max: i64) -> Option<Page> {
        let number = self.read_positive("page", 1);
        let per_page = self.read_positive("per_page", PER_PAGE_DEFAULT);
        Page::new(number?, per_page?.min(per_page_max))
    }

    /// Reads an integer that is at least 1.
    pub(crate) fn read_positive(&mut self, name: &str, default: i64) -> Option<i64> {
        self.read_integer(name, default, 1..=i64::MAX, "must be an integer from 1")
    }

    /// Reads an integer in a range.
    pub(crate) fn read_integer(
        &mut self,
        name: &str,
        default: i64,
        range: RangeInclusive<i64>,
        fault: &'static str,
    ) -> Option<i64> {
        let (min, max) = (*range.start(), *range.end());
        let mut form = json_schema!({"type": "integer", "format": "int64", "minimum": min});
        if max < i64::MAX {
            form.insert("maximum".to_owned(), max.into());
        }
        self.report.declare_parameter(|| Parameter::with_default(name, form, default));
        let Some(text) = self.single_value(name)? else { return Some(default) };
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if is_number { text.parse().ok().filter(|number| range.contains(number)) } else { None };
        self.report.accept_parsed(name, number.ok_or(fault))
    }

    /// The value of a parameter: `Some(None)` if it is absent, and `None`, with a fault, if it is repeated.
    #[expect(clippy::option_option, reason = "a fault differs from absence")]
    fn single_value(&mut self, name: &str) -> Option<Option<String>> {
        match self.values.get(name).map(Vec::as_slice) {
            None | Some([]) => Some(None),
            Some([value]) => Some(Some(value.clone())),
            Some(_) => self.report.add_fault(name, "must be given once"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_page(text: &str) -> Result<(i64, i64), String> {
        let page = Query::parse_with(text, |query| query.read_page(100))
            .map_err(|refusal| refusal.status_and_message().1.to_owned())?;
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
        check("page=9223372036854775807", (9_223_372_036_854_775_807, 100));
        check("colour=red&colour=blue", (1, 100));
        check("%70age=%32", (2, 100));
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
        let no_page = "page must be an integer from 1";
        for value in ["0", "-1", "%2B1", "+1", "abc", "", "1.0", "1e2", "9223372036854775808", "%00", "1%20"]
        {
            check(&format!("page={value}"), no_page);
        }
        check("page=1&page=2", "page must be given once");
        check("page=0&per_page=x", "page must be an integer from 1; per_page must be an integer from 1");
    }
}
