//! Taking points out of a reserve.

use std::collections::BTreeSet;

use super::alert_if_low;
use super::deposit::shown_in;
use crate::ledger::{AccountBook, Changes, Facts, Moved, Needs, Outcome, Payment};
use crate::model::Act;
use crate::money::{Points, price};
use crate::ports::{Context, LedgerAccess, StoreError, Undecided, carry_out};
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

/// Takes points out of a reserve, back to where deposits come from; answers what it shows afterwards.
pub fn withdraw<T: LedgerAccess + ?Sized>(
    tx: &mut T,
    id: CompanyId,
    points: Points,
    context: &Context<'_>,
) -> Result<Points, WithdrawError> {
    let needs = Needs {
        companies: BTreeSet::from([id]),
        accounts: BTreeSet::from([Account::Reserve(id), Account::Funding(id)]),
        ..Needs::default()
    };
    let further = Needs {
        accounts: BTreeSet::from([Account::Rounding(id)]),
        administrators: BTreeSet::from([id]),
        ..Needs::default()
    };
    carry_out(
        tx,
        &needs,
        |_| Ok(further),
        |facts, book, changes| decide(id, points, facts, book, changes, context),
    )
}

fn decide(
    id: CompanyId,
    points: Points,
    facts: &Facts,
    book: &mut AccountBook,
    changes: &mut Changes,
    context: &Context<'_>,
) -> Result<Points, Undecided<WithdrawError>> {
    let no_company = || Undecided::Refused(WithdrawError::NoSuchCompany);
    let out_of_range = || Undecided::Refused(WithdrawError::OutOfRange);
    let company = &facts.company(id)?.ok_or_else(no_company)?.company;
    if points == Points::ZERO {
        return Err(out_of_range());
    }
    let price = price(company.rate, points, 1).ok_or_else(out_of_range)?;
    let cause = context.cause(company, Act::Withdrawal { points });
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
    let paid = match book.pay(&payment)? {
        Outcome::Insufficient => {
            return Err(Undecided::Refused(WithdrawError::InsufficientFunds(shown_in(book, company))));
        }
        outcome => outcome.certain()?,
    };
    alert_if_low(company, paid.low, facts, changes, context)?;
    changes.causes.push(cause);
    Ok(shown_in(book, company))
}

#[cfg(test)]
mod tests {
    use super::super::deposit;
    use super::*;
    use crate::fixture::{COMPANY, Fixture, missing, points, refusal};
    use crate::ledger::LedgerError;
    use crate::reserve::DepositError;

    fn put_in(fixture: &mut Fixture, count: i64) -> Result<Points, Undecided<DepositError>> {
        fixture.decide(|facts, book, changes, context| {
            deposit::decide(COMPANY, points(count), facts, book, changes, context)
        })
    }

    fn take_out(fixture: &mut Fixture, count: i64) -> Result<Points, Undecided<WithdrawError>> {
        fixture.decide(|facts, book, changes, context| {
            decide(COMPANY, points(count), facts, book, changes, context)
        })
    }

    #[test]
    fn a_reserve_shows_what_was_put_in_and_taken_out() {
        let mut fixture = Fixture::new(50);
        assert_eq!(put_in(&mut fixture, 100).unwrap(), points(100));
        assert_eq!(put_in(&mut fixture, 20).unwrap(), points(120));
        assert_eq!(take_out(&mut fixture, 90).unwrap(), points(30));
        let refused = refusal(take_out(&mut fixture, 31));
        assert!(matches!(refused, WithdrawError::InsufficientFunds(held) if held == points(30)));
        assert_eq!(take_out(&mut fixture, 30).unwrap(), points(0));
        assert_eq!(fixture.changes.causes.len(), 4);
    }

    #[test]
    fn amounts_that_are_none_or_too_much_are_refused() {
        let mut fixture = Fixture::new(1);
        assert!(matches!(refusal(put_in(&mut fixture, 0)), DepositError::OutOfRange));
        assert!(matches!(refusal(put_in(&mut fixture, 9_000_000_001)), DepositError::OutOfRange));
        put_in(&mut fixture, 9_000_000_000).unwrap();
        assert!(matches!(refusal(put_in(&mut fixture, 1)), DepositError::OutOfRange));
        assert!(matches!(refusal(take_out(&mut fixture, 0)), WithdrawError::OutOfRange));
        assert!(matches!(refusal(take_out(&mut fixture, i64::MAX)), WithdrawError::OutOfRange));
        fixture.facts.companies.insert(COMPANY, None);
        assert!(matches!(refusal(put_in(&mut fixture, 1)), DepositError::NoSuchCompany));
        assert!(matches!(refusal(take_out(&mut fixture, 1)), WithdrawError::NoSuchCompany));
    }

    #[test]
    fn a_withdrawal_that_takes_the_reserve_below_its_alert_is_told() {
        let mut fixture = Fixture::new(50);
        fixture.fund(100, Some(50));
        let needed = missing(take_out(&mut fixture, 51));
        assert_eq!(needed, LedgerError::FactNotLoaded("list of administrators"));
        fixture.add_administrator("ada@example.com");
        take_out(&mut fixture, 50).unwrap();
        assert_eq!(fixture.changes.mails.len(), 0);
        take_out(&mut fixture, 1).unwrap();
        assert_eq!(fixture.changes.mails.len(), 1);
    }
}
