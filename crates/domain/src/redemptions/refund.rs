//! Refunding a redemption, for example after a failed order: its amount returns to the user's `user_wallet`.

use std::collections::BTreeSet;

use crate::decide::{Decide, DecideError, DecisionState};
use crate::ledger::{Facts, LedgerError, Needs, Payment, PaymentKind, PaymentOutcome};
use crate::model::{EntryKind, Redemption};
use crate::money::BalanceChange;
use crate::ports::StoreError;
use crate::values::RedemptionId;
use crate::wallets::{Account, WalletType};

/// Why nothing was refunded.
#[derive(Debug, thiserror::Error)]
pub enum RefundError {
    #[error("no redemption has this id")]
    NoSuchRedemption,
    #[error("the redemption has been refunded already")]
    AlreadyRefunded,
    #[error("the user of the redemption has been deleted")]
    UserDeleted,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the amount of a redemption to the user's `user_wallet`, once. The result contains the redemption
/// and the change of the wallet, in points at the current rate.
#[derive(Debug, Clone, Copy)]
pub struct Refund(pub RedemptionId);

impl Decide for Refund {
    type Done = (Redemption, BalanceChange);
    type Refusal = RefundError;

    fn initial_needs(&self) -> Needs {
        Needs { redemptions: BTreeSet::from([self.0]), ..Needs::default() }
    }

    fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError> {
        let Some(redemption) = facts.find_redemption(self.0)? else { return Ok(Needs::default()) };
        let wallet = Account::Wallet(WalletType::User, redemption.user_id);
        Ok(Needs {
            users: BTreeSet::from([redemption.user_id]),
            companies: BTreeSet::from([redemption.company_id]),
            accounts: BTreeSet::from([wallet, Account::Redeemed(redemption.company_id)]),
            // Read again under the lock of the paying account, so that it is refunded only once.
            redemptions: BTreeSet::from([self.0]),
            ..Needs::default()
        })
    }

    fn decide(&self, state: &mut DecisionState<'_>) -> Result<Self::Done, DecideError<RefundError>> {
        let DecisionState { facts, book, changes, context, .. } = state;
        let no_redemption = || DecideError::Refused(RefundError::NoSuchRedemption);
        let redemption = facts.find_redemption(self.0)?.ok_or_else(no_redemption)?;
        if redemption.is_refunded {
            return Err(DecideError::Refused(RefundError::AlreadyRefunded));
        }
        let user = facts.find_user(redemption.user_id)?.filter(|user| user.active);
        let user = user.ok_or(DecideError::Refused(RefundError::UserDeleted))?;
        let company = &facts.find_company(redemption.company_id)?.ok_or_else(no_redemption)?.company;
        let (rate, wallet) = (company.rate, Account::Wallet(WalletType::User, user.id));
        let points = rate.shown_points(redemption.amount);
        let entry = context.new_journal_entry(company, EntryKind::Refund { redemption: self.0, points });
        let price = entry.price_per_receiver(Some(redemption.amount));
        let price = price
            .ok_or_else(|| LedgerError::Broken("the amount of the redemption is out of range".into()))?;
        let before = book.shown_points(wallet, rate);
        let payers = entry.possible_payers();
        let payment_kind =
            PaymentKind::PricePerReceiver { payers: &payers, credits: &[wallet], price, points };
        match book.pay(&Payment::for_entry(&entry, payment_kind)?)? {
            PaymentOutcome::AccountClosed => return Err(DecideError::Refused(RefundError::UserDeleted)),
            outcome => outcome.expect_paid()?, // the account always covers a refund
        };
        changes.journal_entries.push(entry);
        let balance = BalanceChange { rate, points, before, after: book.shown_points(wallet, rate) };
        Ok((Redemption { is_refunded: true, ..redemption.clone() }, balance))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::fixture::{COMPANY, Fixture, PROVIDER, expect_refusal, points};
    use crate::money::{Amount, Points};
    use crate::values::{Timestamp, UserId};

    const ID: RedemptionId = RedemptionId::from_uuid(Uuid::from_u128(77));

    /// A user who has redeemed eight points.
    fn fixture_with_redemption() -> (Fixture, UserId) {
        let mut fixture = Fixture::new(50);
        let ann = fixture.add_user(1, &[0]);
        let amount = fixture.company_mut().rate.to_amount(points(8)).unwrap();
        fixture.book.account_mut(Account::Redeemed(COMPANY)).unwrap().balance = amount;
        let redemption = Redemption {
            id: ID,
            company_id: COMPANY,
            user_id: ann,
            points: points(8),
            amount,
            created_at: Timestamp::UNIX_EPOCH,
            is_refunded: false,
        };
        fixture.facts.redemptions.insert(ID, Some(redemption));
        (fixture, ann)
    }

    fn refund_redemption(fixture: &mut Fixture) -> Result<(Redemption, Points), DecideError<RefundError>> {
        fixture
            .decide_command(PROVIDER, &Refund(ID))
            .map(|(redemption, balance)| (redemption, balance.points))
    }

    #[test]
    fn a_refund_returns_the_amount_at_the_current_rate() {
        let (mut fixture, ann) = fixture_with_redemption();
        fixture.company_mut().rate = crate::money::PointsPerDollar::new(25).unwrap();
        let (redemption, returned) = refund_redemption(&mut fixture).unwrap();
        assert_eq!((redemption.is_refunded, returned), (true, points(4)));
        assert_eq!(fixture.shown_points(Account::Wallet(WalletType::User, ann)), 4);
        assert_eq!(fixture.book.account(Account::Redeemed(COMPANY)).unwrap().balance, Amount::ZERO);
    }

    #[test]
    fn the_redemption_decides_what_else_is_needed() {
        let (fixture, ann) = fixture_with_redemption();
        let needs = Needs {
            users: BTreeSet::from([ann]),
            companies: BTreeSet::from([COMPANY]),
            accounts: BTreeSet::from([Account::Wallet(WalletType::User, ann), Account::Redeemed(COMPANY)]),
            redemptions: BTreeSet::from([ID]),
            ..Needs::default()
        };
        assert_eq!(Refund(ID).further_needs(&fixture.facts).unwrap(), needs);
    }

    #[test]
    fn invalid_refunds_are_refused() {
        let (mut fixture, ann) = fixture_with_redemption();
        fixture.user_mut(ann).active = false;
        assert!(matches!(expect_refusal(refund_redemption(&mut fixture)), RefundError::UserDeleted));
        fixture.facts.redemptions.get_mut(&ID).unwrap().as_mut().unwrap().is_refunded = true;
        assert!(matches!(expect_refusal(refund_redemption(&mut fixture)), RefundError::AlreadyRefunded));
        fixture.facts.redemptions.insert(ID, None);
        assert!(matches!(expect_refusal(refund_redemption(&mut fixture)), RefundError::NoSuchRedemption));
        assert!(fixture.changes.is_empty());
    }
}
