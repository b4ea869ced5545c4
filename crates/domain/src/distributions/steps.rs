//! Distributions in steps. A single transaction for a large distribution would hold its locks for too long.
//!
//! The first step records the journal entry and moves the whole price from the reserve to the company's
//! account in transit, which makes the distribution all-or-nothing. Each further step pays some of the
//! receivers from this account. The last step returns the amounts that could not be paid because users have
//! been deleted in the meantime. With n receivers, legs 1 to n pay the receivers, leg n + 1 moves the price
//! into transit, and leg n + 2 returns the remainder. The remaining steps are stored, so that any process can
//! finish the distribution after a crash.

use std::collections::BTreeSet;

use crate::decide::{Decide, DecideError, DecisionState};
use crate::ledger::{
    AccountBook, DistributionProgress, DistributionStep, Facts, LedgerError, Needs, Payment, PaymentKind,
    amount_out_of_range,
};
use crate::model::{EntryKind, JournalEntry};
use crate::money::{Amount, Price};
use crate::ports::StoreError;
use crate::values::{JournalEntryId, Timestamp, UserId, checked_cast};
use crate::wallets::Account;

/// The number of receivers that one step pays. It is fixed: all steps are stored when the distribution starts.
pub(super) const RECEIVERS_PER_STEP: usize = 1_000;

/// The stored progress of a new distribution.
pub(super) fn started_progress(receivers: &[UserId]) -> DistributionProgress {
    DistributionProgress::Started { receivers: receivers.to_vec(), receivers_per_step: RECEIVERS_PER_STEP }
}

/// Executes the next step of a distribution. Returns the number of its receivers, or `None` if nothing was
/// left to do.
#[derive(Debug, Clone, Copy)]
pub struct ContinueDistribution(pub JournalEntryId);

impl Decide for ContinueDistribution {
    type Done = Option<usize>;
    type Refusal = StoreError;

    fn initial_needs(&self) -> Needs {
        Needs { distributions: BTreeSet::from([self.0]), ..Needs::default() }
    }

    fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError> {
        let accounts = match facts.find_distribution_step(self.0)? {
            None => BTreeSet::new(),
            Some(DistributionStep::Pay { entry, users, .. }) => {
                let credits = users.iter().filter_map(|user| entry.credited_account(Some(*user)));
                credits.chain([Account::Transit(entry.company_id)]).collect()
            }
            Some(DistributionStep::Return { entry, .. }) => {
                BTreeSet::from([Account::Transit(entry.company_id), Account::Reserve(entry.company_id)])
            }
        };
        Ok(Needs { accounts, ..Needs::default() })
    }

    fn affected_count(&self) -> usize {
        RECEIVERS_PER_STEP
    }

    fn decide(&self, state: &mut DecisionState<'_>) -> Result<Option<usize>, DecideError<StoreError>> {
        let DecisionState { facts, book, changes, context, .. } = state;
        let entry_id = self.0;
        match facts.find_distribution_step(entry_id)? {
            None => Ok(None),
            Some(DistributionStep::Pay { entry, first_leg, users }) => {
                let credits: Vec<Account> =
                    users.iter().filter_map(|user| entry.credited_account(Some(*user))).collect();
                let paid = pay_share(book, entry, (*first_leg, &credits), context.clock.now())?;
                let unpaid = checked_cast::<u32, _>(users.len()) - paid;
                let progress = DistributionProgress::StepPaid { first_leg: *first_leg, unpaid };
                changes.distributions.push((entry_id, progress));
                Ok(Some(users.len()))
            }
            Some(DistributionStep::Return { entry, unpaid }) => {
                if *unpaid > 0 {
                    return_unpaid(book, entry, *unpaid, context.clock.now())?;
                }
                changes.distributions.push((entry_id, DistributionProgress::Finished));
                Ok(Some(0))
            }
        }
    }
}

fn pay_share(
    book: &mut AccountBook,
    entry: &JournalEntry,
    (first_leg, to): (u32, &[Account]),
    now: Timestamp,
) -> Result<u32, LedgerError> {
    let (from, points) = (Account::Transit(entry.company_id), entry.points_per_receiver());
    let payment_kind =
        PaymentKind::SharePerReceiver { from, to, first_leg, each: amount_per_receiver(entry)?, points };
    Ok(book.pay(&payment_of_step(entry, payment_kind, now)?)?.expect_paid()?.transfer_count)
}

fn return_unpaid(
    book: &mut AccountBook,
    entry: &JournalEntry,
    unpaid: u32,
    now: Timestamp,
) -> Result<(), LedgerError> {
    let unpaid_total = amount_per_receiver(entry)?
        .checked_mul(unpaid.into())
        .zip(entry.points_per_receiver().checked_mul(unpaid.into()));
    let leg = entry.kind.leg_count().checked_add(2);
    let ((total, points_total), leg) = unpaid_total.zip(leg).ok_or_else(amount_out_of_range)?;
    let price = Price { each: total, total, threshold: total, points_total };
    let (from, to) = (Account::Transit(entry.company_id), Account::Reserve(entry.company_id));
    let payment_kind = PaymentKind::SingleLeg { from, to, price, leg };
    book.pay(&payment_of_step(entry, payment_kind, now)?)?.expect_paid()?;
    Ok(())
}

/// The payment of a later step. Its time is that of the step, so that statements of past periods do not change, but
/// not earlier than that of the journal entry, in case the clock was set back.
fn payment_of_step<'a>(
    entry: &JournalEntry,
    payment_kind: PaymentKind<'a>,
    now: Timestamp,
) -> Result<Payment<'a>, LedgerError> {
    Ok(Payment { at: now.max(entry.created_at), ..Payment::for_entry(entry, payment_kind)? })
}

/// The amount for each receiver.
fn amount_per_receiver(entry: &JournalEntry) -> Result<Amount, LedgerError> {
    if !matches!(entry.kind, EntryKind::Distribution { .. }) {
        return Err(LedgerError::Broken(format!(
            "journal entry {} is in progress but is not a distribution",
            entry.id
        )));
    }
    entry.rate.to_amount(entry.points_per_receiver()).ok_or_else(amount_out_of_range)
}
