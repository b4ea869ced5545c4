//! An event about a redemption.

use super::Person;
use crate::money::Points;

/// A redemption as an event tells it.
#[derive(Debug, Clone)]
pub struct RedemptionEvent<'a> {
    pub user: &'a Person,
    /// The points of this redemption.
    pub points: Points,
    /// What the user has redeemed in all, at today's rate.
    pub cumulative_points_spent: Points,
}
