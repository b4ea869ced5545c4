//! The query of a request (behaviour 6).

use std::collections::HashMap;
use std::fmt::Display;

use actix_web::web;
use guerdon_domain::values::Page;

use crate::operation::error::ApiError;

const PER_PAGE_DEFAULT: i64 = 100;

/// A query's parameters by name; those that the endpoint does not know are ignored.
pub(crate) struct Query(HashMap<String, Vec<String>>);

impl Query {
    /// Decodes `application/x-www-form-urlencoded`.
    pub(crate) fn parse(text: &str) -> Result<Self, ApiError> {
        let pairs = web::Query::<Vec<(String, String)>>::from_query(text)
            .map_err(|_error| ApiError::bad_request("the query must be parameters in the form name=value"))?;
        let mut parameters: HashMap<String, Vec<String>> = HashMap::new();
        for (name, value) in pairs.into_inner() {
            parameters.entry(name).or_default().push(value);
        }
        Ok(Self(parameters))
    }

    /// The value of a parameter that the endpoint knows; adds a fault where it is repeated.
    pub(crate) fn one(&self, name: &str, faults: &mut Vec<String>) -> Option<&str> {
        match self.0.get(name).map(Vec::as_slice) {
            None | Some([]) => None,
            Some([value]) => Some(value),
            Some(_) => {
                faults.push(format!("{name} must be given once"));
                None
            }
        }
    }

    /// A parameter that need not be given; `parse` answers what it must be.
    pub(crate) fn parsed<T, E: Display>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
        faults: &mut Vec<String>,
    ) -> Option<T> {
        match parse(self.one(name, faults)?) {
            Ok(read) => Some(read),
            Err(must_be) => {
                faults.push(format!("{name} {must_be}"));
                None
            }
        }
    }

    /// A parameter that is true or false; false where it is not given.
    pub(crate) fn flag(&self, name: &str, faults: &mut Vec<String>) -> bool {
        let read = |text: &str| text.parse::<bool>().map_err(|_neither| "must be true or false");
        self.parsed(name, read, faults).unwrap_or_default()
    }

    /// The query of these parameters as they were given, encoded, with an ampersand behind each.
    pub(crate) fn again(&self, names: &[&str]) -> String {
        let given = names.iter().filter_map(|name| Some((*name, self.0.get(*name)?.first()?)));
        given.map(|(name, value)| format!("{name}={}&", encoded(value))).collect()
    }

    /// `page` and `per_page`; more than `per_page_max` is served at the maximum.
    pub(crate) fn page(&self, per_page_max: i64, faults: &mut Vec<String>) -> Option<Page> {
        let number = self.natural("page", 1, faults);
        let per_page = self.natural("per_page", PER_PAGE_DEFAULT, faults);
        Page::new(number?, per_page?.min(per_page_max))
    }

    /// A number from 1 on.
    pub(crate) fn natural(&self, name: &str, default: i64, faults: &mut Vec<String>) -> Option<i64> {
        let faults_before = faults.len();
        let Some(text) = self.one(name, faults) else {
            return (faults.len() == faults_before).then_some(default);
        };
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if is_number { text.parse().ok().filter(|it| *it >= 1) } else { None };
        if number.is_none() {
            faults.push(format!("{name} must be an integer from 1"));
        }
        number
    }
}

/// A value as it stands in a query: what is not unreserved is percent-encoded (RFC 3986).
fn encoded(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    value
        .bytes()
        .map(|it| if is_plain(it) { char::from(it).to_string() } else { format!("%{it:02X}") })
        .collect()
}

/// The 400 of everything that is wrong with a query, or what was read.
pub(crate) fn unless_faulty<T>(read: Option<T>, faults: &[String]) -> Result<T, ApiError> {
    match read {
        Some(read) if faults.is_empty() => Ok(read),
        _ => Err(ApiError::bad_request(faults.join("; "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Result<(i64, i64), String> {
        let query = Query::parse(text).unwrap();
        let mut faults = Vec::new();
        let page = query.page(100, &mut faults);
        let page = unless_faulty(page, &faults).map_err(|refusal| refusal.told().1.to_owned())?;
        Ok((page.number(), page.per_page()))
    }

    #[test]
    fn a_page_is_two_integers_from_1_and_per_page_is_cut_to_the_maximum() {
        let check = |text, expected| assert_eq!(page(text), Ok(expected), "{text:?}");
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
    fn what_is_no_integer_from_1_or_repeated_is_refused() {
        let check = |text: &str, expected: &str| assert_eq!(page(text), Err(expected.to_owned()), "{text:?}");
        let no_page = "page must be an integer from 1";
        for value in ["0", "-1", "%2B1", "+1", "abc", "", "1.0", "1e2", "9223372036854775808", "%00", "1%20"]
        {
            check(&format!("page={value}"), no_page);
        }
        check("page=1&page=2", "page must be given once");
        check("page=0&per_page=x", "page must be an integer from 1; per_page must be an integer from 1");
    }
}
