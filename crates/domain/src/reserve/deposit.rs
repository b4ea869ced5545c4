//! Putting points into a reserve.

use crate::companies;
use crate::money::{Amount, Points, price};
use crate::ports::{Context, Outcome, Payment, Reads, Row, StoreError, Tx};
use crate::values::{CompanyId, TransferId};
use crate::wallets::{Account, Credit, Reason};

/// What the funding account may go down to: a billion dollars out, an eighth of what 64 bits hold, so that the sums of
/// debits and credits of a company's accounts have room for the same money many times over.
const DEPOSITS_MAX: Amount = Amount::from_nanodollars(-1_000_000_000_000_000_000);

/// Why nothing was deposited or shown.
#[derive(Debug, thiserror::Error)]
pub enum DepositError {
    /// There is no such company.
    #[error("no company has this id")]
    NoSuchCompany,
    /// The points are none, or more than a company may ever have deposited.
    #[error("points must be at least 1, and a company's deposits at most a billion dollars in all")]
    OutOfRange,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The points that a company's reserve shows.
pub fn shown(reads: &mut dyn Reads, id: CompanyId) -> Result<Points, DepositError> {
    let company = companies::for_operator(reads, id)?.ok_or(DepositError::NoSuchCompany)?;
    let balance = reads.balance(Account::Reserve(id))?.unwrap_or_default();
    Ok(company.rate.points(balance))
}

/// Deposits points from outside; answers what the reserve shows afterwards.
pub fn deposit(
    tx: &mut dyn Tx,
    id: CompanyId,
    points: Points,
    context: &Context<'_>,
) -> Result<Points, DepositError> {
    let company = companies::for_operator(tx, id)?.ok_or(DepositError::NoSuchCompany)?;
    let price = price(company.rate, points, 1).ok_or(DepositError::OutOfRange)?;
    tx.hold(Row::Account(Account::Reserve(id)))?; // so that no other deposit is judged by the same sum
    let funding = tx.balance(Account::Funding(id))?.unwrap_or_default();
    let ever = funding.checked_sub(price.total).ok_or(DepositError::OutOfRange)?;
    if points == Points::ZERO || ever < DEPOSITS_MAX {
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
