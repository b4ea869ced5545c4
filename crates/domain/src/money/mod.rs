//! Points and money: the only conversions between them, and the arithmetic of a payment (behaviour 16).
//!
//! Providers use points; the ledger stores nano-dollars, so that a new rate changes what every wallet shows
//! without changing a row. Everything here is integer arithmetic on plain values: an operation that would
//! overflow `i64` returns `None`; nothing wraps and nothing panics.
//!
//! * [`Amount`]: nano-dollars. [`Points`]: a number of points, never negative.
//! * [`PointsPerDollar`]: a company's rate, and the conversions in both directions. [`Dollars`]: the worth of
//!   points, for display.
//! * [`Sum`]: a requested amount, in points or dollars; [`BalanceChange`]: the change of a balance.
//! * [`price`], [`rounding_shortfall`], [`points_range`]: what a payment costs, and what a payer needs; [`difference`]:
//!   what makes a wallet show other points.
//!
//! Each number converts to and from a string. With the feature `serde` it also serializes: an amount as a
//! string, points and rates as numbers.

mod amount;
mod difference;
mod dollars;
mod funds;
mod invalid;
mod points;
mod rate;
mod sum;

#[cfg(test)]
mod tests;

pub use amount::Amount;
pub use difference::{Difference, OutOfRange, difference};
pub use dollars::Dollars;
pub use funds::{PointsRange, Price, points_range, price, rounding_shortfall};
pub use invalid::InvalidNumber;
pub use points::Points;
pub use rate::PointsPerDollar;
pub use sum::{BalanceChange, NotWholePoints, Sum};
