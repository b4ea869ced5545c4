//! Sums in points or dollars, and changes of balances.

use super::{Amount, Points, PointsPerDollar};

/// An amount to move, in points or dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sum {
    Points(Points),
    /// Dollars that must be a whole number of points at the company's rate.
    Dollars(Amount),
}

/// An amount in dollars is not a whole number of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} dollars are not a whole number of points at {rate} points per dollar", rate = .1.get())]
pub struct NotWholePoints(pub Amount, pub PointsPerDollar);

impl Sum {
    /// The points at a rate.
    ///
    /// # Errors
    ///
    /// For dollars that are not a whole number of points.
    pub fn to_points(self, rate: PointsPerDollar) -> Result<Points, NotWholePoints> {
        match self {
            Self::Points(points) => Ok(points),
            Self::Dollars(amount) => rate.to_whole_points(amount).ok_or(NotWholePoints(amount, rate)),
        }
    }
}

/// How a command changed what an account shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BalanceChange {
    pub rate: PointsPerDollar,
    /// The points in the command.
    pub points: Points,
    /// The points that the account shows before and after the command.
    pub before: Points,
    pub after: Points,
}
