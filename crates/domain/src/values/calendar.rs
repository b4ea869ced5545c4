//! Calendar dates.

use std::fmt;

use time::Date;

use super::InvalidValue;
use super::month_day::date_from_digits;

const INVALID_DATE: InvalidValue = InvalidValue("must be a date in the form mm/dd/yyyy");

/// A valid date in the years 1 to 9999, written `mm/dd/yyyy`, such as a first day of work (behaviour 8.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CalendarDate(Date);

impl CalendarDate {
    /// Parses exactly two, two and four digits separated by slashes.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        parse_date(text).map(Self).ok_or(INVALID_DATE)
    }
}

impl fmt::Display for CalendarDate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:02}/{:02}/{:04}", u8::from(self.0.month()), self.0.day(), self.0.year())
    }
}

fn parse_date(text: &str) -> Option<Date> {
    let (month, rest) = text.split_once('/')?;
    let (day, year) = rest.split_once('/')?;
    date_from_digits(year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_start_date_is_a_real_date() {
        let check = |input: &str, expected: bool| {
            let date = CalendarDate::parse(input);
            assert_eq!(date.is_ok(), expected, "{input:?}");
            assert!(date.is_err() || date.unwrap().to_string() == input, "{input:?} is changed");
        };
        check("01/13/2020", true);
        check("02/29/2020", true);
        check("02/29/2000", true);
        check("12/31/9999", true);
        check("01/01/0001", true);
        check("02/29/2019", false);
        check("02/29/1900", false);
        check("02/30/2020", false);
        check("04/31/2020", false);
        check("13/01/2020", false);
        check("00/01/2020", false);
        check("01/00/2020", false);
        check("01/01/0000", false);
        check("1/1/2020", false);
        check("01/01/20", false);
        check("01/01/20200", false);
        check("01/01/-200", false);
        check("01/01/+020", false);
        check("2020-01-13", false);
        check("01/13", false);
        check("01/13/2020/", false);
        check("01/13/2020 ", false);
        check("01/13/2020\0", false);
        check("01/13/٢٠٢٠", false);
        check("01/13/2é0", false);
        check("", false);
        check("//", false);
    }
}
