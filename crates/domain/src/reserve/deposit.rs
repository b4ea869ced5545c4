//! Putting points into a reserve.

use crate::money::{Points, price};
use crate::ports::{Context, Outcome, Payment, Reads, StoreError, Tx};
use crate::values::{CompanyId, TransferId};
use crate::wallets::{Account, Credit, Reason};

/// Why nothing was deposited or shown.
#[derive(Debug, thiserror::Error)]
pub enum DepositError {
    /// There is no such company.
    #[error("no company has this id")]
    NoSuchCompany,
    /// The points are none, or more than a reserve can hold.
    #[error("points must be between 1 and what the reserve can still hold")]
    OutOfRange,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The points that a company's reserve shows.
pub fn shown(reads: &mut dyn Reads, id: CompanyId) -> Result<Points, DepositError> {
    let scope = reads.provider_of_company(id)?.ok_or(DepositError::NoSuchCompany)?;
    let found = reads.company(scope, id)?.named("id").map_err(|_denied| DepositError::NoSuchCompany)?;
    let balance = reads.balance(Account::Reserve(id))?.unwrap_or_default();
    Ok(found.company.rate.points(balance))
}

/// Deposits points from outside; answers what the reserve shows afterwards.
pub fn deposit(
    tx: &mut dyn Tx,
    id: CompanyId,
    points: Points,
    context: &Context<'_>,
) -> Result<Points, DepositError> {
    let scope = tx.provider_of_company(id)?.ok_or(DepositError::NoSuchCompany)?;
    let company = tx.company(scope, id)?.named("id").map_err(|_denied| DepositError::NoSuchCompany)?.company;
    let price = price(company.rate, points, 1).ok_or(DepositError::OutOfRange)?;
    let held = tx.balance(Account::Reserve(id))?.unwrap_or_default();
    if points == Points::ZERO || held.checked_add(price.total).is_none() {
        return Err(DepositError::OutOfRange);
    }
    let transfer = TransferId::from_uuid(context.ids.next());
    let payment = Payment {
        company: id,
        payers: &[Account::Funding(id)],
        credits: &[Credit { to: Account::Reserve(id), transfer, cause: None }],
        price,
        points,
        rate: company.rate,
        reason: Reason::Deposit,
        counts_as_spent: false,
        rounding: TransferId::from_uuid(context.ids.next()),
        at: context.clock.now(),
    };
    match tx.post(&[payment])?.pop() {
        Some(Outcome::Paid { .. }) => shown(tx, id),
        Some(Outcome::Insufficient | Outcome::ReceiverClosed) | None => {
            Err(StoreError::Broken("a deposit was not taken".into()).into())
        }
    }
}
