//! Redemptions: a user spends points on a reward, and may get them refunded (behaviour 17.5, 17.7).

mod create;
mod refund;

pub use create::{Redeem, RedeemError};
pub use refund::{Refund, RefundError};

use crate::model::{EntryKind, JournalEntry};
use crate::money::{Amount, Points};
use crate::ports::StoreError;
use crate::values::{RedemptionId, UserId};

pub use crate::model::Redemption;

/// The redemption that a journal entry records; `None` if the entry records another operation.
///
/// # Errors
///
/// If the amount is out of range.
pub fn redemption_of_entry(
    entry: &JournalEntry,
    is_refunded: bool,
) -> Result<Option<Redemption>, StoreError> {
    let EntryKind::Redemption { user, points } = entry.kind else { return Ok(None) };
    let amount = entry.rate.to_amount(points);
    let amount = amount.ok_or_else(|| StoreError::Broken("an amount is out of range".into()))?;
    Ok(Some(new_redemption(entry, user, points, amount, is_refunded)))
}

fn new_redemption(
    entry: &JournalEntry,
    user_id: UserId,
    points: Points,
    amount: Amount,
    is_refunded: bool,
) -> Redemption {
    Redemption {
        id: RedemptionId::from_uuid(entry.id.as_uuid()),
        company_id: entry.company_id,
        user_id,
        points,
        amount,
        created_at: entry.created_at,
        is_refunded,
    }
}
