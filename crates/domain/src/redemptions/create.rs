//! Redeeming points.

use std::collections::BTreeSet;

use crate::ledger::{AccountBook, Changes, Facts, Moved, Needs, Outcome, Payment};
use crate::model::{Act, Event, NewEvent, Redemption, RedemptionEvent};
use crate::money::{Points, price};
use crate::ports::{Context, LedgerAccess, StoreError, Undecided, carry_out};
use crate::values::{RedemptionId, UserId};
use crate::wallets::{Account, Reason, WalletType};

/// Why nothing was redeemed.
#[derive(Debug, thiserror::Error)]
pub enum RedeemError {
    /// There is no such active user.
    #[error("no active user has this id")]
    NoSuchUser,
    /// The points are none, or too many.
    #[error("points must be at least 1, and a possible amount")]
    OutOfRange,
    /// The user wallet does not cover them.
    #[error("Insufficient funds")]
    InsufficientFunds,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Spends points of a user's earned wallet, and tells the company's provider.
pub fn create<T: LedgerAccess + ?Sized>(
    tx: &mut T,
    user: UserId,
    points: Points,
    context: &Context<'_>,
) -> Result<Redemption, RedeemError> {
    let needs = Needs {
        users: BTreeSet::from([user]),
        accounts: BTreeSet::from([Account::Wallet(WalletType::User, user)]),
        ..Needs::default()
    };
    carry_out(
        tx,
        &needs,
        |facts| {
            let company = facts.person(user)?.map(|it| it.company_id);
            let accounts = company.map(|it| [Account::Redeemed(it), Account::Rounding(it)]);
            Ok(Needs { accounts: accounts.into_iter().flatten().collect(), ..Needs::default() })
        },
        |facts, book, changes| decide(user, points, facts, book, changes, context),
    )
}

fn decide(
    user: UserId,
    points: Points,
    facts: &Facts,
    book: &mut AccountBook,
    changes: &mut Changes,
    context: &Context<'_>,
) -> Result<Redemption, Undecided<RedeemError>> {
    let no_user = || Undecided::Refused(RedeemError::NoSuchUser);
    let out_of_range = || Undecided::Refused(RedeemError::OutOfRange);
    let user = facts.person(user)?.filter(|it| it.active).ok_or_else(no_user)?;
    let found = facts.company(user.company_id)?.ok_or_else(no_user)?;
    let company = &found.company;
    let price = price(company.rate, points, 1).ok_or_else(out_of_range)?;
    if points == Points::ZERO {
        return Err(out_of_range());
    }
    let wallet = Account::Wallet(WalletType::User, user.id);
    let cause = context.cause(company, Act::Redemption { user: user.id, points });
    let payment = Payment {
        company: company.id,
        cause: cause.id,
        reason: Reason::Redemption,
        rate: company.rate,
        moved: Moved::Price { payers: &[wallet], credits: &[Account::Redeemed(company.id)], price, points },
        at: cause.created_at,
    };
    match book.pay(&payment)? {
        Outcome::Paid(_) => {}
        Outcome::Insufficient | Outcome::Closed => {
            return Err(Undecided::Refused(RedeemError::InsufficientFunds));
        }
    }
    let spent = book.account(wallet).map(|it| company.rate.points(it.spent));
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
    changes.causes.push(cause);
    Ok(redemption)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{COMPANY, Fixture, missing, points, refusal, user};
    use crate::ledger::LedgerError;

    fn redeem(fixture: &mut Fixture, id: UserId, count: i64) -> Result<Redemption, Undecided<RedeemError>> {
        fixture
            .decide(|facts, book, changes, context| decide(id, points(count), facts, book, changes, context))
    }

    #[test]
    fn points_are_spent_once_and_the_provider_is_told() {
        let mut fixture = Fixture::new(50);
        let ann = fixture.add_user(1, &[10, 99]);
        let redemption = redeem(&mut fixture, ann, 4).unwrap();
        assert_eq!(redemption.amount, fixture.company().rate.amount(points(4)).unwrap());
        let wallet = Account::Wallet(WalletType::User, ann);
        assert_eq!((fixture.shows(wallet), fixture.shows(Account::Redeemed(COMPANY))), (6, 4));
        assert_eq!((fixture.changes.causes.len(), fixture.changes.events.len()), (1, 1));
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
