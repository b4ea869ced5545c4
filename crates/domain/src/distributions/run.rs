//! Runs a distribution, all or nothing.

use std::collections::BTreeSet;

use super::DistributeError;
use super::steps::{self, RECEIVERS_PER_STEP};
use crate::decide::{Decide, DecideError, DecisionState};
use crate::ledger::{AccountBook, Changes, Facts, LedgerError, Needs, Payment, PaymentKind, PaymentOutcome};
use crate::model::{EntryKind, Schedule, ScheduledDate, UserSummary};
use crate::money::{BalanceChange, Points, Sum};
use crate::ports::{Context, ReadUsers, StoreError};
use crate::reserve;
use crate::values::{CompanyId, UserId};
use crate::wallets::{Account, WalletType};

/// Distributes points from a company's reserve to users, all or nothing.
///
/// More receivers than fit into one step are paid in several steps. This command is the first step; the
/// caller then [continues] with the further steps.
///
/// [continues]: super::ContinueDistribution
#[derive(Debug, Clone)]
pub struct RunDistribution {
    /// The company whose reserve pays.
    pub company_id: CompanyId,
    pub wallet: WalletType,
    /// The points or dollars for each user.
    pub sum: Sum,
    pub recipients: Recipients,
    /// The schedule for whose next date this distribution runs, as the caller read it. The command is refused if
    /// the schedule has changed since then.
    pub schedule: Option<Schedule>,
}

/// The receivers of a distribution.
#[derive(Debug, Clone)]
pub enum Recipients {
    /// These users, who must all be active users of the company.
    Named(Vec<UserId>),
    /// Every active user or every active manager, as read from the database. A user who has been deleted
    /// since then receives nothing.
    All(Vec<UserId>),
}

/// The result of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distribution {
    /// The number of receivers.
    pub users: usize,
    /// The change of the reserve; `points` in it are the points for each user.
    pub reserve: BalanceChange,
}

impl Recipients {
    /// Returns every active user of a company, or, for the manager wallet, every active manager.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn all_active<R: ReadUsers + ?Sized>(
        reads: &mut R,
        company: CompanyId,
        wallet: WalletType,
    ) -> Result<Self, StoreError> {
        reads.list_active_user_ids(company, wallet == WalletType::Manager).map(Self::All)
    }

    /// The number of users.
    pub fn count(&self) -> usize {
        self.user_ids().len()
    }

    fn user_ids(&self) -> &[UserId] {
        match self {
            Self::Named(ids) | Self::All(ids) => ids,
        }
    }
}

impl Decide for RunDistribution {
    type Done = Distribution;
    type Refusal = DistributeError;

    fn initial_needs(&self) -> Needs {
        let mut needs = Needs {
            companies: BTreeSet::from([self.company_id]),
            accounts: BTreeSet::from([Account::Reserve(self.company_id)]),
            schedules: self.schedule.iter().map(|schedule| schedule.id).collect(),
            ..Needs::default()
        };
        let ids = self.recipients.user_ids();
        if self.is_in_steps() {
            needs.accounts.insert(Account::Transit(self.company_id));
        } else {
            needs.accounts.extend(ids.iter().map(|id| Account::Wallet(self.wallet, *id)));
        }
        if !self.is_in_steps() || matches!(self.recipients, Recipients::Named(_)) {
            needs.users.extend(ids);
        }
        needs
    }

    fn further_needs(&self, _facts: &Facts) -> Result<Needs, LedgerError> {
        Ok(Needs {
            accounts: BTreeSet::from([Account::Rounding(self.company_id)]),
            administrators: BTreeSet::from([self.company_id]),
            ..Needs::default()
        })
    }

    fn affected_count(&self) -> usize {
        self.recipients.count()
    }

    fn decide(&self, state: &mut DecisionState<'_>) -> Result<Distribution, DecideError<DistributeError>> {
        let DecisionState { facts, book, changes, context, .. } = state;
        let found = facts.find_company(self.company_id)?;
        let company = &found.ok_or(DecideError::Refused(DistributeError::NoSuchCompany))?.company;
        let (rate, reserve) = (company.rate, Account::Reserve(company.id));
        let points = self.sum.to_points(rate).map_err(|error| DecideError::Refused(error.into()))?;
        let before = book.shown_points(reserve, rate);
        let done = |users, book: &AccountBook| {
            let after = book.shown_points(reserve, rate);
            Ok(Distribution { users, reserve: BalanceChange { rate, points, before, after } })
        };
        let date = match self.next_date(facts, changes, context)? {
            NextDate::Unscheduled => None,
            NextDate::Due(date) => Some(date),
            NextDate::AlreadyPaid => return done(0, book),
        };
        let receivers = self.resolve_receivers(facts, book)?;
        if receivers.is_empty() {
            return Err(DecideError::Refused(DistributeError::NoReceivers));
        }
        let out_of_range = || DecideError::Refused(DistributeError::OutOfRange);
        let count = u32::try_from(receivers.len()).map_err(|_too_many| out_of_range())?;
        let kind = EntryKind::Distribution { wallet: self.wallet, points, receivers: count, date };
        let entry = context.new_journal_entry(company, kind);
        let price =
            entry.price_per_receiver(None).filter(|_| points != Points::ZERO).ok_or_else(out_of_range)?;
        let credits: Vec<Account>;
        let payment_kind = if self.is_in_steps() {
            changes.distributions.push((entry.id, steps::started_progress(&receivers)));
            let leg = entry.kind.leg_count().checked_add(1).ok_or_else(out_of_range)?;
            PaymentKind::SingleLeg { from: reserve, to: Account::Transit(company.id), price, leg }
        } else {
            credits =
                receivers.iter().filter_map(|receiver| entry.credited_account(Some(*receiver))).collect();
            PaymentKind::PricePerReceiver { payers: &[reserve], credits: &credits, price, points }
        };
        let paid = match book.pay(&Payment::for_entry(&entry, payment_kind)?)? {
            PaymentOutcome::InsufficientFunds => {
                let (needed, available) = (price.points_total, before);
                return Err(DecideError::Refused(DistributeError::InsufficientFunds { needed, available }));
            }
            outcome => outcome.expect_paid()?, // receivers with closed wallets were already left out
        };
        reserve::queue_alert_on_crossing(company, paid.threshold_crossing, facts, changes, context)?;
        changes.journal_entries.push(entry);
        done(receivers.len(), book)
    }
}

/// The schedule date for which a distribution runs.
enum NextDate {
    Unscheduled,
    Due(ScheduledDate),
    /// The journal already has this date. The schedule advances to the next one.
    AlreadyPaid,
}

impl RunDistribution {
    fn is_in_steps(&self) -> bool {
        self.recipients.count() > RECEIVERS_PER_STEP
    }

    /// Determines the date to pay, and advances the schedule to the date after it.
    fn next_date(
        &self,
        facts: &Facts,
        changes: &mut Changes,
        context: &Context<'_>,
    ) -> Result<NextDate, DecideError<DistributeError>> {
        let Some(schedule) = &self.schedule else { return Ok(NextDate::Unscheduled) };
        let found = facts.find_schedule(schedule.id)?.filter(|found| found.schedule == *schedule);
        let found = found.ok_or(DecideError::Refused(DistributeError::ScheduleChanged))?;
        let mut next = schedule.clone();
        next.advance_to_next_date(context.clock.now());
        changes.schedules.push(next);
        if found.is_paid {
            return Ok(NextDate::AlreadyPaid);
        }
        Ok(NextDate::Due(ScheduledDate { schedule: schedule.id, due_on: schedule.next_on }))
    }

    fn resolve_receivers(
        &self,
        facts: &Facts,
        book: &AccountBook,
    ) -> Result<Vec<UserId>, DecideError<DistributeError>> {
        let refused = |error| Err(DecideError::Refused(error));
        let managers_only = self.wallet == WalletType::Manager;
        let has_wallet = |id| book.is_open(Account::Wallet(self.wallet, id));
        let active = |id: UserId| -> Result<Option<&UserSummary>, LedgerError> {
            Ok(facts.find_user(id)?.filter(|user| user.active && user.company_id == self.company_id))
        };
        let ids = match &self.recipients {
            Recipients::Named(ids) => ids,
            Recipients::All(ids) if self.is_in_steps() => return Ok(ids.clone()),
            Recipients::All(ids) => {
                let mut receivers = Vec::with_capacity(ids.len());
                for id in ids {
                    let receives = active(*id)?.is_some_and(|user| user.manager || !managers_only);
                    receivers.extend((receives && has_wallet(*id)?).then_some(*id));
                }
                return Ok(receivers);
            }
        };
        let mut seen = BTreeSet::new();
        if let Some(id) = ids.iter().find(|id| !seen.insert(**id)) {
            return refused(DistributeError::Duplicate(*id));
        }
        for id in ids {
            match active(*id)? {
                None => return refused(DistributeError::NoSuchUser(*id)),
                Some(user) if managers_only && !user.manager => {
                    return refused(DistributeError::NotAManager(*id));
                }
                Some(_) if self.is_in_steps() || has_wallet(*id)? => {}
                Some(_) => return refused(DistributeError::NoSuchUser(*id)), // deleted since it was read
            }
        }
        Ok(ids.clone())
    }
}

#[cfg(test)]
mod tests;
