//! Dollars, for display.

use std::fmt;

use super::rate::divide_half_even;
use super::{Points, PointsPerDollar};

/// The value of points in dollars and whole cents, rounded half to even. For display, never for calculations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dollars {
    cents: i128,
}

impl Dollars {
    /// The value of points at a rate.
    pub fn from_points(points: Points, rate: PointsPerDollar) -> Self {
        Self { cents: divide_half_even(i128::from(points.get()) * 100, i128::from(rate.get())) }
    }
}

impl fmt::Display for Dollars {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{:02}", self.cents / 100, self.cents % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_cent_is_rounded_to_even() {
        let check = |points, rate, expected: &str| {
            let dollars =
                Dollars::from_points(Points::new(points).unwrap(), PointsPerDollar::new(rate).unwrap());
            assert_eq!(dollars.to_string(), expected, "{points} at {rate}");
        };
        check(0, 50, "0.00");
        check(1, 50, "0.02");
        check(617, 50, "12.34");
        check(1, 200, "0.00");
        check(3, 200, "0.02");
        check(5, 200, "0.02");
        check(7, 200, "0.04");
        check(1, 3, "0.33");
        check(2, 3, "0.67");
        check(i64::MAX, 1, "9223372036854775807.00");
    }
}
