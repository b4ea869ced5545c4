//! Computes the transfer that makes a wallet show a different number of points.

use super::{Amount, Points, PointsPerDollar, Price};

/// A transfer between a wallet and the reserve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BalanceDifference {
    /// The exact amount to move, and the balance that the payer must have.
    pub price: Price,
    /// The difference in shown points.
    pub points: Points,
    /// Whether the wallet pays.
    pub wallet_pays: bool,
}

/// Computes the transfer after which a wallet with the balance `held` shows `points`. `Ok(None)` if the
/// wallet already shows them, `Err` on overflow.
pub fn balance_difference(
    rate: PointsPerDollar,
    held: Amount,
    points: Points,
) -> Result<Option<BalanceDifference>, OutOfRange> {
    let shown = rate.shown_points(held);
    if shown == points {
        return Ok(None);
    }
    let target = rate.to_amount(points).ok_or(OutOfRange)?;
    let wallet_pays = points < shown;
    let amount = if wallet_pays { held.checked_sub(target) } else { target.checked_sub(held) };
    let amount = amount.ok_or(OutOfRange)?;
    let points_moved =
        Points::new(points.get().abs_diff(shown.get()).try_into().unwrap_or(i64::MAX)).ok_or(OutOfRange)?;
    let price = Price::for_exact_amount(rate, amount, points_moved).ok_or(OutOfRange)?;
    Ok(Some(BalanceDifference { price, points: points_moved, wallet_pays }))
}

/// The result does not fit in an [`Amount`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the amount is out of range")]
pub struct OutOfRange;
