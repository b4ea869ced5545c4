//! Runs the distributions of schedules on their due dates.

use std::collections::BTreeMap;

use time::Duration;

use crate::any_provider;
use crate::commands::{BlockingCommandQueue, Command, Done, Refusal};
use crate::distributions::{DistributeError, Recipients, RunDistribution};
use crate::model::{FailedAttempts, Notification, Requester, Schedule, SkippedDate};
use crate::money::Sum;
use crate::notifications::notify_administrators;
use crate::ports::{
    Context, LockableRow, Locks, NotificationOutbox, ReadCompanies, ReadSchedules, ReadUsers, Schedules,
    Store, StoreError, StoreExt, Timestamp,
};
use crate::values::{IsoDate, ScheduleId};

/// The time between the refusal of a date and the next attempt.
const RETRY_INTERVAL: Duration = Duration::HOUR;
/// How long a date is retried before it is given up.
const SKIP_AFTER: Duration = Duration::DAY;
/// How long a schedule is skipped after the store failed, so that other schedules run.
const SKIP_AFTER_FAILURE: Duration = Duration::MINUTE;

/// The schedules for which the store failed, and until when they are skipped.
pub type SkippedSchedules = BTreeMap<ScheduleId, Timestamp>;

/// The result for a due date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessedDate {
    pub schedule: ScheduleId,
    pub due_on: IsoDate,
    pub outcome: DateOutcome,
}

/// The outcome for a due date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DateOutcome {
    Paid {
        users: usize,
    },
    /// The distribution was refused and will be retried.
    Refused {
        /// The reason for the refusal.
        reason: String,
        /// The time of the next attempt.
        retry_at: Timestamp,
    },
    /// The date was skipped, because it was refused for a whole day.
    Skipped {
        /// The reason for the last refusal.
        reason: String,
    },
    /// Another process ran the distribution of the date or changed the schedule first.
    ScheduleChanged,
}

/// Runs the distribution of the most overdue date, if any. Any number of processes may call this concurrently. A
/// refusal is recorded for a later attempt and mailed to the company's admins. If a date is returned, more may be due,
/// and the distribution may be in steps: the caller then calls
/// [`finish_distributions`](super::finish_distributions).
///
/// # Errors
///
/// If the store fails. The schedule is then skipped for a minute, so that it does not delay others.
pub fn run_next_due_date(
    store: &dyn Store,
    commands: &BlockingCommandQueue,
    skipped: &mut SkippedSchedules,
) -> Result<Option<ProcessedDate>, StoreError> {
    let requester = Requester::SCHEDULE;
    let context = commands.context_sources.context_for(&requester);
    let now = context.clock.now();
    skipped.retain(|_, until| *until > now);
    let skipped_ids: Vec<ScheduleId> = skipped.keys().copied().collect();
    let next = store.read_snapshot(|reads| -> Result<_, StoreError> {
        let Some(schedule) = reads.find_next_due_schedule(now, &skipped_ids)? else { return Ok(None) };
        let Some(company) = any_provider::find_company(reads, schedule.company_id)? else { return Ok(None) };
        let recipients = Recipients::all_active(reads, schedule.company_id, schedule.wallet)?;
        Ok(Some((schedule, company, recipients)))
    })?;
    let Some((schedule, company, recipients)) = next else { return Ok(None) };
    let command = Command::RunDistribution(RunDistribution {
        company_id: schedule.company_id,
        wallet: schedule.wallet,
        sum: Sum::Points(schedule.points),
        recipients,
        schedule: Some(schedule.clone()),
    });
    let processed = |outcome| ProcessedDate { schedule: schedule.id, due_on: schedule.next_on, outcome };
    match commands.execute_command(company.provider_id, &requester, command) {
        Ok(Done::Distributed(done)) => Ok(Some(processed(DateOutcome::Paid { users: done.users }))),
        Ok(_) => Err(StoreError::Broken("the command was not a distribution".into())),
        Err(Refusal::Distribute(DistributeError::ScheduleChanged)) => {
            Ok(Some(processed(DateOutcome::ScheduleChanged)))
        }
        Err(refusal) => match refusal.into_failure() {
            Ok(cause) => {
                skipped.insert(schedule.id, now + SKIP_AFTER_FAILURE);
                Err(cause)
            }
            Err(refusal) => {
                let reason = refusal.to_string();
                store.transaction(|tx| record_refusal(tx, &schedule, &reason, &context)).map(Some)
            }
        },
    }
}

/// Locks a schedule. Returns whether it is unchanged since it was read.
fn is_unchanged<T: Locks + ReadSchedules + ?Sized>(
    tx: &mut T,
    schedule: &Schedule,
) -> Result<bool, StoreError> {
    tx.lock_row(LockableRow::Schedule(schedule.id))?;
    tx.lock_provider_shared(schedule.company_id)?;
    Ok(tx.find_schedule(schedule.id)?.as_ref() == Some(schedule))
}

/// Records that a date was refused, unless another process has changed the schedule.
fn record_refusal<T>(
    tx: &mut T,
    schedule: &Schedule,
    reason: &str,
    context: &Context<'_>,
) -> Result<ProcessedDate, StoreError>
where
    T: Locks + NotificationOutbox + ReadCompanies + ReadUsers + Schedules + ?Sized,
{
    let now = context.clock.now();
    let mut updated = schedule.clone();
    let processed = |outcome| ProcessedDate { schedule: schedule.id, due_on: schedule.next_on, outcome };
    let reason = reason.to_owned();
    if !is_unchanged(tx, schedule)? {
        return Ok(processed(DateOutcome::ScheduleChanged));
    }
    let since = schedule.failed_attempts.as_ref().map_or(now, |failed| failed.since);
    if now - since >= SKIP_AFTER {
        tx.insert_skipped_date(&SkippedDate {
            schedule_id: schedule.id,
            company_id: schedule.company_id,
            due_on: schedule.next_on,
            reason: reason.clone(),
            created_at: now,
        })?;
        updated.advance_to_next_date(now);
        tx.update_schedule(&updated)?;
        return Ok(processed(DateOutcome::Skipped { reason }));
    }
    let retry_at = (now + RETRY_INTERVAL).min(since + SKIP_AFTER);
    updated.due_at = retry_at;
    updated.failed_attempts = Some(FailedAttempts { since, reason: reason.clone() });
    tx.update_schedule(&updated)?;
    if schedule.failed_attempts.is_none()
        && let Some(company) = any_provider::find_company(tx, schedule.company_id)?
    {
        let notification = Notification::DistributionRefused {
            company: (&company).into(),
            due_on: schedule.next_on,
            points: schedule.points,
            wallet: schedule.wallet,
            reason: reason.clone(),
        };
        notify_administrators(tx, &company, company.reserve_bcc.clone(), &notification, context)?;
    }
    Ok(processed(DateOutcome::Refused { reason, retry_at }))
}
