//! Overrides: the operator sets the balance of a wallet (behaviour 17.7). The company's reserve pays or
//! receives the difference, so that the accounts still sum to zero.

use std::collections::BTreeSet;

use crate::decide::{Decide, DecideError, DecisionState};
use crate::ledger::{Facts, LedgerError, Needs, Payment, PaymentKind, PaymentOutcome};
use crate::model::EntryKind;
use crate::money::{BalanceChange, NotWholePoints, Points, Sum};
use crate::ports::StoreError;
use crate::reserve::queue_alert_on_crossing;
use crate::values::UserId;
use crate::wallets::{Account, WalletType};

/// Why a balance was not overridden.
#[derive(Debug, thiserror::Error)]
pub enum OverrideError {
    /// The user does not exist or is not active.
    #[error("no active user has this id")]
    NoSuchUser,
    /// The user does not have the wallet.
    #[error("the user has no such wallet")]
    NoSuchWallet,
    /// The points exceed the largest amount.
    #[error("points must not exceed the largest amount")]
    OutOfRange,
    #[error(transparent)]
    NotWholePoints(#[from] NotWholePoints),
    /// The reserve does not cover the difference.
    #[error("Insufficient funds: {} needed, but the reserve holds {}", .needed.to_text(), .available.to_text())]
    InsufficientFunds { needed: Points, available: Points },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes a wallet show a number of points: the company's reserve pays or receives the difference. A wallet
/// that already shows them does not change.
#[derive(Debug, Clone)]
pub struct OverrideBalance {
    pub user_id: UserId,
    pub wallet: WalletType,
    pub sum: Sum,
}

impl Decide for OverrideBalance {
    type Done = BalanceChange;
    type Refusal = OverrideError;

    fn initial_needs(&self) -> Needs {
        Needs {
            users: BTreeSet::from([self.user_id]),
            accounts: BTreeSet::from([Account::Wallet(self.wallet, self.user_id)]),
            ..Needs::default()
        }
    }

    fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError> {
        let company = facts.find_user(self.user_id)?.map(|user| user.company_id);
        let accounts = company.map(|company| [Account::Reserve(company), Account::Rounding(company)]);
        Ok(Needs {
            accounts: accounts.into_iter().flatten().collect(),
            administrators: company.into_iter().collect(),
            ..Needs::default()
        })
    }

    fn decide(&self, state: &mut DecisionState<'_>) -> Result<BalanceChange, DecideError<OverrideError>> {
        let DecisionState { facts, book, changes, context, .. } = state;
        let (user, wallet) = (self.user_id, self.wallet);
        let no_user = || DecideError::Refused(OverrideError::NoSuchUser);
        let found = facts.find_user(user)?.filter(|user| user.active).ok_or_else(no_user)?;
        let company = &facts.find_company(found.company_id)?.ok_or_else(no_user)?.company;
        let rate = company.rate;
        let points = self.sum.to_points(rate).map_err(|error| DecideError::Refused(error.into()))?;
        rate.to_amount(points).ok_or(DecideError::Refused(OverrideError::OutOfRange))?;
        let entry = context.new_journal_entry(company, EntryKind::Override { user, wallet, points });
        let account = Account::Wallet(wallet, user);
        let before = book.shown_points(account, rate);
        let payment_kind =
            PaymentKind::SetBalance { wallet: account, reserve: Account::Reserve(company.id), points };
        let paid = match book.pay(&Payment::for_entry(&entry, payment_kind)?)? {
            PaymentOutcome::Paid(paid) => paid,
            PaymentOutcome::InsufficientFunds => {
                let needed = Points::new(points.get().saturating_sub(before.get())).unwrap_or_default();
                let available = book.shown_points(Account::Reserve(company.id), rate);
                return Err(DecideError::Refused(OverrideError::InsufficientFunds { needed, available }));
            }
            PaymentOutcome::AccountClosed => return Err(DecideError::Refused(OverrideError::NoSuchWallet)),
        };
        if paid.transfer_count > 0 {
            queue_alert_on_crossing(company, paid.threshold_crossing, facts, changes, context)?;
            changes.journal_entries.push(entry);
        } else {
            changes.unchanged_company = Some(company.id);
        }
        Ok(BalanceChange { rate, points, before, after: points })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{COMPANY, Fixture, PROVIDER, expect_refusal, points, user_id};
    use crate::money::Amount;

    fn override_balance(
        fixture: &mut Fixture,
        id: UserId,
        wallet: WalletType,
        count: i64,
    ) -> Result<(), DecideError<OverrideError>> {
        let sum = Sum::Points(points(count));
        fixture.decide_command(PROVIDER, &OverrideBalance { user_id: id, wallet, sum }).map(drop)
    }

    #[test]
    fn the_reserve_pays_or_receives_the_difference() {
        let mut fixture = Fixture::new(50);
        let ann = fixture.add_user(1, &[10, 0]);
        fixture.set_reserve(100, None);
        let (wallet, reserve) = (Account::Wallet(WalletType::User, ann), Account::Reserve(COMPANY));
        override_balance(&mut fixture, ann, WalletType::User, 30).unwrap();
        assert_eq!((fixture.shown_points(wallet), fixture.shown_points(reserve)), (30, 80));
        override_balance(&mut fixture, ann, WalletType::User, 5).unwrap();
        assert_eq!((fixture.shown_points(wallet), fixture.shown_points(reserve)), (5, 105));
        override_balance(&mut fixture, ann, WalletType::User, 5).unwrap();
        assert_eq!(
            fixture.changes.journal_entries.len(),
            2,
            "a wallet that shows the points already stays as it is"
        );
    }

    #[test]
    fn the_company_of_the_user_decides_what_else_is_needed() {
        let mut fixture = Fixture::new(50);
        let user_id = fixture.add_user(1, &[10, 0]);
        let command = OverrideBalance { user_id, wallet: WalletType::User, sum: Sum::Points(points(30)) };
        let needs = Needs {
            accounts: BTreeSet::from([Account::Reserve(COMPANY), Account::Rounding(COMPANY)]),
            administrators: BTreeSet::from([COMPANY]),
            ..Needs::default()
        };
        assert_eq!(command.further_needs(&fixture.facts).unwrap(), needs);
    }

    #[test]
    fn invalid_replacements_are_refused() {
        let mut fixture = Fixture::new(50);
        let ann = fixture.add_user(1, &[10, 0]);
        let deleted = fixture.add_user(2, &[10, 0]);
        fixture.user_mut(deleted).active = false;
        fixture.book.insert_loaded(Account::Wallet(WalletType::Manager, ann), None);
        fixture.facts.users.insert(user_id(3), None);
        fixture.load_account(Account::Rounding(COMPANY), Amount::ZERO);
        let check = |fixture: &mut Fixture, id: UserId, wallet: WalletType, count: i64| {
            expect_refusal(override_balance(fixture, id, wallet, count))
        };
        for absent in [deleted, user_id(3)] {
            assert!(matches!(check(&mut fixture, absent, WalletType::User, 1), OverrideError::NoSuchUser));
        }
        assert!(matches!(check(&mut fixture, ann, WalletType::Manager, 1), OverrideError::NoSuchWallet));
        assert_eq!(
            check(&mut fixture, ann, WalletType::User, 11).to_string(),
            "Insufficient funds: 1 point needed, but the reserve holds 0 points"
        );
        assert!(matches!(check(&mut fixture, ann, WalletType::User, i64::MAX), OverrideError::OutOfRange));
        assert!(fixture.changes.is_empty());
    }
}
