//! Deposits to a company's reserve, and withdrawals from it.

use std::collections::BTreeSet;

use super::queue_alert_on_crossing;
use crate::any_provider;
use crate::decide::{Decide, DecideError, DecisionState};
use crate::ledger::{FUNDED_MAX, Facts, LedgerError, Needs, Payment, PaymentKind, PaymentOutcome};
use crate::model::EntryKind;
use crate::money::{BalanceChange, NotWholePoints, Points, Sum};
use crate::ports::{ReadAccounts, ReadCompanies, StoreError};
use crate::values::CompanyId;
use crate::wallets::Account;

/// The direction of the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReserveDirection {
    /// From outside into the reserve.
    Deposit,
    /// Out of the reserve, to the account that deposits come from.
    Withdrawal,
}

/// Moves points into a company's reserve, or out of it.
#[derive(Debug, Clone)]
pub struct ChangeReserve {
    pub company_id: CompanyId,
    pub direction: ReserveDirection,
    pub sum: Sum,
}

/// Why a reserve was not changed or shown.
#[derive(Debug, thiserror::Error)]
pub enum ReserveError {
    #[error("no company has this id")]
    NoSuchCompany,
    /// The points are zero, or the total deposits of the company would exceed the limit.
    #[error(
        "points must be at least 1, and the deposits of a company must not exceed nine billion dollars in total"
    )]
    DepositOutOfRange,
    /// The points are zero or too many.
    #[error("points must be at least 1 and must not exceed the largest amount")]
    WithdrawalOutOfRange,
    #[error(transparent)]
    NotWholePoints(#[from] NotWholePoints),
    /// The reserve does not cover the points.
    #[error("Insufficient funds: the reserve holds {}", .0.to_text())]
    InsufficientFunds(Points),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The points that a company's reserve shows.
///
/// # Errors
///
/// If there is no such company, or the store fails.
pub fn read_balance<R: ReadAccounts + ReadCompanies + ?Sized>(
    reads: &mut R,
    id: CompanyId,
) -> Result<Points, ReserveError> {
    let company = any_provider::find_company(reads, id)?.ok_or(ReserveError::NoSuchCompany)?;
    let balance = reads.account_balance(Account::Reserve(id))?.unwrap_or_default();
    Ok(company.rate.shown_points(balance))
}

impl Decide for ChangeReserve {
    type Done = BalanceChange;
    type Refusal = ReserveError;

    fn initial_needs(&self) -> Needs {
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

    fn decide(&self, state: &mut DecisionState<'_>) -> Result<BalanceChange, DecideError<ReserveError>> {
        let DecisionState { facts, book, changes, context, .. } = state;
        let found = facts.find_company(self.company_id)?;
        let company = &found.ok_or(DecideError::Refused(ReserveError::NoSuchCompany))?.company;
        let rate = company.rate;
        let points = self.sum.to_points(rate).map_err(|error| DecideError::Refused(error.into()))?;
        let (kind, out_of_range) = match self.direction {
            ReserveDirection::Deposit => (EntryKind::Deposit { points }, ReserveError::DepositOutOfRange),
            ReserveDirection::Withdrawal => {
                (EntryKind::Withdrawal { points }, ReserveError::WithdrawalOutOfRange)
            }
        };
        let entry = context.new_journal_entry(company, kind);
        let mut price = entry.price_per_receiver(None).filter(|_| points != Points::ZERO);
        if self.direction == ReserveDirection::Deposit {
            price = price.and_then(|price| price.with_credit(FUNDED_MAX));
        }
        let (Some(price), Some(credit)) = (price, entry.credited_account(None)) else {
            return Err(DecideError::Refused(out_of_range));
        };
        let reserve = Account::Reserve(company.id);
        let before = book.shown_points(reserve, rate);
        let payers = entry.possible_payers();
        let payment_kind =
            PaymentKind::PricePerReceiver { payers: &payers, credits: &[credit], price, points };
        let paid = match (book.pay(&Payment::for_entry(&entry, payment_kind)?)?, self.direction) {
            (PaymentOutcome::InsufficientFunds, ReserveDirection::Deposit) => {
                return Err(DecideError::Refused(out_of_range));
            }
            (PaymentOutcome::InsufficientFunds, ReserveDirection::Withdrawal) => {
                return Err(DecideError::Refused(ReserveError::InsufficientFunds(before)));
            }
            (outcome, _) => outcome.expect_paid()?, // a company's accounts never close
        };
        queue_alert_on_crossing(company, paid.threshold_crossing, facts, changes, context)?;
        changes.journal_entries.push(entry);
        Ok(BalanceChange { rate, points, before, after: book.shown_points(reserve, rate) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{COMPANY, Fixture, PROVIDER, expect_not_loaded, expect_refusal, points};
    use crate::model::Notification;

    fn change_reserve(
        fixture: &mut Fixture,
        direction: ReserveDirection,
        count: i64,
    ) -> Result<Points, DecideError<ReserveError>> {
        let sum = Sum::Points(points(count));
        let changed =
            fixture.decide_command(PROVIDER, &ChangeReserve { company_id: COMPANY, direction, sum });
        changed.map(|changed| changed.after)
    }

    fn deposit_points(fixture: &mut Fixture, count: i64) -> Result<Points, DecideError<ReserveError>> {
        change_reserve(fixture, ReserveDirection::Deposit, count)
    }

    fn withdraw_points(fixture: &mut Fixture, count: i64) -> Result<Points, DecideError<ReserveError>> {
        change_reserve(fixture, ReserveDirection::Withdrawal, count)
    }

    #[test]
    fn a_reserve_shows_deposits_less_withdrawals() {
        let mut fixture = Fixture::new(50);
        assert_eq!(deposit_points(&mut fixture, 100).unwrap(), points(100));
        assert_eq!(deposit_points(&mut fixture, 20).unwrap(), points(120));
        assert_eq!(withdraw_points(&mut fixture, 90).unwrap(), points(30));
        let refused = expect_refusal(withdraw_points(&mut fixture, 31));
        assert!(matches!(refused, ReserveError::InsufficientFunds(held) if held == points(30)));
        assert_eq!(withdraw_points(&mut fixture, 30).unwrap(), points(0));
        assert_eq!(fixture.changes.journal_entries.len(), 4);
    }

    #[test]
    fn a_shortfall_and_an_alert_need_more_than_the_first_load() {
        let (company_id, sum) = (COMPANY, Sum::Points(points(1)));
        let command = ChangeReserve { company_id, direction: ReserveDirection::Withdrawal, sum };
        let needs = Needs {
            accounts: BTreeSet::from([Account::Rounding(COMPANY)]),
            administrators: BTreeSet::from([COMPANY]),
            ..Needs::default()
        };
        assert_eq!(command.further_needs(&Facts::default()).unwrap(), needs);
    }

    #[test]
    fn amounts_that_are_zero_or_too_large_are_refused() {
        let mut fixture = Fixture::new(1);
        assert!(matches!(expect_refusal(deposit_points(&mut fixture, 0)), ReserveError::DepositOutOfRange));
        assert!(matches!(
            expect_refusal(deposit_points(&mut fixture, 9_000_000_001)),
            ReserveError::DepositOutOfRange
        ));
        deposit_points(&mut fixture, 9_000_000_000).unwrap();
        assert!(matches!(expect_refusal(deposit_points(&mut fixture, 1)), ReserveError::DepositOutOfRange));
        assert!(matches!(
            expect_refusal(withdraw_points(&mut fixture, 0)),
            ReserveError::WithdrawalOutOfRange
        ));
        assert!(matches!(
            expect_refusal(withdraw_points(&mut fixture, i64::MAX)),
            ReserveError::WithdrawalOutOfRange
        ));
        fixture.facts.companies.insert(COMPANY, None);
        assert!(matches!(expect_refusal(deposit_points(&mut fixture, 1)), ReserveError::NoSuchCompany));
        assert!(matches!(expect_refusal(withdraw_points(&mut fixture, 1)), ReserveError::NoSuchCompany));
    }

    #[test]
    fn a_withdrawal_below_the_alert_threshold_notifies_the_administrators() {
        let mut fixture = Fixture::new(50);
        fixture.set_reserve(100, Some(50));
        let needed = expect_not_loaded(withdraw_points(&mut fixture, 51));
        assert_eq!(needed, LedgerError::FactNotLoaded("list of administrators"));
        fixture.add_administrator("ada@example.com");
        withdraw_points(&mut fixture, 50).unwrap();
        assert_eq!(fixture.changes.notifications.len(), 0);
        withdraw_points(&mut fixture, 1).unwrap();
        assert_eq!(fixture.changes.notifications.len(), 1);
    }

    #[test]
    fn an_alert_uses_the_threshold_of_the_account_if_the_company_was_loaded_before_a_change() {
        let mut fixture = Fixture::new(50);
        fixture.set_reserve(100, Some(50));
        fixture.company_mut().reserve_alert = None;
        fixture.add_administrator("ada@example.com");
        withdraw_points(&mut fixture, 51).unwrap();
        let [queued] = &fixture.changes.notifications[..] else { panic!("{:?}", fixture.changes) };
        let Notification::ReserveLow { threshold, balance, .. } = queued.notification else {
            panic!("{queued:?}")
        };
        assert_eq!((threshold, balance), (points(50), points(49)));
    }

    #[test]
    fn dollars_are_accepted_if_they_are_whole_points() {
        let mut fixture = Fixture::new(50);
        let mut deposit_dollars = |dollars: &str| {
            let sum = Sum::Dollars(dollars.parse().unwrap());
            let direction = ReserveDirection::Deposit;
            fixture.decide_command(PROVIDER, &ChangeReserve { company_id: COMPANY, direction, sum })
        };
        let changed = deposit_dollars("0.50").unwrap();
        assert_eq!((changed.points, changed.before, changed.after), (points(25), points(0), points(25)));
        let refused = expect_refusal(deposit_dollars("0.01")).to_string();
        assert_eq!(refused, "0.01 dollars are not a whole number of points at 50 points per dollar");
    }
}
