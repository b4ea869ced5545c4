//! Redeeming points: a user spends points of the earned wallet on a reward.

use std::collections::BTreeSet;

use crate::decide::{Decide, Deciding, Undecided};
use crate::ledger::{Facts, LedgerError, Moved, Needs, Payment, PaymentOutcome};
use crate::model::{Act, Event, NewEvent, Redemption, RedemptionEvent};
use crate::money::{BalanceChange, NotWholePoints, Points, Sum};
use crate::ports::StoreError;
use crate::values::{RedemptionId, UserId};
use crate::wallets::{Account, WalletType};

/// Why nothing was redeemed.
#[derive(Debug, thiserror::Error)]
pub enum RedeemError {
    /// The user does not exist or is not active.
    #[error("no active user has this id")]
    NoSuchUser,
    /// The points are zero or too many.
    #[error("points must be at least 1, and a possible amount")]
    OutOfRange,
    #[error(transparent)]
    NotWholePoints(#[from] NotWholePoints),
    /// The user wallet does not cover them.
    #[error("Insufficient funds")]
    InsufficientFunds,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Spends points of a user's earned wallet, and queues an event to the company's provider.
#[derive(Debug, Clone)]
pub struct Redeem {
    pub user_id: UserId,
    pub sum: Sum,
}

impl Decide for Redeem {
    type Done = (Redemption, BalanceChange);
    type Refusal = RedeemError;

    fn needs(&self) -> Needs {
        Needs {
            users: BTreeSet::from([self.user_id]),
            accounts: BTreeSet::from([Account::Wallet(WalletType::User, self.user_id)]),
            ..Needs::default()
        }
    }

    fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError> {
        let company = facts.person(self.user_id)?.map(|person| person.company_id);
        let accounts = company.map(|company| [Account::Redeemed(company), Account::Rounding(company)]);
        Ok(Needs { accounts: accounts.into_iter().flatten().collect(), ..Needs::default() })
    }

    fn decide(&self, on: &mut Deciding<'_>) -> Result<Self::Done, Undecided<RedeemError>> {
        let Deciding { facts, book, changes, context, .. } = on;
        let no_user = || Undecided::Refused(RedeemError::NoSuchUser);
        let user = facts.person(self.user_id)?.filter(|person| person.active).ok_or_else(no_user)?;
        let found = facts.company(user.company_id)?.ok_or_else(no_user)?;
        let (company, rate) = (&found.company, found.company.rate);
        let points = self.sum.points(rate).map_err(|error| Undecided::Refused(error.into()))?;
        let cause = context.cause(company, Act::Redemption { user: user.id, points });
        let price = cause.price(None).filter(|_| points != Points::ZERO);
        let (Some(price), Some(credit)) = (price, cause.credit(None)) else {
            return Err(Undecided::Refused(RedeemError::OutOfRange));
        };
        let wallet = Account::Wallet(WalletType::User, user.id);
        let before = book.shown(wallet, rate);
        let moved = Moved::Price { payers: &cause.payers(), credits: &[credit], price, points };
        if !matches!(book.pay(&Payment::of(&cause, moved)?)?, PaymentOutcome::Paid(_)) {
            return Err(Undecided::Refused(RedeemError::InsufficientFunds));
        }
        let spent = book.account(wallet).map(|account| rate.points(account.spent));
        let cumulative_points_spent = spent.unwrap_or_default();
        let event = Event::RedemptionCreated(RedemptionEvent { user, points, cumulative_points_spent });
        let body = context.bodies.body(&event);
        changes.events.push(NewEvent {
            id: event.id(cause.id),
            company_id: company.id,
            provider_id: company.provider_id,
            kind: event.kind(),
            cause: cause.id,
            body: body.map_err(|cause| Undecided::Refused(StoreError::from(cause).into()))?,
            addressed: found.has_callback,
            created_at: cause.created_at,
        });
        let redemption = Redemption {
            id: RedemptionId::from_uuid(cause.id.as_uuid()),
            company_id: company.id,
            user_id: user.id,
            points,
            amount: price.each,
            created_at: cause.created_at,
            is_refunded: false,
        };
        changes.journal_entries.push(cause);
        Ok((redemption, BalanceChange { rate, points, before, after: book.shown(wallet, rate) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{COMPANY, Fixture, PROVIDER, missing, points, refusal, user};

    fn redeem(fixture: &mut Fixture, id: UserId, count: i64) -> Result<Redemption, Undecided<RedeemError>> {
        let sum = Sum::Points(points(count));
        fixture.decide(PROVIDER, &Redeem { user_id: id, sum }).map(|done| done.0)
    }

    #[test]
    fn points_are_spent_once_and_the_provider_is_told() {
        let mut fixture = Fixture::new(50);
        let ann = fixture.add_user(1, &[10, 99]);
        let redemption = redeem(&mut fixture, ann, 4).unwrap();
        assert_eq!(redemption.amount, fixture.company().rate.amount(points(4)).unwrap());
        let wallet = Account::Wallet(WalletType::User, ann);
        assert_eq!((fixture.shows(wallet), fixture.shows(Account::Redeemed(COMPANY))), (6, 4));
        assert_eq!((fixture.changes.journal_entries.len(), fixture.changes.events.len()), (1, 1));
        redeem(&mut fixture, ann, 6).unwrap();
        assert!(matches!(refusal(redeem(&mut fixture, ann, 1)), RedeemError::InsufficientFunds));
    }

    #[test]
    fn what_cannot_be_redeemed_is_refused() {
        let mut fixture = Fixture::new(50);
        let ann = fixture.add_user(1, &[10]);
        let gone = fixture.add_user(2, &[10]);
        fixture.person(gone).active = false;
        fixture.facts.people.insert(user(3), None);
        assert!(matches!(refusal(redeem(&mut fixture, ann, 0)), RedeemError::OutOfRange));
        assert!(matches!(refusal(redeem(&mut fixture, ann, i64::MAX)), RedeemError::OutOfRange));
        for nobody in [gone, user(3)] {
            assert!(matches!(refusal(redeem(&mut fixture, nobody, 1)), RedeemError::NoSuchUser));
        }
        assert_eq!(missing(redeem(&mut fixture, user(4), 1)), LedgerError::FactNotLoaded("user"));
        assert!(fixture.changes.is_empty());
    }
}
