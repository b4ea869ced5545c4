//! Taking points out of a reserve.

use super::{DepositError, alert_if_low, shown};
use crate::look_up;
use crate::model::Act;
use crate::money::{Points, price};
use crate::ports::{
    Accounts, Causes, Context, Locks, MailOutbox, Moved, Outcome, Payment, ReadCompanies, ReadUsers,
    StoreError,
};
use crate::values::CompanyId;
use crate::wallets::{Account, Reason};

/// Why nothing was withdrawn.
#[derive(Debug, thiserror::Error)]
pub enum WithdrawError {
    #[error("no company has this id")]
    NoSuchCompany,
    /// The points are none, or too many.
    #[error("points must be at least 1, and a possible amount")]
    OutOfRange,
    /// The reserve does not cover them.
    #[error("Insufficient funds: the reserve holds {} points", .0.get())]
    InsufficientFunds(Points),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<DepositError> for WithdrawError {
    fn from(cause: DepositError) -> Self {
        match cause {
            DepositError::NoSuchCompany => Self::NoSuchCompany,
            DepositError::OutOfRange => Self::OutOfRange,
            DepositError::Store(cause) => Self::Store(cause),
        }
    }
}

/// Takes points out of a reserve, back to where deposits come from; answers what it shows afterwards.
pub fn withdraw<T>(
    tx: &mut T,
    id: CompanyId,
    points: Points,
    context: &Context<'_>,
) -> Result<Points, WithdrawError>
where
    T: Accounts + Causes + Locks + MailOutbox + ReadCompanies + ReadUsers + ?Sized,
{
    let company = look_up::kept_company(tx, id)?.ok_or(WithdrawError::NoSuchCompany)?;
    if points == Points::ZERO {
        return Err(WithdrawError::OutOfRange);
    }
    let price = price(company.rate, points, 1).ok_or(WithdrawError::OutOfRange)?;
    let cause = context.cause(&company, Act::Withdrawal { points });
    tx.record(&cause)?;
    let payment = Payment {
        company: id,
        cause: cause.id,
        reason: Reason::Withdrawal,
        rate: company.rate,
        moved: Moved::Price {
            payers: &[Account::Reserve(id)],
            credits: &[Account::Funding(id)],
            price,
            points,
        },
        at: cause.created_at,
    };
    match tx.pay(&payment)? {
        Outcome::Insufficient => Err(WithdrawError::InsufficientFunds(shown(tx, id)?)),
        outcome => {
            alert_if_low(tx, &company, outcome.certain()?.low, context)?;
            Ok(shown(tx, id)?)
        }
    }
}
