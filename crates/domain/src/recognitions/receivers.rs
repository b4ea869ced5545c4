//! `receiver_ids`: user ids in one comma-separated string (behaviour 15.3).

use std::collections::HashSet;

use crate::values::UserId;

/// 1 to 10,000 distinct user ids, in the given order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receivers(Vec<UserId>);

/// The fault of a value of `receiver_ids`. Its string form is the end of the error message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidReceivers {
    /// An item between commas is blank.
    #[error("must not contain an empty item")]
    EmptyItem,
    /// An item is not a UUID.
    #[error("must be user ids separated by commas")]
    NotAnId,
    /// An id occurs twice.
    #[error("must not name a user twice: {0}")]
    Duplicate(UserId),
    #[error("must name at most 10000 users")]
    TooMany,
}

impl Receivers {
    /// The maximum number of receivers of one recognition.
    pub const MAX: usize = 10_000;

    /// Parses the comma-separated form. Spaces around commas are ignored.
    pub fn parse(text: &str) -> Result<Self, InvalidReceivers> {
        let mut seen = HashSet::new();
        let mut ids = Vec::new();
        for item in text.split(',').map(|item| item.trim_matches([' ', '\t'])) {
            if item.is_empty() {
                return Err(InvalidReceivers::EmptyItem);
            }
            let Ok(id) = item.parse::<UserId>() else { return Err(InvalidReceivers::NotAnId) };
            if !seen.insert(id) {
                return Err(InvalidReceivers::Duplicate(id));
            }
            if ids.len() == Self::MAX {
                return Err(InvalidReceivers::TooMany);
            }
            ids.push(id);
        }
        Ok(Self(ids))
    }

    pub fn ids(&self) -> &[UserId] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0193a5c0-0000-7000-8000-000000000001";
    const B: &str = "0193A5C0-0000-7000-8000-000000000002";

    fn check_parse(text: &str, expected: Result<usize, InvalidReceivers>) {
        assert_eq!(Receivers::parse(text).map(|receivers| receivers.ids().len()), expected, "{text:?}");
    }

    #[test]
    fn blanks_around_commas_are_ignored_and_empty_items_refused() {
        check_parse(A, Ok(1));
        check_parse(&format!(" {A} ,\t{B} "), Ok(2));
        check_parse("", Err(InvalidReceivers::EmptyItem));
        check_parse(",", Err(InvalidReceivers::EmptyItem));
        check_parse(&format!("{A},"), Err(InvalidReceivers::EmptyItem));
        check_parse(&format!("{A},,{B}"), Err(InvalidReceivers::EmptyItem));
    }

    #[test]
    fn malformed_and_duplicate_ids_are_refused() {
        check_parse("x", Err(InvalidReceivers::NotAnId));
        check_parse(&format!("{A} {B}"), Err(InvalidReceivers::NotAnId));
        let duplicate = InvalidReceivers::Duplicate(A.parse().unwrap());
        check_parse(&format!("{A},{}", A.to_uppercase()), Err(duplicate));
        check_parse(&format!("{A},{B},{A},{B}"), Err(duplicate));
        assert_eq!(duplicate.to_string(), format!("must not name a user twice: {A}"));
    }

    #[test]
    fn ten_thousand_are_accepted_and_one_more_refused() {
        let many = |n: u128| {
            let ids: Vec<String> = (1..=n).map(|number| uuid::Uuid::from_u128(number).to_string()).collect();
            ids.join(",")
        };
        check_parse(&many(10_000), Ok(10_000));
        check_parse(&many(10_001), Err(InvalidReceivers::TooMany));
    }
}
