//! Replaces the balance of a wallet, for the operator (behaviour 17.7). The company's reserve pays or
//! receives the difference, so that the accounts still sum to zero.

use std::collections::BTreeSet;

use crate::decide::{Decide, Deciding, Undecided};
use crate::ledger::{Facts, LedgerError, Moved, Needs, Payment, PaymentOutcome};
use crate::model::Act;
use crate::money::{BalanceChange, NotWholePoints, Sum};
use crate::ports::StoreError;
use crate::reserve::alert_if_low;
use crate::values::UserId;
use crate::wallets::{Account, WalletType};

/// Why a wallet was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    /// The user does not exist or is not active.
    #[error("no active user has this id")]
    NoSuchUser,
    /// The user does not have the wallet.
    #[error("the user has no such wallet")]
    NoSuchWallet,
    /// The points are too many.
    #[error("points must be a possible amount")]
    OutOfRange,
    #[error(transparent)]
    NotWholePoints(#[from] NotWholePoints),
    /// The reserve does not cover the difference.
    #[error("Insufficient funds")]
    InsufficientFunds,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes a wallet show a number of points: the difference comes from the company's reserve or goes to it. A
/// wallet that already shows them does not change.
#[derive(Debug, Clone)]
pub struct ReplaceBalance {
    pub user_id: UserId,
    pub wallet: WalletType,
    pub sum: Sum,
}

impl Decide for ReplaceBalance {
    type Done = BalanceChange;
    type Refusal = ReplaceError;

    fn needs(&self) -> Needs {
        Needs {
            users: BTreeSet::from([self.user_id]),
            accounts: BTreeSet::from([Account::Wallet(self.wallet, self.user_id)]),
            ..Needs::default()
        }
    }

    fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError> {
        let company = facts.person(self.user_id)?.map(|person| person.company_id);
        let accounts = company.map(|company| [Account::Reserve(company), Account::Rounding(company)]);
        Ok(Needs {
            accounts: accounts.into_iter().flatten().collect(),
            administrators: company.into_iter().collect(),
            ..Needs::default()
        })
    }

    fn decide(&self, on: &mut Deciding<'_>) -> Result<BalanceChange, Undecided<ReplaceError>> {
        let Deciding { facts, book, changes, context, .. } = on;
        let (user, wallet) = (self.user_id, self.wallet);
        let no_user = || Undecided::Refused(ReplaceError::NoSuchUser);
        let found = facts.person(user)?.filter(|person| person.active).ok_or_else(no_user)?;
        let company = &facts.company(found.company_id)?.ok_or_else(no_user)?.company;
        let rate = company.rate;
        let points = self.sum.points(rate).map_err(|error| Undecided::Refused(error.into()))?;
        rate.amount(points).ok_or(Undecided::Refused(ReplaceError::OutOfRange))?;
        let cause = context.cause(company, Act::Override { user, wallet, points });
        let account = Account::Wallet(wallet, user);
        let before = book.shown(account, rate);
        let moved = Moved::Difference { wallet: account, reserve: Account::Reserve(company.id), points };
        let paid = match book.pay(&Payment::of(&cause, moved)?)? {
            PaymentOutcome::Paid(paid) => paid,
            PaymentOutcome::Insufficient => return Err(Undecided::Refused(ReplaceError::InsufficientFunds)),
            PaymentOutcome::Closed => return Err(Undecided::Refused(ReplaceError::NoSuchWallet)),
        };
        if paid.transfers > 0 {
            alert_if_low(company, paid.low, facts, changes, context)?;
            changes.journal_entries.push(cause);
        }
        Ok(BalanceChange { rate, points, before, after: points })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{COMPANY, Fixture, PROVIDER, points, refusal, user};
    use crate::money::Amount;

    fn set(
        fixture: &mut Fixture,
        id: UserId,
        wallet: WalletType,
        count: i64,
    ) -> Result<(), Undecided<ReplaceError>> {
        let sum = Sum::Points(points(count));
        fixture.decide(PROVIDER, &ReplaceBalance { user_id: id, wallet, sum }).map(drop)
    }

    #[test]
    fn the_difference_comes_from_the_reserve_or_goes_there() {
        let mut fixture = Fixture::new(50);
        let ann = fixture.add_user(1, &[10, 0]);
        fixture.fund(100, None);
        let (wallet, reserve) = (Account::Wallet(WalletType::User, ann), Account::Reserve(COMPANY));
        set(&mut fixture, ann, WalletType::User, 30).unwrap();
        assert_eq!((fixture.shows(wallet), fixture.shows(reserve)), (30, 80));
        set(&mut fixture, ann, WalletType::User, 5).unwrap();
        assert_eq!((fixture.shows(wallet), fixture.shows(reserve)), (5, 105));
        set(&mut fixture, ann, WalletType::User, 5).unwrap();
        assert_eq!(
            fixture.changes.journal_entries.len(),
            2,
            "a wallet that shows the points already stays as it is"
        );
    }

    #[test]
    fn what_cannot_be_replaced_is_refused() {
        let mut fixture = Fixture::new(50);
        let ann = fixture.add_user(1, &[10, 0]);
        let gone = fixture.add_user(2, &[10, 0]);
        fixture.person(gone).active = false;
        fixture.book.load(Account::Wallet(WalletType::Manager, ann), None);
        fixture.facts.people.insert(user(3), None);
        fixture.load(Account::Rounding(COMPANY), Amount::ZERO);
        let check = |fixture: &mut Fixture, id: UserId, wallet: WalletType, count: i64| {
            refusal(set(fixture, id, wallet, count))
        };
        for nobody in [gone, user(3)] {
            assert!(matches!(check(&mut fixture, nobody, WalletType::User, 1), ReplaceError::NoSuchUser));
        }
        assert!(matches!(check(&mut fixture, ann, WalletType::Manager, 1), ReplaceError::NoSuchWallet));
        assert!(matches!(check(&mut fixture, ann, WalletType::User, 11), ReplaceError::InsufficientFunds));
        assert!(matches!(check(&mut fixture, ann, WalletType::User, i64::MAX), ReplaceError::OutOfRange));
        assert!(fixture.changes.is_empty());
    }
}
