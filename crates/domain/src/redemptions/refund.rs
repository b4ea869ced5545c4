//! Giving back what was redeemed.

use std::collections::BTreeSet;

use crate::ledger::{AccountBook, Changes, Facts, LedgerError, Moved, Needs, Outcome, Payment};
use crate::model::{Act, Redemption};
use crate::money::{Points, Price};
use crate::ports::{Context, LedgerAccess, StoreError, Undecided, carry_out};
use crate::values::RedemptionId;
use crate::wallets::{Account, Reason, WalletType};

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

/// Returns what a redemption took, once; answers it and the points that this is at today's rate.
pub fn refund<T: LedgerAccess + ?Sized>(
    tx: &mut T,
    id: RedemptionId,
    context: &Context<'_>,
) -> Result<(Redemption, Points), RefundError> {
    let redemptions = BTreeSet::from([id]);
    let needs = Needs { redemptions: redemptions.clone(), ..Needs::default() };
    carry_out(
        tx,
        &needs,
        |facts| {
            let Some(it) = facts.redemption(id)? else { return Ok(Needs::default()) };
            Ok(Needs {
                users: BTreeSet::from([it.user_id]),
                companies: BTreeSet::from([it.company_id]),
                accounts: BTreeSet::from([
                    Account::Wallet(WalletType::User, it.user_id),
                    Account::Redeemed(it.company_id),
                ]),
                redemptions, // read again under the lock of the account that pays: it is refunded once
                ..Needs::default()
            })
        },
        |facts, book, changes| decide(id, facts, book, changes, context),
    )
}

fn decide(
    id: RedemptionId,
    facts: &Facts,
    book: &mut AccountBook,
    changes: &mut Changes,
    context: &Context<'_>,
) -> Result<(Redemption, Points), Undecided<RefundError>> {
    let redemption = facts.redemption(id)?.ok_or(Undecided::Refused(RefundError::NoSuchRedemption))?;
    if redemption.is_refunded {
        return Err(Undecided::Refused(RefundError::AlreadyRefunded));
    }
    let user = facts.person(redemption.user_id)?.filter(|it| it.active);
    user.ok_or(Undecided::Refused(RefundError::UserDeleted))?;
    let company = facts.company(redemption.company_id)?;
    let company = &company.ok_or(Undecided::Refused(RefundError::NoSuchRedemption))?.company;
    let points = company.rate.points(redemption.amount);
    let price = Price::exactly(company.rate, redemption.amount, points)
        .ok_or_else(|| LedgerError::Broken("a redemption's amount is out of range".into()))?;
    let cause = context.cause(company, Act::Refund { redemption: id, points });
    let payment = Payment {
        company: company.id,
        cause: cause.id,
        reason: Reason::Refund,
        rate: company.rate,
        moved: Moved::Price {
            payers: &[Account::Redeemed(company.id)],
            credits: &[Account::Wallet(WalletType::User, redemption.user_id)],
            price,
            points,
        },
        at: cause.created_at,
    };
    match book.pay(&payment)? {
        Outcome::Closed => return Err(Undecided::Refused(RefundError::UserDeleted)),
        outcome => outcome.certain()?, // what was redeemed is there to be returned
    };
    changes.causes.push(cause);
    Ok((Redemption { is_refunded: true, ..redemption.clone() }, points))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::fixture::{COMPANY, Fixture, points, refusal};
    use crate::money::Amount;
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
        fixture.decide(|facts, book, changes, context| decide(ID, facts, book, changes, context))
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
