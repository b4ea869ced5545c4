//! The reason and the direction of an account entry (behaviour 17.5).

use crate::values::stored_enum;

stored_enum! {
    /// The reason why points moved, by its name in the API (behaviour 17.5). The API never lists roundings.
    enum Reason {
        /// Paid or received by a recognition.
        Recognition => 1, "recognition";
        /// Spent on a reward.
        Redemption => 2, "redemption";
        /// Paid by a distribution.
        PointDistribution => 3, "point distribution";
        /// Returned to the reserve because the user was deleted.
        UserDeleted => 4, "user deleted";
        /// Returned after a failed redemption.
        Refund => 5, "refund";
        /// A balance replaced by the operator.
        Override => 6, "override";
        /// Deposited to a reserve by the operator.
        Deposit => 7, "deposit";
        /// A fraction of a point added within the tolerance; never listed.
        Rounding => 8, "rounding";
        /// Withdrawn from a reserve by the operator.
        Withdrawal => 9, "withdrawal";
    }
}

impl Reason {
    /// Whether a movement for this reason counts as spent by the payer.
    pub fn counts_as_spent(self) -> bool {
        matches!(self, Self::Recognition | Self::Redemption | Self::UserDeleted)
    }
}

stored_enum! {
    /// The direction of a transfer, seen from an account. No table stores it: the queries of an account's history
    /// return its number.
    enum Direction {
        /// Out of the account.
        Debit => 0, "debit";
        /// Into the account.
        Credit => 1, "credit";
    }
}
