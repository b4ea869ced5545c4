//! Replacing what a wallet holds, for the operator (spec §2.6 `override`, contract §5.2).

use super::{Account, Credit, Reason, WalletType};
use crate::companies::{self, Company};
use crate::money::{Amount, Points, Price};
use crate::ports::{Context, Outcome, Payment, Row, StoreError, Tx};
use crate::reserve;
use crate::users::for_operator;
use crate::values::{TransferId, UserId};

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
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes a wallet show so many points: the difference comes from the company's reserve, or goes there. A wallet that
/// shows them already stays as it is.
pub fn replace(
    tx: &mut dyn Tx,
    user: UserId,
    wallet: WalletType,
    points: Points,
    context: &Context<'_>,
) -> Result<(), ReplaceError> {
    let user = for_operator(tx, user)?.filter(|it| it.active).ok_or(ReplaceError::NoSuchUser)?;
    let company = companies::for_operator(tx, user.company_id)?.ok_or(ReplaceError::NoSuchUser)?;
    let wallet = Account::Wallet(wallet, user.id);
    tx.hold(Row::Account(wallet))?;
    let held = tx.balance(wallet)?.ok_or(ReplaceError::NoSuchWallet)?;
    let wanted = company.rate.amount(points).ok_or(ReplaceError::OutOfRange)?;
    let shown = company.rate.points(held);
    if shown == points {
        return Ok(());
    }
    let reserve = Account::Reserve(company.id);
    let (from, to, amount) = if wanted > held {
        (reserve, wallet, wanted.checked_sub(held))
    } else {
        (wallet, reserve, held.checked_sub(wanted))
    };
    let moved = Points::new((points.get() - shown.get()).abs());
    let (amount, moved) = amount.zip(moved).ok_or(ReplaceError::OutOfRange)?;
    pay(tx, &company, from, to, amount, moved, context)
}

fn pay(
    tx: &mut dyn Tx,
    company: &Company,
    from: Account,
    to: Account,
    amount: Amount,
    points: Points,
    context: &Context<'_>,
) -> Result<(), ReplaceError> {
    let payment = Payment {
        company: company.id,
        payers: &[from],
        credits: &[Credit { to, transfer: TransferId::from_uuid(context.ids.next()), cause: None }],
        price: Price::exactly(company.rate, amount, points).ok_or(ReplaceError::OutOfRange)?,
        points,
        rate: company.rate,
        reason: Reason::Override,
        counts_as_spent: false,
        rounding: TransferId::from_uuid(context.ids.next()),
        at: context.clock.now(),
    };
    match tx.post(&[payment])?.pop() {
        Some(Outcome::Paid { payer: Account::Reserve(_), before, after }) => {
            Ok(reserve::alert_after_payment(tx, company, before, after, context)?)
        }
        Some(Outcome::Paid { .. }) => Ok(()),
        Some(Outcome::Insufficient) | None => Err(ReplaceError::InsufficientFunds),
        Some(Outcome::ReceiverClosed) => Err(ReplaceError::NoSuchUser),
    }
}
