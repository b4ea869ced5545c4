//! Redemptions.

use super::{StoreError, Timestamp};
use crate::redemptions::Redemption;
use crate::values::RedemptionId;

/// Reading and writing redemptions.
pub trait Redemptions {
    /// The redemption of an id.
    fn redemption(&mut self, id: RedemptionId) -> Result<Option<Redemption>, StoreError>;

    /// Adds a redemption.
    fn insert_redemption(&mut self, redemption: &Redemption) -> Result<(), StoreError>;

    /// Marks a redemption refunded that this transaction holds.
    fn mark_redemption_refunded(&mut self, id: RedemptionId, at: Timestamp) -> Result<(), StoreError>;
}
