//! Distributions in steps. A single transaction for a large distribution would hold its locks for too long.
//!
//! The first step records the journal entry and moves the whole price from the reserve to the company's
//! account in transit, which makes the distribution all-or-nothing. Each further step pays some of the
//! receivers from there. The last one returns what could not be paid because users were deleted meanwhile.
//! With n receivers, legs 1 to n are theirs, leg n + 1 goes into transit and leg n + 2 comes back. The store
//! has the remaining steps, so that any process can finish the distribution after a crash.

use std::collections::BTreeSet;

use crate::decide::{Decide, Deciding, Undecided};
use crate::ledger::{
    AccountBook, DistributionProgress, DistributionStep, Facts, LedgerError, Moved, Needs, Payment,
};
use crate::model::{Act, JournalEntry};
use crate::money::{Amount, Price};
use crate::ports::StoreError;
use crate::values::{JournalEntryId, UserId, fit};
use crate::wallets::Account;

/// The number of receivers that one step pays.
pub(super) const RECEIVERS_PER_STEP: usize = 1_000;

/// The stored progress of a new distribution.
pub(super) fn begun(cause: &JournalEntry, receivers: &[UserId]) -> DistributionProgress {
    let (receivers, each_step) = (receivers.to_vec(), RECEIVERS_PER_STEP);
    DistributionProgress::Begun { cause: cause.id, receivers, each_step }
}

/// Executes the next step of a distribution. Returns the number of its receivers, or `None` if nothing was
/// left to do.
#[derive(Debug, Clone, Copy)]
pub struct ContinueDistribution(pub JournalEntryId);

impl Decide for ContinueDistribution {
    type Done = Option<usize>;
    type Refusal = StoreError;

    fn needs(&self) -> Needs {
        Needs { distributions: BTreeSet::from([self.0]), ..Needs::default() }
    }

    fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError> {
        let accounts = match facts.distribution(self.0)? {
            None => BTreeSet::new(),
            Some(DistributionStep::Pay { cause, users, .. }) => {
                let credits = users.iter().filter_map(|user| cause.credit(Some(*user)));
                credits.chain([Account::Transit(cause.company_id)]).collect()
            }
            Some(DistributionStep::Return { cause, .. }) => {
                BTreeSet::from([Account::Transit(cause.company_id), Account::Reserve(cause.company_id)])
            }
        };
        Ok(Needs { accounts, ..Needs::default() })
    }

    fn size(&self) -> usize {
        RECEIVERS_PER_STEP
    }

    fn decide(&self, on: &mut Deciding<'_>) -> Result<Option<usize>, Undecided<StoreError>> {
        let Deciding { facts, book, changes, .. } = on;
        let cause = self.0;
        match facts.distribution(cause)? {
            None => Ok(None),
            Some(DistributionStep::Pay { cause: entry, first_leg, users }) => {
                let credits: Vec<Account> =
                    users.iter().filter_map(|user| entry.credit(Some(*user))).collect();
                let paid = pay_share(book, entry, *first_leg, &credits)?;
                let unpaid = fit::<u32, _>(users.len()) - paid;
                changes.distributions.push(DistributionProgress::Paid {
                    cause,
                    first_leg: *first_leg,
                    unpaid,
                });
                Ok(Some(users.len()))
            }
            Some(DistributionStep::Return { cause: entry, unpaid }) => {
                if *unpaid > 0 {
                    pay_back(book, entry, *unpaid)?;
                }
                changes.distributions.push(DistributionProgress::Ended { cause });
                Ok(Some(0))
            }
        }
    }
}

fn pay_share(
    book: &mut AccountBook,
    cause: &JournalEntry,
    first_leg: u32,
    to: &[Account],
) -> Result<u32, LedgerError> {
    let (from, points) = (Account::Transit(cause.company_id), cause.points());
    let share = Moved::Share { from, to, first_leg, each: each(cause)?, points };
    Ok(book.pay(&Payment::of(cause, share)?)?.certain()?.transfers)
}

fn pay_back(book: &mut AccountBook, cause: &JournalEntry, unpaid: u32) -> Result<(), LedgerError> {
    let rest = each(cause)?.checked_mul(unpaid.into()).zip(cause.points().checked_mul(unpaid.into()));
    let leg = cause.act.legs().checked_add(2);
    let ((total, points_total), leg) = rest.zip(leg).ok_or_else(overflow)?;
    let price = Price { each: total, total, threshold: total, points_total };
    let (from, to) = (Account::Transit(cause.company_id), Account::Reserve(cause.company_id));
    book.pay(&Payment::of(cause, Moved::Sum { from, to, price, leg })?)?.certain()?;
    Ok(())
}

/// The amount for each receiver.
fn each(cause: &JournalEntry) -> Result<Amount, LedgerError> {
    if !matches!(cause.act, Act::Distribution { .. }) {
        return Err(LedgerError::Broken(format!("cause {} is under way and no distribution", cause.id)));
    }
    cause.rate.amount(cause.points()).ok_or_else(overflow)
}

fn overflow() -> LedgerError {
    LedgerError::Broken("an amount is out of range".into())
}
