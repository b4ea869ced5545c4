//! Replacing what a wallet holds, for the operator: an override (behaviour 17.7).

use crate::look_up;
use crate::model::Act;
use crate::money::Points;
use crate::ports::{
    Accounts, Causes, Context, Locks, MailOutbox, Moved, Outcome, Payment, ReadCompanies, ReadUsers,
    StoreError,
};
use crate::reserve;
use crate::values::UserId;
use crate::wallets::{Account, Reason, WalletType};

/// Why a wallet was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    /// There is no such active user.
    #[error("no active user has this id")]
    NoSuchUser,
    /// The user lacks the wallet.
    #[error("the user has no such wallet")]
    NoSuchWallet,
    /// The points are too many.
    #[error("points must be a possible amount")]
    OutOfRange,
    /// The reserve does not cover the difference.
    #[error("Insufficient funds")]
    InsufficientFunds,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes a wallet show so many points: the difference comes from the company's reserve, or goes there. A wallet that
/// shows them already stays as it is.
pub fn replace<T>(
    tx: &mut T,
    user: UserId,
    wallet: WalletType,
    points: Points,
    context: &Context<'_>,
) -> Result<(), ReplaceError>
where
    T: Accounts + Causes + Locks + MailOutbox + ReadCompanies + ReadUsers + ?Sized,
{
    let found = look_up::person(tx, user)?.filter(|it| it.active).ok_or(ReplaceError::NoSuchUser)?;
    let company = look_up::kept_company(tx, found.company_id)?.ok_or(ReplaceError::NoSuchUser)?;
    company.rate.amount(points).ok_or(ReplaceError::OutOfRange)?;
    let cause = context.cause(&company, Act::Override { user, wallet, points });
    let payment = Payment {
        company: company.id,
        cause: cause.id,
        reason: Reason::Override,
        rate: company.rate,
        moved: Moved::Difference {
            wallet: Account::Wallet(wallet, user),
            reserve: Account::Reserve(company.id),
            points,
        },
        at: cause.created_at,
    };
    let paid = match tx.pay(&payment)? {
        Outcome::Paid(paid) => paid,
        Outcome::Insufficient => return Err(ReplaceError::InsufficientFunds),
        Outcome::Closed => return Err(ReplaceError::NoSuchWallet),
    };
    if paid.transfers > 0 {
        tx.record(&cause)?;
    }
    Ok(reserve::alert_if_low(tx, &company, paid.low, context)?)
}
