//! Putting points into a reserve.

use crate::look_up;
use crate::model::Act;
use crate::money::{Amount, Points, price};
use crate::ports::{
    Accounts, Causes, Context, Locks, Moved, Outcome, Payment, ReadAccounts, ReadCompanies, StoreError,
};
use crate::values::CompanyId;
use crate::wallets::{Account, Reason};

/// What a company may have been given in all: nine billion dollars, which leaves 64 bits room for what rounding adds.
pub const FUNDED_MAX: Amount = Amount::from_nanodollars(9_000_000_000_000_000_000);

/// Why nothing was deposited or shown.
#[derive(Debug, thiserror::Error)]
pub enum DepositError {
    #[error("no company has this id")]
    NoSuchCompany,
    /// The points are none, or more than a company may ever have deposited.
    #[error("points must be at least 1, and a company's deposits at most nine billion dollars in all")]
    OutOfRange,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The points that a company's reserve shows.
pub fn shown<R: ReadAccounts + ReadCompanies + ?Sized>(
    reads: &mut R,
    id: CompanyId,
) -> Result<Points, DepositError> {
    let company = look_up::company(reads, id)?.ok_or(DepositError::NoSuchCompany)?;
    let balance = reads.balance(Account::Reserve(id))?.unwrap_or_default();
    Ok(company.rate.points(balance))
}

/// Deposits points from outside; answers what the reserve shows afterwards.
pub fn deposit<T>(
    tx: &mut T,
    id: CompanyId,
    points: Points,
    context: &Context<'_>,
) -> Result<Points, DepositError>
where
    T: Accounts + Causes + Locks + ReadCompanies + ?Sized,
{
    let company = look_up::kept_company(tx, id)?.ok_or(DepositError::NoSuchCompany)?;
    if points == Points::ZERO {
        return Err(DepositError::OutOfRange);
    }
    let price = price(company.rate, points, 1).and_then(|it| it.on_credit(FUNDED_MAX));
    let price = price.ok_or(DepositError::OutOfRange)?;
    let cause = context.cause(&company, Act::Deposit { points });
    tx.record(&cause)?;
    let payment = Payment {
        company: id,
        cause: cause.id,
        reason: Reason::Deposit,
        rate: company.rate,
        moved: Moved::Price {
            payers: &[Account::Funding(id)],
            credits: &[Account::Reserve(id)],
            price,
            points,
        },
        at: cause.created_at,
    };
    match tx.pay(&payment)? {
        Outcome::Insufficient => Err(DepositError::OutOfRange),
        outcome => {
            outcome.certain()?; // a reserve never closes
            shown(tx, id)
        }
    }
}
