//! Redeeming points.

use super::Redemption;
use crate::companies;
use crate::events::RedemptionEvent;
use crate::money::{Points, PointsPerDollar, price};
use crate::ports::{Context, EventKind, NewEvent, Outcome, Payment, Row, StoreError, Tx};
use crate::users::{Person, for_operator};
use crate::values::{EventId, ProviderId, RedemptionId, TransferId, UserId};
use crate::wallets::{Account, Credit, Reason, WalletType};

/// Why nothing was redeemed.
#[derive(Debug, thiserror::Error)]
pub enum RedeemError {
    /// There is no such active user.
    #[error("no active user has this id")]
    NoSuchUser,
    /// The points are none, or too many.
    #[error("points must be at least 1, and a possible amount")]
    OutOfRange,
    /// The user wallet does not cover them.
    #[error("Insufficient funds")]
    InsufficientFunds,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Spends points of a user's earned wallet, and tells the company's provider.
pub fn create(
    tx: &mut dyn Tx,
    user: UserId,
    points: Points,
    context: &Context<'_>,
) -> Result<Redemption, RedeemError> {
    let user = for_operator(tx, user)?.filter(|it| it.active).ok_or(RedeemError::NoSuchUser)?;
    let company = companies::for_operator(tx, user.company_id)?.ok_or(RedeemError::NoSuchUser)?;
    let price = price(company.rate, points, 1).ok_or(RedeemError::OutOfRange)?;
    if points == Points::ZERO {
        return Err(RedeemError::OutOfRange);
    }
    let redemption = Redemption {
        id: RedemptionId::from_uuid(context.ids.next()),
        company_id: company.id,
        user_id: user.id,
        points,
        amount: price.each,
        created_at: context.clock.now(),
        refunded_at: None,
    };
    tx.insert_redemption(&redemption)?;
    // The account that is credited is everybody's, and comes after the wallets in the order of locks.
    let wallet = Account::Wallet(WalletType::User, user.id);
    tx.hold(Row::Account(wallet))?;
    let payment = Payment {
        company: company.id,
        payers: &[wallet],
        credits: &[Credit {
            to: Account::Redeemed(company.id),
            transfer: TransferId::from_uuid(context.ids.next()),
            cause: Some(redemption.id.as_uuid()),
        }],
        price,
        points,
        rate: company.rate,
        reason: Reason::Redemption,
        counts_as_spent: true,
        rounding: TransferId::from_uuid(context.ids.next()),
        at: redemption.created_at,
    };
    match tx.post(&[payment])?.pop() {
        Some(Outcome::Paid { .. }) => {}
        Some(Outcome::Insufficient | Outcome::ReceiverClosed) | None => {
            return Err(RedeemError::InsufficientFunds);
        }
    }
    tell(tx, company.provider_id, company.rate, &redemption, &user, context)?;
    Ok(redemption)
}

fn tell(
    tx: &mut dyn Tx,
    provider_id: ProviderId,
    rate: PointsPerDollar,
    redemption: &Redemption,
    user: &Person,
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let wallets = tx.wallets(user.id)?;
    let spent = wallets.iter().find(|it| it.wallet_type == WalletType::User);
    let cumulative_points_spent = spent.map_or(Points::ZERO, |it| it.points_spent(rate));
    let event = RedemptionEvent { user, points: redemption.points, cumulative_points_spent };
    let addressed = tx.provider(provider_id)?.is_some_and(|it| it.callback_url.is_some());
    tx.queue_events(&[NewEvent {
        id: EventId::from_uuid(context.ids.next()),
        provider_id,
        kind: EventKind::RedemptionCreated,
        cause: redemption.id.as_uuid(),
        body: context.bodies.redemption(&event),
        addressed,
        created_at: redemption.created_at,
    }])
}
