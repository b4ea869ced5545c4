//! Computes the transfer that makes a wallet show other points.

use super::{Amount, Points, PointsPerDollar, Price};

/// A transfer between a wallet and the reserve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// The exact amount that is moved, and what the payer must hold.
    pub price: Price,
    /// The difference in shown points.
    pub points: Points,
    /// Whether the wallet pays.
    pub out: bool,
}

/// The transfer that makes a wallet that holds `held` show `points`. `Ok(None)` if it already shows them,
/// `Err` on overflow.
pub fn difference(
    rate: PointsPerDollar,
    held: Amount,
    points: Points,
) -> Result<Option<Difference>, OutOfRange> {
    let shown = rate.points(held);
    if shown == points {
        return Ok(None);
    }
    let wanted = rate.amount(points).ok_or(OutOfRange)?;
    let out = points < shown;
    let amount = if out { held.checked_sub(wanted) } else { wanted.checked_sub(held) };
    let amount = amount.ok_or(OutOfRange)?;
    let by =
        Points::new(points.get().abs_diff(shown.get()).try_into().unwrap_or(i64::MAX)).ok_or(OutOfRange)?;
    let price = Price::exactly(rate, amount, by).ok_or(OutOfRange)?;
    Ok(Some(Difference { price, points: by, out }))
}

/// A number that no [`Amount`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the amount is out of range")]
pub struct OutOfRange;
