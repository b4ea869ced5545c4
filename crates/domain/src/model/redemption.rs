//! The redemption.

use crate::money::{Amount, Points};
use crate::values::{CompanyId, RedemptionId, Timestamp, UserId};

/// Points that a user spent on a reward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redemption {
    /// Its id.
    pub id: RedemptionId,
    /// In which company.
    pub company_id: CompanyId,
    /// Who redeemed.
    pub user_id: UserId,
    /// How many points: a fact, whatever the rate becomes.
    pub points: Points,
    /// What they were worth, which a refund returns.
    pub amount: Amount,
    /// When.
    pub created_at: Timestamp,
    /// Whether it was refunded.
    pub is_refunded: bool,
}
