//! Amounts of money.

use std::fmt;
use std::str::FromStr;

use super::InvalidNumber;

pub(super) const NANODOLLARS_PER_DOLLAR: i64 = 1_000_000_000;
const EXPECTED: &str = "dollars with at most nine decimals, such as 2.50";
const DECIMALS: usize = 9;

/// An amount of money in nano-dollars (10⁻⁷ US cent). Only outside accounts can have a negative balance
/// (behaviour 16.6).
///
/// The unit is so small that a point is a whole number of nano-dollars for every rate that divides 10⁹. The
/// string form is in dollars with two to nine decimals: `2.50`. Arithmetic is checked and returns `None` if
/// `i64` overflows, at about 9.2 billion dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "String", into = "String")
)]
pub struct Amount(i64);

impl Amount {
    pub const ZERO: Self = Self(0);

    /// The largest amount.
    pub const MAX: Self = Self(i64::MAX);

    /// Converts from nano-dollars.
    pub const fn from_nanodollars(nanodollars: i64) -> Self {
        Self(nanodollars)
    }

    /// The number of nano-dollars.
    pub const fn nanodollars(self) -> i64 {
        self.0
    }

    /// The sum, or `None` on overflow.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The difference, which may be negative, or `None` on overflow.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// The amount multiplied by `count`, or `None` on overflow.
    pub fn checked_mul(self, count: i64) -> Option<Self> {
        self.0.checked_mul(count).map(Self)
    }

    /// Whether the amount is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Whether the amount is less than zero.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = NANODOLLARS_PER_DOLLAR.unsigned_abs();
        let (dollars, rest) = (self.0.unsigned_abs() / unit, self.0.unsigned_abs() % unit);
        let decimals = format!("{rest:09}");
        let shown = format!("{dollars}.{:0<2}", decimals.trim_end_matches('0'));
        formatter.pad_integral(!self.is_negative(), "", &shown)
    }
}

impl FromStr for Amount {
    type Err = InvalidNumber;

    fn from_str(text: &str) -> Result<Self, InvalidNumber> {
        parse_nanodollars(text).map(Self).ok_or_else(|| InvalidNumber::new(text, EXPECTED))
    }
}

fn parse_nanodollars(text: &str) -> Option<i64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (dollars, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(dollars) || !is_number(decimals) || decimals.len() > DECIMALS {
        return None;
    }
    let all: i128 = format!("{dollars}{decimals:0<DECIMALS$}").parse().ok()?;
    i64::try_from(sign * all).ok()
}

impl TryFrom<String> for Amount {
    type Error = InvalidNumber;

    fn try_from(text: String) -> Result<Self, InvalidNumber> {
        text.parse()
    }
}

impl From<Amount> for String {
    fn from(amount: Amount) -> Self {
        amount.to_string()
    }
}
