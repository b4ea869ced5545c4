//! Giving back what was redeemed.

use crate::look_up;
use crate::model::{Act, Redemption};
use crate::money::{Points, Price};
use crate::ports::{
    Accounts, Causes, Context, Locks, Moved, Outcome, Payment, ReadCompanies, ReadUsers, StoreError,
};
use crate::values::RedemptionId;
use crate::wallets::{Account, Reason, WalletType};

/// Why nothing was refunded.
#[derive(Debug, thiserror::Error)]
pub enum RefundError {
    #[error("no redemption has this id")]
    NoSuchRedemption,
    #[error("the redemption has been refunded already")]
    AlreadyRefunded,
    #[error("the user of the redemption has been deleted")]
    UserDeleted,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns what a redemption took, once; answers it and the points that this is at today's rate.
pub fn refund<T>(
    tx: &mut T,
    id: RedemptionId,
    context: &Context<'_>,
) -> Result<(Redemption, Points), RefundError>
where
    T: Accounts + Causes + Locks + ReadCompanies + ReadUsers + ?Sized,
{
    let redemption = tx.redemption(id)?.ok_or(RefundError::NoSuchRedemption)?;
    if redemption.is_refunded {
        return Err(RefundError::AlreadyRefunded);
    }
    look_up::person(tx, redemption.user_id)?.filter(|it| it.active).ok_or(RefundError::UserDeleted)?;
    let company = look_up::kept_company(tx, redemption.company_id)?.ok_or(RefundError::NoSuchRedemption)?;
    let points = company.rate.points(redemption.amount);
    let price = Price::exactly(company.rate, redemption.amount, points)
        .ok_or_else(|| StoreError::Broken("a redemption's amount is out of range".into()))?;
    let cause = context.cause(&company, Act::Refund { redemption: id, points });
    if !tx.record(&cause)? {
        return Err(RefundError::AlreadyRefunded); // by somebody else at this very moment
    }
    let payment = Payment {
        company: company.id,
        cause: cause.id,
        reason: Reason::Refund,
        rate: company.rate,
        moved: Moved::Price {
            payers: &[Account::Redeemed(company.id)],
            credits: &[Account::Wallet(WalletType::User, redemption.user_id)],
            price,
            points,
        },
        at: cause.created_at,
    };
    match tx.pay(&payment)? {
        Outcome::Closed => Err(RefundError::UserDeleted),
        outcome => {
            outcome.certain()?; // what was redeemed is there to be returned
            Ok((Redemption { is_refunded: true, ..redemption }, points))
        }
    }
}
