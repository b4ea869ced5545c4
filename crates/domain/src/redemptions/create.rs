//! Redeeming points: a user spends points of their `user_wallet` on a reward.

use std::collections::BTreeSet;

use super::new_redemption;
use crate::decide::{Decide, DecideError, DecisionState};
use crate::ledger::{Facts, LedgerError, Needs, Payment, PaymentKind, PaymentOutcome};
use crate::model::{EntryKind, Event, Redemption, RedemptionEvent};
use crate::money::{BalanceChange, NotWholePoints, Points, Sum};
use crate::ports::StoreError;
use crate::values::UserId;
use crate::wallets::{Account, WalletType};

/// Why nothing was redeemed.
#[derive(Debug, thiserror::Error)]
pub enum RedeemError {
    /// The user does not exist or is not active.
    #[error("no active user has this id")]
    NoSuchUser,
    /// The points are zero or too many.
    #[error("points must be at least 1 and must not exceed the largest amount")]
    OutOfRange,
    #[error(transparent)]
    NotWholePoints(#[from] NotWholePoints),
    /// The user wallet does not cover the points.
    #[error("Insufficient funds: the wallet holds {}", .0.to_text())]
    InsufficientFunds(Points),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Spends points of a user's `user_wallet`, and queues an event to the company's provider.
#[derive(Debug, Clone)]
pub struct Redeem {
    pub user_id: UserId,
    pub sum: Sum,
}

impl Decide for Redeem {
    type Done = (Redemption, BalanceChange);
    type Refusal = RedeemError;

    fn initial_needs(&self) -> Needs {
        Needs {
            users: BTreeSet::from([self.user_id]),
            accounts: BTreeSet::from([Account::Wallet(WalletType::User, self.user_id)]),
            ..Needs::default()
        }
    }

    fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError> {
        let company = facts.find_user(self.user_id)?.map(|user| user.company_id);
        let accounts = company.map(|company| [Account::Redeemed(company), Account::Rounding(company)]);
        Ok(Needs { accounts: accounts.into_iter().flatten().collect(), ..Needs::default() })
    }

    fn decide(&self, state: &mut DecisionState<'_>) -> Result<Self::Done, DecideError<RedeemError>> {
        let DecisionState { facts, book, changes, context, .. } = state;
        let no_user = || DecideError::Refused(RedeemError::NoSuchUser);
        let user = facts.find_user(self.user_id)?.filter(|user| user.active).ok_or_else(no_user)?;
        let found = facts.find_company(user.company_id)?.ok_or_else(no_user)?;
        let (company, rate) = (&found.company, found.company.rate);
        let points = self.sum.to_points(rate).map_err(|error| DecideError::Refused(error.into()))?;
        let entry = context.new_journal_entry(company, EntryKind::Redemption { user: user.id, points });
        let price = entry.price_per_receiver(None).filter(|_| points != Points::ZERO);
        let (Some(price), Some(credit)) = (price, entry.credited_account(None)) else {
            return Err(DecideError::Refused(RedeemError::OutOfRange));
        };
        let wallet = Account::Wallet(WalletType::User, user.id);
        let before = book.shown_points(wallet, rate);
        let payers = entry.possible_payers();
        let payment_kind =
            PaymentKind::PricePerReceiver { payers: &payers, credits: &[credit], price, points };
        if !matches!(book.pay(&Payment::for_entry(&entry, payment_kind)?)?, PaymentOutcome::Paid(_)) {
            return Err(DecideError::Refused(RedeemError::InsufficientFunds(before)));
        }
        let spent = book.account(wallet).map(|account| rate.shown_points(account.spent));
        let cumulative_points_spent = spent.unwrap_or_default();
        let event = Event::RedemptionCreated(RedemptionEvent { user, points, cumulative_points_spent });
        let event = context.new_event(&event, &entry, found.has_callback);
        changes.events.push(event.map_err(|cause| DecideError::Refused(StoreError::from(cause).into()))?);
        let redemption = new_redemption(&entry, user.id, points, price.each, false);
        changes.journal_entries.push(entry);
        Ok((redemption, BalanceChange { rate, points, before, after: book.shown_points(wallet, rate) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{COMPANY, Fixture, PROVIDER, expect_not_loaded, expect_refusal, points, user_id};

    fn redeem_points(
        fixture: &mut Fixture,
        id: UserId,
        count: i64,
    ) -> Result<Redemption, DecideError<RedeemError>> {
        let sum = Sum::Points(points(count));
        fixture.decide_command(PROVIDER, &Redeem { user_id: id, sum }).map(|done| done.0)
    }

    #[test]
    fn points_are_spent_once_and_the_provider_is_notified() {
        let mut fixture = Fixture::new(50);
        let ann = fixture.add_user(1, &[10, 99]);
        let redemption = redeem_points(&mut fixture, ann, 4).unwrap();
        assert_eq!(redemption.amount, fixture.company_mut().rate.to_amount(points(4)).unwrap());
        let wallet = Account::Wallet(WalletType::User, ann);
        assert_eq!((fixture.shown_points(wallet), fixture.shown_points(Account::Redeemed(COMPANY))), (6, 4));
        assert_eq!((fixture.changes.journal_entries.len(), fixture.changes.events.len()), (1, 1));
        redeem_points(&mut fixture, ann, 6).unwrap();
        assert!(matches!(
            expect_refusal(redeem_points(&mut fixture, ann, 1)),
            RedeemError::InsufficientFunds(held) if held == Points::ZERO
        ));
    }

    #[test]
    fn invalid_redemptions_are_refused() {
        let mut fixture = Fixture::new(50);
        let ann = fixture.add_user(1, &[10]);
        let deleted = fixture.add_user(2, &[10]);
        fixture.user_mut(deleted).active = false;
        fixture.facts.users.insert(user_id(3), None);
        assert!(matches!(expect_refusal(redeem_points(&mut fixture, ann, 0)), RedeemError::OutOfRange));
        assert!(matches!(
            expect_refusal(redeem_points(&mut fixture, ann, i64::MAX)),
            RedeemError::OutOfRange
        ));
        for absent in [deleted, user_id(3)] {
            assert!(matches!(
                expect_refusal(redeem_points(&mut fixture, absent, 1)),
                RedeemError::NoSuchUser
            ));
        }
        assert_eq!(
            expect_not_loaded(redeem_points(&mut fixture, user_id(4), 1)),
            LedgerError::FactNotLoaded("user")
        );
        assert!(fixture.changes.is_empty());
    }
}
