//! Redeeming points.

use crate::look_up;
use crate::model::{Act, Cause, Company, Event, Person, Redemption, RedemptionEvent};
use crate::money::{Points, price};
use crate::ports::{
    Accounts, Causes, Context, Locks, Moved, NewEvent, Outbox, Outcome, Payment, ReadAccounts, ReadCompanies,
    ReadProviders, ReadUsers, StoreError,
};
use crate::values::{RedemptionId, UserId};
use crate::wallets::{Account, Reason, WalletType};

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
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Spends points of a user's earned wallet, and tells the company's provider.
pub fn create<T>(
    tx: &mut T,
    user: UserId,
    points: Points,
    context: &Context<'_>,
) -> Result<Redemption, RedeemError>
where
    T: Accounts + Causes + Locks + Outbox + ReadCompanies + ReadProviders + ReadUsers + ?Sized,
{
    let user = look_up::person(tx, user)?.filter(|it| it.active).ok_or(RedeemError::NoSuchUser)?;
    let company = look_up::kept_company(tx, user.company_id)?.ok_or(RedeemError::NoSuchUser)?;
    let price = price(company.rate, points, 1).ok_or(RedeemError::OutOfRange)?;
    if points == Points::ZERO {
        return Err(RedeemError::OutOfRange);
    }
    let cause = context.cause(&company, Act::Redemption { user: user.id, points });
    tx.record(&cause)?;
    let payment = Payment {
        company: company.id,
        cause: cause.id,
        reason: Reason::Redemption,
        rate: company.rate,
        moved: Moved::Price {
            payers: &[Account::Wallet(WalletType::User, user.id)],
            credits: &[Account::Redeemed(company.id)],
            price,
            points,
        },
        at: cause.created_at,
    };
    match tx.pay(&payment)? {
        Outcome::Paid(_) => {}
        Outcome::Insufficient | Outcome::Closed => return Err(RedeemError::InsufficientFunds),
    }
    tell(tx, &company, &cause, points, &user, context)?;
    Ok(Redemption {
        id: RedemptionId::from_uuid(cause.id.as_uuid()),
        company_id: company.id,
        user_id: user.id,
        points,
        amount: price.each,
        created_at: cause.created_at,
        is_refunded: false,
    })
}

fn tell<T: Outbox + ReadAccounts + ReadProviders + ?Sized>(
    tx: &mut T,
    company: &Company,
    cause: &Cause,
    points: Points,
    user: &Person,
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let wallets = tx.wallets(user.id)?;
    let spent = wallets.iter().find(|it| it.wallet_type == WalletType::User);
    let cumulative_points_spent = spent.map_or(Points::ZERO, |it| it.points_spent(company.rate));
    let event = Event::RedemptionCreated(RedemptionEvent { user, points, cumulative_points_spent });
    let addressed = tx.provider(company.provider_id)?.is_some_and(|it| it.callback_url.is_some());
    tx.queue_events(&[NewEvent {
        id: event.id(cause.id),
        company_id: company.id,
        provider_id: company.provider_id,
        kind: event.kind(),
        cause: cause.id,
        body: context.bodies.body(&event)?,
        addressed,
        created_at: cause.created_at,
    }])
}
