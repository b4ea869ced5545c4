//! A wallet's movements as its owner sees them (behaviour 17.5).

use crate::money::Points;
use crate::values::{Timestamp, stored};

stored! {
    /// Why points moved, by its name at the API (behaviour 17.5); a rounding never reaches it.
    enum Reason {
        /// Given or received by a recognition.
        Recognition => 1, "recognition";
        /// Spent on a reward.
        Redemption => 2, "redemption";
        /// Given by a distribution.
        PointDistribution => 3, "point distribution";
        /// Returned to the reserve when the user was deleted.
        UserDeleted => 4, "user deleted";
        /// Returned after a failed redemption.
        Refund => 5, "refund";
        /// A balance replaced by the operator.
        Override => 6, "override";
        /// Put into a reserve by the operator.
        Deposit => 7, "deposit";
        /// A fraction of a point made up within the tolerance; in no list.
        Rounding => 8, "rounding";
        /// Taken out of a reserve by the operator.
        Withdrawal => 9, "withdrawal";
    }
}

impl Reason {
    /// Whether what is moved for this reason counts as spent by who pays.
    pub fn counts_as_spent(self) -> bool {
        matches!(self, Self::Recognition | Self::Redemption | Self::UserDeleted)
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
