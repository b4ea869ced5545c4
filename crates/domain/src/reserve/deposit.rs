//! Putting points into a reserve.

use std::collections::BTreeSet;

use crate::ledger::{AccountBook, Changes, FUNDED_MAX, Facts, Moved, Needs, Outcome, Payment};
use crate::look_up;
use crate::model::{Act, Company};
use crate::money::{Points, price};
use crate::ports::{Context, LedgerAccess, ReadAccounts, ReadCompanies, StoreError, Undecided, carry_out};
use crate::values::CompanyId;
use crate::wallets::{Account, Reason};

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
pub fn deposit<T: LedgerAccess + ?Sized>(
    tx: &mut T,
    id: CompanyId,
    points: Points,
    context: &Context<'_>,
) -> Result<Points, DepositError> {
    let needs = Needs {
        companies: BTreeSet::from([id]),
        accounts: BTreeSet::from([Account::Reserve(id), Account::Funding(id)]),
        ..Needs::default()
    };
    carry_out(
        tx,
        &needs,
        |_| Ok(Needs::default()),
        |facts, book, changes| decide(id, points, facts, book, changes, context),
    )
}

pub(super) fn decide(
    id: CompanyId,
    points: Points,
    facts: &Facts,
    book: &mut AccountBook,
    changes: &mut Changes,
    context: &Context<'_>,
) -> Result<Points, Undecided<DepositError>> {
    let no_company = || Undecided::Refused(DepositError::NoSuchCompany);
    let out_of_range = || Undecided::Refused(DepositError::OutOfRange);
    let company = &facts.company(id)?.ok_or_else(no_company)?.company;
    if points == Points::ZERO {
        return Err(out_of_range());
    }
    let price = price(company.rate, points, 1).and_then(|it| it.on_credit(FUNDED_MAX));
    let price = price.ok_or_else(out_of_range)?;
    let cause = context.cause(company, Act::Deposit { points });
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
    match book.pay(&payment)? {
        Outcome::Insufficient => return Err(out_of_range()),
        outcome => outcome.certain()?, // a reserve never closes
    };
    changes.causes.push(cause);
    Ok(shown_in(book, company))
}

/// The points that a company's reserve shows in a book.
pub(super) fn shown_in(book: &AccountBook, company: &Company) -> Points {
    let balance = book.account(Account::Reserve(company.id)).map(|it| it.balance);
    company.rate.points(balance.unwrap_or_default())
}
