//! Deposits to a company's reserve, and withdrawals from it.

use std::collections::BTreeSet;

use super::alert_if_low;
use crate::decide::{Decide, Deciding, Undecided};
use crate::ledger::{FUNDED_MAX, Facts, LedgerError, Moved, Needs, Payment, PaymentOutcome};
use crate::look_up;
use crate::model::Act;
use crate::money::{BalanceChange, NotWholePoints, Points, Sum};
use crate::ports::{ReadAccounts, ReadCompanies, StoreError};
use crate::values::CompanyId;
use crate::wallets::Account;

/// The direction of the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReserveChange {
    /// From outside into the reserve.
    Deposit,
    /// Out of the reserve, to the account that deposits come from.
    Withdrawal,
}

/// Moves points into a company's reserve, or out of it.
#[derive(Debug, Clone)]
pub struct ChangeReserve {
    pub company_id: CompanyId,
    pub change: ReserveChange,
    pub sum: Sum,
}

/// Why a reserve was not changed or shown.
#[derive(Debug, thiserror::Error)]
pub enum ReserveError {
    #[error("no company has this id")]
    NoSuchCompany,
    /// The points are zero, or exceed what may ever be deposited to a company.
    #[error("points must be at least 1, and a company's deposits at most nine billion dollars in all")]
    DepositOutOfRange,
    /// The points are zero or too many.
    #[error("points must be at least 1, and a possible amount")]
    WithdrawalOutOfRange,
    #[error(transparent)]
    NotWholePoints(#[from] NotWholePoints),
    /// The reserve does not cover them.
    #[error("Insufficient funds: the reserve holds {} points", .0.get())]
    InsufficientFunds(Points),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The points that a company's reserve shows.
///
/// # Errors
///
/// If there is no such company, or the store fails.
pub fn shown<R: ReadAccounts + ReadCompanies + ?Sized>(
    reads: &mut R,
    id: CompanyId,
) -> Result<Points, ReserveError> {
    let company = look_up::company(reads, id)?.ok_or(ReserveError::NoSuchCompany)?;
    let balance = reads.balance(Account::Reserve(id))?.unwrap_or_default();
    Ok(company.rate.points(balance))
}

impl Decide for ChangeReserve {
    type Done = BalanceChange;
    type Refusal = ReserveError;

    fn needs(&self) -> Needs {
        Needs {
            companies: BTreeSet::from([self.company_id]),
            accounts: BTreeSet::from([Account::Reserve(self.company_id), Account::Funding(self.company_id)]),
            ..Needs::default()
        }
    }

    fn further_needs(&self, _facts: &Facts) -> Result<Needs, LedgerError> {
        Ok(Needs {
            accounts: BTreeSet::from([Account::Rounding(self.company_id)]),
            administrators: BTreeSet::from([self.company_id]),
            ..Needs::default()
        })
    }

    fn decide(&self, on: &mut Deciding<'_>) -> Result<BalanceChange, Undecided<ReserveError>> {
        let Deciding { facts, book, changes, context, .. } = on;
        let found = facts.company(self.company_id)?;
        let company = &found.ok_or(Undecided::Refused(ReserveError::NoSuchCompany))?.company;
        let rate = company.rate;
        let points = self.sum.points(rate).map_err(|error| Undecided::Refused(error.into()))?;
        let (act, out_of_range) = match self.change {
            ReserveChange::Deposit => (Act::Deposit { points }, ReserveError::DepositOutOfRange),
            ReserveChange::Withdrawal => (Act::Withdrawal { points }, ReserveError::WithdrawalOutOfRange),
        };
        let cause = context.cause(company, act);
        let mut price = cause.price(None).filter(|_| points != Points::ZERO);
        if self.change == ReserveChange::Deposit {
            price = price.and_then(|price| price.on_credit(FUNDED_MAX));
        }
        let (Some(price), Some(credit)) = (price, cause.credit(None)) else {
            return Err(Undecided::Refused(out_of_range));
        };
        let reserve = Account::Reserve(company.id);
        let before = book.shown(reserve, rate);
        let moved = Moved::Price { payers: &cause.payers(), credits: &[credit], price, points };
        let paid = match (book.pay(&Payment::of(&cause, moved)?)?, self.change) {
            (PaymentOutcome::Insufficient, ReserveChange::Deposit) => {
                return Err(Undecided::Refused(out_of_range));
            }
            (PaymentOutcome::Insufficient, ReserveChange::Withdrawal) => {
                return Err(Undecided::Refused(ReserveError::InsufficientFunds(before)));
            }
            (outcome, _) => outcome.certain()?, // a company's accounts never close
        };
        alert_if_low(company, paid.low, facts, changes, context)?;
        changes.journal_entries.push(cause);
        Ok(BalanceChange { rate, points, before, after: book.shown(reserve, rate) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{COMPANY, Fixture, PROVIDER, missing, points, refusal};

    fn change(
        fixture: &mut Fixture,
        change: ReserveChange,
        count: i64,
    ) -> Result<Points, Undecided<ReserveError>> {
        let sum = Sum::Points(points(count));
        let changed = fixture.decide(PROVIDER, &ChangeReserve { company_id: COMPANY, change, sum });
        changed.map(|changed| changed.after)
    }

    fn put_in(fixture: &mut Fixture, count: i64) -> Result<Points, Undecided<ReserveError>> {
        change(fixture, ReserveChange::Deposit, count)
    }

    fn take_out(fixture: &mut Fixture, count: i64) -> Result<Points, Undecided<ReserveError>> {
        change(fixture, ReserveChange::Withdrawal, count)
    }

    #[test]
    fn a_reserve_shows_what_was_put_in_and_taken_out() {
        let mut fixture = Fixture::new(50);
        assert_eq!(put_in(&mut fixture, 100).unwrap(), points(100));
        assert_eq!(put_in(&mut fixture, 20).unwrap(), points(120));
        assert_eq!(take_out(&mut fixture, 90).unwrap(), points(30));
        let refused = refusal(take_out(&mut fixture, 31));
        assert!(matches!(refused, ReserveError::InsufficientFunds(held) if held == points(30)));
        assert_eq!(take_out(&mut fixture, 30).unwrap(), points(0));
        assert_eq!(fixture.changes.journal_entries.len(), 4);
    }

    #[test]
    fn amounts_that_are_none_or_too_much_are_refused() {
        let mut fixture = Fixture::new(1);
        assert!(matches!(refusal(put_in(&mut fixture, 0)), ReserveError::DepositOutOfRange));
        assert!(matches!(refusal(put_in(&mut fixture, 9_000_000_001)), ReserveError::DepositOutOfRange));
        put_in(&mut fixture, 9_000_000_000).unwrap();
        assert!(matches!(refusal(put_in(&mut fixture, 1)), ReserveError::DepositOutOfRange));
        assert!(matches!(refusal(take_out(&mut fixture, 0)), ReserveError::WithdrawalOutOfRange));
        assert!(matches!(refusal(take_out(&mut fixture, i64::MAX)), ReserveError::WithdrawalOutOfRange));
        fixture.facts.companies.insert(COMPANY, None);
        assert!(matches!(refusal(put_in(&mut fixture, 1)), ReserveError::NoSuchCompany));
        assert!(matches!(refusal(take_out(&mut fixture, 1)), ReserveError::NoSuchCompany));
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

    #[test]
    fn dollars_are_taken_where_they_are_whole_points() {
        let mut fixture = Fixture::new(50);
        let mut put_in = |dollars: &str| {
            let sum = Sum::Dollars(dollars.parse().unwrap());
            let change = ReserveChange::Deposit;
            fixture.decide(PROVIDER, &ChangeReserve { company_id: COMPANY, change, sum })
        };
        let changed = put_in("0.50").unwrap();
        assert_eq!((changed.points, changed.before, changed.after), (points(25), points(0), points(25)));
        let refused = refusal(put_in("0.01")).to_string();
        assert_eq!(refused, "0.01 dollars are not a whole number of points at 50 points per dollar");
    }
}
