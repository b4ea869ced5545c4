//! Large distributions where one long transaction would keep everybody waiting.
//!
//! The first step records the cause and takes the whole price from the reserve into the company's account in transit:
//! it decides all or nothing. Each further step gives to some of the receivers from there; the last returns what could
//! not be given, to users who were deleted meanwhile. With n receivers, legs 1 to n are theirs, leg n + 1 goes into
//! transit, leg n + 2 back. What is still to be done stands in the store, so that after a crash anybody can finish it.

use super::DistributeError;
use crate::model::{Act, Cause, Company};
use crate::money::{Amount, Points, Price};
use crate::ports::{
    Accounts, Context, MailOutbox, Moved, Outcome, Payment, ReadSteps, ReadUsers, Step, Steps, Store,
    StoreError, StoreExt,
};
use crate::reserve;
use crate::values::{CauseId, CompanyId, UserId, fit};
use crate::wallets::{Account, Reason, WalletType};

/// To how many receivers a single transaction gives where it keeps others waiting.
pub(super) const AT_ONCE: usize = 1_000;

/// Who would receive now: to be read before the transaction of [`run_with`](super::run_with), where a long look inside
/// would keep others waiting. Whoever is deleted since gets nothing.
pub fn read_ahead<R: ReadSteps + ReadUsers + ?Sized>(
    reads: &mut R,
    company: CompanyId,
    wallet: WalletType,
) -> Result<Option<Vec<UserId>>, StoreError> {
    if !reads.blocks_others() {
        return Ok(None);
    }
    reads.active_users(company, wallet == WalletType::Manager).map(Some)
}

/// Takes the price and notes the receivers.
pub(super) fn begin<T>(
    tx: &mut T,
    company: &Company,
    cause: &Cause,
    price: Price,
    receivers: &[UserId],
    context: &Context<'_>,
) -> Result<(), DistributeError>
where
    T: Accounts + MailOutbox + ReadUsers + Steps + ?Sized,
{
    let leg = cause.act.legs().checked_add(1).ok_or(DistributeError::OutOfRange)?;
    let (from, to) = (Account::Reserve(company.id), Account::Transit(company.id));
    match tx.pay(&payment(cause, Moved::Sum { from, to, price, leg }))? {
        Outcome::Paid(paid) => {
            reserve::queue_alert(tx, company, paid.low, context)?;
            Ok(tx.begin_steps(cause.id, receivers, AT_ONCE)?)
        }
        Outcome::Insufficient => Err(DistributeError::InsufficientFunds),
        Outcome::Closed => Err(StoreError::Broken("a company's account is closed".into()).into()),
    }
}

/// A distribution whose stored steps cannot be carried out. Its points stay in transit until an operator repairs the
/// database.
#[derive(Debug, Clone)]
pub struct Unfinishable {
    /// The journal entry of the distribution.
    pub cause: CauseId,
    /// The company that pays; none if the journal has no such entry.
    pub company: Option<CompanyId>,
    /// Why its next step fails.
    pub reason: StoreError,
}

/// Carries out the remaining steps of every unfinished distribution, one transaction per step, and calls `given` with
/// the number of receivers of each. Any number of processes may do this at once.
///
/// Returns the distributions that cannot be finished; these do not keep others from being finished. Fails if the
/// database cannot be used now; a later call then continues.
pub fn finish(store: &dyn Store, given: &mut dyn FnMut(usize)) -> Result<Vec<Unfinishable>, StoreError> {
    let unfinished = store.snapshot(|reads| reads.in_transit())?.distributions;
    let mut failed = Vec::new();
    for (cause, company) in unfinished {
        loop {
            match store.transaction(|tx| step(tx, cause)) {
                Ok(Some(count)) => given(count),
                Ok(None) => break,
                Err(reason @ (StoreError::Broken(_) | StoreError::Corrupt { .. })) => {
                    failed.push(Unfinishable { cause, company, reason });
                    break;
                }
                Err(cause) => return Err(cause),
            }
        }
    }
    Ok(failed)
}

/// Carries out the next step of a distribution. Returns the number of its receivers, or `None` if nothing was left.
fn step<T: Accounts + Steps + ?Sized>(tx: &mut T, cause: CauseId) -> Result<Option<usize>, StoreError> {
    match tx.next_step(cause)? {
        None => Ok(None),
        Some(Step::Give { cause, first_leg, users }) => {
            let (wallet, points, each) = terms(&cause)?;
            let to: Vec<Account> = users.iter().map(|it| Account::Wallet(wallet, *it)).collect();
            let from = Account::Transit(cause.company_id);
            let share = Moved::Share { from, to: &to, first_leg, each, points };
            let given = tx.pay(&payment(&cause, share))?.certain()?.transfers;
            let not_given = fit::<u32, _>(users.len()) - given;
            tx.end_step(cause.id, first_leg, not_given)?;
            Ok(Some(users.len()))
        }
        Some(Step::GiveBack { cause, not_given }) => {
            if not_given > 0 {
                give_back(tx, &cause, not_given)?;
            }
            tx.end_steps(cause.id)?;
            Ok(Some(0))
        }
    }
}

fn give_back<T: Accounts + ?Sized>(tx: &mut T, cause: &Cause, not_given: u32) -> Result<(), StoreError> {
    let (_, points, each) = terms(cause)?;
    let rest = each.checked_mul(not_given.into()).zip(points.checked_mul(not_given.into()));
    let leg = cause.act.legs().checked_add(2);
    let ((total, points_total), leg) = rest.zip(leg).ok_or_else(overflow)?;
    let price = Price { each: total, total, threshold: total, points_total };
    let (from, to) = (Account::Transit(cause.company_id), Account::Reserve(cause.company_id));
    tx.pay(&payment(cause, Moved::Sum { from, to, price, leg }))?.certain()?;
    Ok(())
}

/// Into which wallet a distribution gives, how many points, and how much money that is.
fn terms(cause: &Cause) -> Result<(WalletType, Points, Amount), StoreError> {
    let Act::Distribution { wallet, points, .. } = cause.act else {
        return Err(StoreError::Broken(format!("cause {} is under way and no distribution", cause.id)));
    };
    Ok((wallet, points, cause.rate.amount(points).ok_or_else(overflow)?))
}

fn overflow() -> StoreError {
    StoreError::Broken("an amount is out of range".into())
}

fn payment<'a>(cause: &Cause, moved: Moved<'a>) -> Payment<'a> {
    Payment {
        company: cause.company_id,
        cause: cause.id,
        reason: Reason::PointDistribution,
        rate: cause.rate,
        moved,
        at: cause.created_at,
    }
}
