//! Dates of schedules.

use std::fmt;

use time::Date;

use super::month_day::{date_from_digits, with_four_digit_year};
use super::{InvalidValue, Timestamp};

const INVALID_DATE: InvalidValue = InvalidValue("must be a date in the form yyyy-mm-dd");

/// A valid date in the years 1 to 9999, written `yyyy-mm-dd`, so that dates sort like their strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IsoDate(Date);

impl IsoDate {
    /// Parses exactly four, two and two digits separated by hyphens.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        parse_date(text).map(Self).ok_or(INVALID_DATE)
    }

    /// Converts a date. Years beyond four digits are refused.
    pub fn from_date(date: Date) -> Result<Self, InvalidValue> {
        with_four_digit_year(date).map(Self).ok_or(INVALID_DATE)
    }

    /// Midnight in UTC at the start of the date.
    pub fn start_of_day(self) -> Timestamp {
        Timestamp::new(self.0.midnight().assume_utc())
    }

    pub const fn to_date(self) -> Date {
        self.0
    }
}

impl fmt::Display for IsoDate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:04}-{:02}-{:02}", self.0.year(), u8::from(self.0.month()), self.0.day())
    }
}

fn parse_date(text: &str) -> Option<Date> {
    let (year, rest) = text.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    date_from_digits(year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_real_and_written_in_full() {
        let check = |input: &str, expected: bool| {
            let date = IsoDate::parse(input);
            assert_eq!(date.is_ok(), expected, "{input:?}");
            assert!(date.is_err() || date.unwrap().to_string() == input, "{input:?} is changed");
        };
        check("2026-11-20", true);
        check("2028-02-29", true);
        check("2026-02-29", false);
        check("2026-2-9", false);
        check("0000-01-01", false);
        check("2026/11/20", false);
        check("20261120", false);
        check("", false);
    }
}
