//! Giving back what was redeemed.

use super::Redemption;
use crate::companies;
use crate::money::{Points, Price};
use crate::ports::{Context, Outcome, Payment, Row, StoreError, Tx};
use crate::users::for_operator;
use crate::values::{RedemptionId, TransferId};
use crate::wallets::{Account, Credit, Reason, WalletType};

/// Why nothing was refunded.
#[derive(Debug, thiserror::Error)]
pub enum RefundError {
    /// There is no such redemption.
    #[error("no redemption has this id")]
    NoSuchRedemption,
    /// It was refunded before.
    #[error("the redemption has been refunded already")]
    AlreadyRefunded,
    /// The user was deleted.
    #[error("the user of the redemption has been deleted")]
    UserDeleted,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns what a redemption took, once; answers it and the points that this is at today's rate.
pub fn refund(
    tx: &mut dyn Tx,
    id: RedemptionId,
    context: &Context<'_>,
) -> Result<(Redemption, Points), RefundError> {
    tx.hold(Row::Redemption(id))?;
    let mut redemption = tx.redemption(id)?.ok_or(RefundError::NoSuchRedemption)?;
    if redemption.refunded_at.is_some() {
        return Err(RefundError::AlreadyRefunded);
    }
    for_operator(tx, redemption.user_id)?.filter(|it| it.active).ok_or(RefundError::UserDeleted)?;
    let company = companies::for_operator(tx, redemption.company_id)?.ok_or(RefundError::NoSuchRedemption)?;
    let now = context.clock.now();
    redemption.refunded_at = Some(now);
    tx.mark_redemption_refunded(id, now)?;
    let points = company.rate.points(redemption.amount);
    let price = Price::exactly(company.rate, redemption.amount, points)
        .ok_or_else(|| StoreError::Broken("a redemption's amount is out of range".into()))?;
    let payment = Payment {
        company: company.id,
        payers: &[Account::Redeemed(company.id)],
        credits: &[Credit {
            to: Account::Wallet(WalletType::User, redemption.user_id),
            transfer: TransferId::from_uuid(context.ids.next()),
            cause: Some(id.as_uuid()),
        }],
        price,
        points,
        rate: company.rate,
        reason: Reason::Refund,
        counts_as_spent: false,
        rounding: TransferId::from_uuid(context.ids.next()),
        at: now,
    };
    match tx.post(&[payment])?.pop() {
        Some(Outcome::Paid { .. }) => Ok((redemption, points)),
        Some(Outcome::Insufficient | Outcome::ReceiverClosed) | None => Err(RefundError::UserDeleted),
    }
}
