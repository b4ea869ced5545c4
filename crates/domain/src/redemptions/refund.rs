//! Refunding a redemption, for example after a failed order: its amount returns to the user's earned wallet.

use std::collections::BTreeSet;

use crate::decide::{Decide, Deciding, Undecided};
use crate::ledger::{Facts, LedgerError, Moved, Needs, Payment, PaymentOutcome};
use crate::model::{Act, Redemption};
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

/// Returns the amount of a redemption to the user's earned wallet, once. The result has the redemption and
/// the change of the wallet, with the points of the amount at the present rate.
#[derive(Debug, Clone, Copy)]
pub struct Refund(pub RedemptionId);

impl Decide for Refund {
    type Done = (Redemption, BalanceChange);
    type Refusal = RefundError;

    fn needs(&self) -> Needs {
        Needs { redemptions: BTreeSet::from([self.0]), ..Needs::default() }
    }

    fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError> {
        let Some(redemption) = facts.redemption(self.0)? else { return Ok(Needs::default()) };
        let wallet = Account::Wallet(WalletType::User, redemption.user_id);
        Ok(Needs {
            users: BTreeSet::from([redemption.user_id]),
            companies: BTreeSet::from([redemption.company_id]),
            accounts: BTreeSet::from([wallet, Account::Redeemed(redemption.company_id)]),
            redemptions: BTreeSet::from([self.0]), // read again under the lock of the paying account, so that it is refunded only once
            ..Needs::default()
        })
    }

    fn decide(&self, on: &mut Deciding<'_>) -> Result<Self::Done, Undecided<RefundError>> {
        let Deciding { facts, book, changes, context, .. } = on;
        let no_redemption = || Undecided::Refused(RefundError::NoSuchRedemption);
        let redemption = facts.redemption(self.0)?.ok_or_else(no_redemption)?;
        if redemption.is_refunded {
            return Err(Undecided::Refused(RefundError::AlreadyRefunded));
        }
        let user = facts.person(redemption.user_id)?.filter(|person| person.active);
        let user = user.ok_or(Undecided::Refused(RefundError::UserDeleted))?;
        let company = &facts.company(redemption.company_id)?.ok_or_else(no_redemption)?.company;
        let (rate, wallet) = (company.rate, Account::Wallet(WalletType::User, user.id));
        let points = rate.points(redemption.amount);
        let cause = context.cause(company, Act::Refund { redemption: self.0, points });
        let price = cause.price(Some(redemption.amount));
        let price =
            price.ok_or_else(|| LedgerError::Broken("a redemption's amount is out of range".into()))?;
        let before = book.shown(wallet, rate);
        let moved = Moved::Price { payers: &cause.payers(), credits: &[wallet], price, points };
        match book.pay(&Payment::of(&cause, moved)?)? {
            PaymentOutcome::Closed => return Err(Undecided::Refused(RefundError::UserDeleted)),
            outcome => outcome.certain()?, // the redeemed account holds the amount of each redemption
        };
        changes.journal_entries.push(cause);
        let balance = BalanceChange { rate, points, before, after: book.shown(wallet, rate) };
        Ok((Redemption { is_refunded: true, ..redemption.clone() }, balance))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::fixture::{COMPANY, Fixture, PROVIDER, points, refusal};
    use crate::money::{Amount, Points};
    use crate::values::{Timestamp, UserId};

    const ID: RedemptionId = RedemptionId::from_uuid(Uuid::from_u128(77));

    /// A user who has redeemed eight points.
    fn redeemed() -> (Fixture, UserId) {
        let mut fixture = Fixture::new(50);
        let ann = fixture.add_user(1, &[0]);
        let amount = fixture.company().rate.amount(points(8)).unwrap();
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

    fn refunded(fixture: &mut Fixture) -> Result<(Redemption, Points), Undecided<RefundError>> {
        fixture.decide(PROVIDER, &Refund(ID)).map(|(redemption, balance)| (redemption, balance.points))
    }

    #[test]
    fn a_refund_returns_the_amount_at_the_present_rate() {
        let (mut fixture, ann) = redeemed();
        fixture.company().rate = crate::money::PointsPerDollar::new(25).unwrap();
        let (redemption, returned) = refunded(&mut fixture).unwrap();
        assert_eq!((redemption.is_refunded, returned), (true, points(4)));
        assert_eq!(fixture.shows(Account::Wallet(WalletType::User, ann)), 4);
        assert_eq!(fixture.book.account(Account::Redeemed(COMPANY)).unwrap().balance, Amount::ZERO);
    }

    #[test]
    fn what_cannot_be_refunded_is_refused() {
        let (mut fixture, ann) = redeemed();
        fixture.person(ann).active = false;
        assert!(matches!(refusal(refunded(&mut fixture)), RefundError::UserDeleted));
        fixture.facts.redemptions.get_mut(&ID).unwrap().as_mut().unwrap().is_refunded = true;
        assert!(matches!(refusal(refunded(&mut fixture)), RefundError::AlreadyRefunded));
        fixture.facts.redemptions.insert(ID, None);
        assert!(matches!(refusal(refunded(&mut fixture)), RefundError::NoSuchRedemption));
        assert!(fixture.changes.is_empty());
    }
}
