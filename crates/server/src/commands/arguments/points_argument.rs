//! A number of points, given in points or in dollars.

use guerdon_console::numbers;
use guerdon_domain::money::{self, Amount, Dollars, Points, PointsPerDollar};
use serde::{Deserialize, Serialize};

use crate::commands::CommandError;

/// `--points POINTS` or `--dollars DOLLARS`.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[group(required = true, multiple = false)]
pub(crate) struct PointsArgument {
    /// Number of points
    #[arg(long, value_name = "POINTS", allow_negative_numbers = true, value_parser = parse_points)]
    points: Option<i64>,
    /// Amount in dollars, such as 12.50; must be a whole number of points at the company's rate
    #[arg(long, value_name = "DOLLARS", allow_negative_numbers = true, value_parser = check_dollars)]
    dollars: Option<String>,
}

impl PointsArgument {
    /// Parses the sum. Whether an amount in dollars is a whole number of points is checked later, at the company's
    /// rate.
    pub(crate) fn to_sum(&self) -> Result<money::Sum, CommandError> {
        match (&self.dollars, self.points) {
            (Some(text), _) => parse_dollars(text)
                .map(money::Sum::Dollars)
                .ok_or_else(|| CommandError::refused(DOLLARS_FORMAT_ERROR)),
            (None, points) => {
                let points = points.and_then(Points::new);
                points.map(money::Sum::Points).ok_or_else(|| CommandError::refused(POINTS_FORMAT_ERROR))
            }
        }
    }
}

const POINTS_FORMAT_ERROR: &str =
    "must be a whole number of points, such as 500: no sign, no comma, no decimals";
const DOLLARS_FORMAT_ERROR: &str = "must be an amount in dollars, such as 12.50: no sign, no comma";

/// Parses points as they are written on a command line: digits only.
pub(crate) fn parse_points(text: &str) -> Result<i64, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        _ if !is_number => Err(POINTS_FORMAT_ERROR.to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("is too large".to_owned()),
    }
}

fn check_dollars(text: &str) -> Result<String, String> {
    parse_dollars(text).map(|_| text.to_owned()).ok_or_else(|| DOLLARS_FORMAT_ERROR.to_owned())
}

fn parse_dollars(text: &str) -> Option<Amount> {
    text.parse().ok().filter(|_| !text.starts_with('-'))
}

/// Formats points with their value in dollars: `1,250 points ($25.00)`.
pub(crate) fn format_worth(points: Points, rate: PointsPerDollar) -> String {
    format!("{} (${})", points.to_text(), format_dollars(points, rate))
}

/// Formats the value of points in dollars: `1,234.50`.
pub(crate) fn format_dollars(points: Points, rate: PointsPerDollar) -> String {
    let exact = Dollars::from_points(points, rate).to_string();
    let (whole, cents) = exact.split_once('.').unwrap_or((&exact, "00"));
    match whole.parse() {
        Ok(whole) => format!("{}.{cents}", numbers::format_integer(whole)),
        Err(_not_a_number) => exact,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_must_be_whole_points() {
        let check = |text: &str, rate: i64, expected: Option<i64>| {
            let sum = PointsArgument { points: None, dollars: Some(text.to_owned()) }.to_sum().unwrap();
            let points = sum.to_points(PointsPerDollar::new(rate).unwrap());
            assert_eq!(points.ok().map(Points::get), expected, "{text} at {rate}");
        };
        check("1", 50, Some(50));
        check("12.50", 50, Some(625));
        check("0.02", 50, Some(1));
        check("0.01", 50, None);
        check("0.333333333", 3, None);
        check("9223372036", 1, Some(9_223_372_036));
        for wrong in ["", ".5", "5.", "-1", "+1", "1,000", "1e3", "0.0000000001", "$5", "1.2.3", "9223372037"]
        {
            assert!(check_dollars(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sums_are_shown_with_separators_and_nouns() {
        let check = |points, expected: &str| {
            assert_eq!(format_worth(Points::new(points).unwrap(), PointsPerDollar::DEFAULT), expected);
        };
        check(0, "0 points ($0.00)");
        check(1, "1 point ($0.02)");
        check(49_999, "49,999 points ($999.98)");
        check(5_000_000, "5,000,000 points ($100,000.00)");
        check(61_728_394_500, "61,728,394,500 points ($1,234,567,890.00)");
    }

    #[test]
    fn points_are_plain_whole_numbers() {
        assert_eq!(parse_points("500"), Ok(500));
        for wrong in ["-5", "1,000", "5.0", "", "+5", "ten"] {
            assert!(parse_points(wrong).unwrap_err().contains("no comma"), "{wrong}");
        }
        assert!(parse_points("99999999999999999999").unwrap_err().contains("too large"));
    }
}
