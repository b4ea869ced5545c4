//! Points and money: the only conversions between them, and the arithmetic of a payment (behaviour 16).
//!
//! A provider speaks points; the ledger holds nano-dollars, so that a new rate changes what every wallet shows
//! without touching a row. Everything here is integer arithmetic on plain values: an operation that would leave
//! `i64` answers `None`, nothing wraps and nothing panics.
//!
//! * [`Amount`]: nano-dollars. [`Points`]: a count of points, never negative.
//! * [`PointsPerDollar`]: a company's rate, and the conversions both ways. [`Dollars`]: what points are worth, to be shown.
//! * [`Sum`]: an amount as it is asked for, in points or dollars; [`BalanceChange`]: what became of a balance.
//! * [`price`], [`made_up`], [`points_range`]: what a payment costs, and what a payer needs; [`difference`]: what makes a
//!   wallet show other points.
//!
//! Each number reads from and writes to text, and with the feature `serde` to whatever serde knows: an amount as text,
//! points and rates as numbers.

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
pub use funds::{PointsRange, Price, made_up, points_range, price};
pub use invalid::InvalidNumber;
pub use points::Points;
pub use rate::PointsPerDollar;
pub use sum::{BalanceChange, NotWholePoints, Sum};
