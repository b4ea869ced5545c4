//! Points and money: the only conversions between them, and the arithmetic of a payment (behaviour 16).
//!
//! Providers use points; the ledger stores nano-dollars, so that a new rate changes what every wallet shows
//! without changing a row. Everything here is integer arithmetic on plain values: an operation that would
//! overflow `i64` returns `None`; nothing wraps and nothing panics.
//!
//! * [`Amount`]: nano-dollars. [`Points`]: a number of points, never negative.
//! * [`PointsPerDollar`]: a company's rate, and the conversions in both directions. [`Dollars`]: the value of
//!   points, for display.
//! * [`Sum`]: a requested amount, in points or dollars; [`BalanceChange`]: the change of a balance.
//! * [`payment_price`], [`rounding_shortfall`], [`points_range`]: what a payment costs, and what a payer
//!   needs; [`balance_difference`]: the transfer that makes a wallet show a different number of points.
//!
//! Each number converts to and from a string. With the feature `serde` it also serializes: an amount as a
//! string, points and rates as numbers.

mod amount;
mod balance_difference;
mod dollars;
mod funds;
mod invalid_number;
mod points;
mod rate;
mod sum;
mod whole_number;

#[cfg(test)]
mod tests;

pub use amount::Amount;
pub use balance_difference::{BalanceDifference, OutOfRange, balance_difference};
pub use dollars::Dollars;
pub use funds::{PointsRange, Price, payment_price, points_range, rounding_shortfall};
pub use invalid_number::InvalidNumber;
pub use points::Points;
pub use rate::PointsPerDollar;
pub use sum::{BalanceChange, NotWholePoints, Sum};
