//! Redemptions.

use crate::money::{Amount, Points};
use crate::values::{CompanyId, RedemptionId, Timestamp, UserId};

/// Points that a user spent on a reward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redemption {
    pub id: RedemptionId,
    pub company_id: CompanyId,
    pub user_id: UserId,
    /// The redeemed points, which do not change with the rate.
    pub points: Points,
    /// The amount that they were worth, which a refund returns.
    pub amount: Amount,
    pub created_at: Timestamp,
    pub is_refunded: bool,
}
