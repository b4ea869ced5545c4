//! A wallet's movements as its owner sees them (behaviour 17.5).

use crate::money::Points;
use crate::values::Timestamp;

/// Why points moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Given or received by a recognition.
    Recognition,
    /// Spent on a reward.
    Redemption,
    /// Given by a distribution.
    PointDistribution,
    /// Returned to the reserve when the user was deleted.
    UserDeleted,
    /// Returned after a failed redemption.
    Refund,
    /// A balance replaced by the operator.
    Override,
    /// Put into a reserve by the operator.
    Deposit,
    /// A fraction of a point made up within the tolerance; in no list.
    Rounding,
}

impl Reason {
    pub const ALL: [Self; 8] = [
        Self::Recognition,
        Self::Redemption,
        Self::PointDistribution,
        Self::UserDeleted,
        Self::Refund,
        Self::Override,
        Self::Deposit,
        Self::Rounding,
    ];

    /// The name at the API (behaviour 17.5); the last two never reach it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recognition => "recognition",
            Self::Redemption => "redemption",
            Self::PointDistribution => "point distribution",
            Self::UserDeleted => "user deleted",
            Self::Refund => "refund",
            Self::Override => "override",
            Self::Deposit => "deposit",
            Self::Rounding => "rounding",
        }
    }

    /// Whether what is moved for this reason counts as spent by who pays.
    pub fn counts_as_spent(self) -> bool {
        matches!(self, Self::Recognition | Self::Redemption | Self::UserDeleted)
    }

    /// The number kept in the database.
    pub fn code(self) -> i16 {
        match self {
            Self::Recognition => 1,
            Self::Redemption => 2,
            Self::PointDistribution => 3,
            Self::UserDeleted => 4,
            Self::Refund => 5,
            Self::Override => 6,
            Self::Deposit => 7,
            Self::Rounding => 8,
        }
    }

    /// The reason of a stored number.
    pub fn from_code(code: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.code() == code)
    }
}

/// Which way points moved, seen from one wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Out of the wallet.
    Debit,
    /// Into the wallet.
    Credit,
}

/// One movement of a wallet. The points are a fact of that time and do not change with the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transaction {
    pub direction: Direction,
    pub points: Points,
    pub reason: Reason,
    pub created_at: Timestamp,
}
