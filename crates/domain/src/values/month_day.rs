//! Days of the year.

use std::fmt;

use time::{Date, Month};

use super::InvalidValue;

/// A day of the year, written `mm/dd`: a birthday without its year. 02/29 is valid (behaviour 8.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonthDay {
    month: u8,
    day: u8,
}

impl MonthDay {
    /// Parses exactly two digits, a slash and two digits.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        parse_month_day(text).ok_or(InvalidValue("must be a day of the year in the form mm/dd"))
    }
}

impl fmt::Display for MonthDay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:02}/{:02}", self.month, self.day)
    }
}

fn parse_month_day(text: &str) -> Option<MonthDay> {
    let (month, day) = text.split_once('/')?;
    let (month, day) = (two_digits(month)?, two_digits(day)?);
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 29,
        _ => return None,
    };
    (1..=last).contains(&day).then_some(MonthDay { month, day })
}

/// The date; `None` unless its year is between 1 and 9999.
pub(super) fn with_four_digit_year(date: Date) -> Option<Date> {
    (1..=9_999).contains(&date.year()).then_some(date)
}

/// The date that four, two and two ASCII digits represent; `None` if it does not exist.
pub(super) fn date_from_digits(year: &str, month: &str, day: &str) -> Option<Date> {
    let (century, year) = year.split_at_checked(2)?;
    let year = i32::from(two_digits(century)?) * 100 + i32::from(two_digits(year)?);
    let month = Month::try_from(two_digits(month)?).ok()?;
    Date::from_calendar_date(year, month, two_digits(day)?).ok().and_then(with_four_digit_year)
}

/// The number that exactly two ASCII digits represent.
fn two_digits(text: &str) -> Option<u8> {
    let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_birthday_is_a_real_day_of_some_year() {
        let check = |input: &str, expected: bool| {
            let day = MonthDay::parse(input);
            assert_eq!(day.is_ok(), expected, "{input:?}");
            assert!(day.is_err() || day.unwrap().to_string() == input, "{input:?} is changed");
        };
        check("01/01", true);
        check("02/29", true);
        check("04/30", true);
        check("12/31", true);
        check("02/30", false);
        check("04/31", false);
        check("06/31", false);
        check("09/31", false);
        check("11/31", false);
        check("01/32", false);
        check("00/10", false);
        check("13/01", false);
        check("01/00", false);
        check("31/12", false);
        check("1/1", false);
        check("1/01", false);
        check("001/1", false);
        check("01-01", false);
        check("0101", false);
        check("01/01/2020", false);
        check(" 01/01", false);
        check("01/01\n", false);
        check("+1/01", false);
        check("0١/01", false);
        check("٠١/٠١", false);
        check("01\0/01", false);
        check("", false);
        check("/", false);
    }
}
