//! Numbers of points.

use super::InvalidNumber;
use super::whole_number::whole_number;

/// A number of points, never negative: what providers send and see (behaviour 16.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "i64", into = "i64")
)]
pub struct Points(i64);

impl Points {
    pub const ZERO: Self = Self(0);

    /// A number of points, or `None` if it is negative.
    pub const fn new(count: i64) -> Option<Self> {
        if count < 0 { None } else { Some(Self(count)) }
    }

    pub const fn get(self) -> i64 {
        self.0
    }

    /// For people, with thousands separators: `1 point`, `15,000 points`.
    pub fn to_text(self) -> String {
        let digits = self.0.to_string();
        let mut text = String::new();
        for (place, digit) in (0..digits.len()).rev().zip(digits.chars()) {
            text.push(digit);
            if place > 0 && place % 3 == 0 {
                text.push(',');
            }
        }
        text + if self.0 == 1 { " point" } else { " points" }
    }

    /// The sum, or `None` on overflow.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The points multiplied by `count`, or `None` on overflow or for a negative `count`.
    pub fn checked_mul(self, count: i64) -> Option<Self> {
        if count < 0 { None } else { self.0.checked_mul(count).map(Self) }
    }
}

whole_number!(Points, "a whole number of points, at least 0");
