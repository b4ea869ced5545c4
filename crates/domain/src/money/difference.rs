//! What makes a wallet show other points than it does.

use super::{Amount, Points, PointsPerDollar, Price};

/// A movement between a wallet and the reserve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// What is moved, which is an exact amount, and what who pays must hold.
    pub price: Price,
    /// The points by which what is shown changes.
    pub points: Points,
    /// Whether the wallet pays.
    pub out: bool,
}

/// What makes a wallet that holds `held` show `points`: `Ok(None)` where it does already, `Err` where a figure overflows.
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

/// A figure that no [`Amount`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the amount is out of range")]
pub struct OutOfRange;
