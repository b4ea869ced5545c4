//! Runs the distributions of schedules on their due dates.

use std::collections::BTreeMap;

use time::Duration;

use super::{FAILURE_PAUSE, end_pauses, require_no_outage};
use crate::any_provider;
use crate::commands::{BlockingCommandQueue, Command, Done, Refusal};
use crate::distributions::{DistributeError, Recipients, RunDistribution};
use crate::model::{Company, FailedAttempts, Notification, Requester, Schedule, SkippedDate};
use crate::money::Sum;
use crate::notifications::notify_administrators;
use crate::ports::{
    Context, LockableRow, Locks, NotificationOutbox, ReadCompanies, ReadSchedules, ReadTx, ReadUsers,
    Schedules, Store, StoreError, StoreExt, Timestamp,
};
use crate::values::{IsoDate, ScheduleId};

/// The time between the refusal of a date and the next attempt.
const RETRY_INTERVAL: Duration = Duration::HOUR;
/// How long the distribution of a date is retried before the date is skipped permanently.
const DATE_RETRY_PERIOD: Duration = Duration::DAY;

/// The schedules for which the store failed, and until when they are paused.
pub type PausedSchedules = BTreeMap<ScheduleId, Timestamp>;

/// Why no date was processed, although one may be due.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{cause}")]
pub struct DueDateError {
    /// The schedule that failed; others can still run. `None` if the database cannot be used now. A schedule that was
    /// found is paused for a minute in both cases.
    pub schedule: Option<ScheduleId>,
    /// The failure.
    pub cause: StoreError,
}

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
    Distributed {
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

/// A due schedule and what its distribution needs.
struct DueSchedule {
    schedule: Schedule,
    company: Company,
    recipients: Recipients,
}

/// Runs the distribution of the most overdue date, if any. Any number of processes may call this concurrently. A
/// refusal is recorded for a later attempt; the administrators are notified of the first refusal of a date. If a date
/// is returned, more dates may be due, and the distribution may have further steps: the caller then calls
/// [`finish_distributions`](super::finish_distributions).
///
/// # Errors
///
/// If the store fails, or a row that the schedule needs is corrupt or missing. The schedule is then paused for a
/// minute, so that it does not delay others.
pub fn run_next_due_date(
    store: &dyn Store,
    commands: &BlockingCommandQueue,
    paused: &mut PausedSchedules,
) -> Result<Option<ProcessedDate>, DueDateError> {
    let now = commands.context_sources.clock.now();
    end_pauses(paused, now);
    let paused_ids: Vec<ScheduleId> = paused.keys().copied().collect();
    let mut next_id = None;
    let processed = store
        .read_snapshot(|reads| -> Result<_, StoreError> {
            next_id = reads.next_due_schedule_id(now, &paused_ids)?;
            next_id.map(|id| read_due_schedule(reads, id)).transpose()
        })
        .and_then(|due| due.flatten().map(|due| run_due_date(store, commands, due)).transpose());
    processed.map_err(|cause| {
        if let Some(id) = next_id {
            paused.insert(id, now + FAILURE_PAUSE);
        }
        let is_outage = require_no_outage(store, &cause).is_err();
        DueDateError { schedule: next_id.filter(|_| !is_outage), cause }
    })
}

/// Reads a due schedule, its company and its recipients. `None` if the schedule does not exist.
fn read_due_schedule(reads: &mut dyn ReadTx, id: ScheduleId) -> Result<Option<DueSchedule>, StoreError> {
    let Some(schedule) = reads.find_schedule(id)? else { return Ok(None) };
    let company_id = schedule.company_id;
    let company = any_provider::find_company(reads, company_id)?
        .ok_or_else(|| StoreError::Broken(format!("company {company_id} of schedule {id} does not exist")))?;
    let recipients = Recipients::all_active(reads, company_id, schedule.wallet)?;
    Ok(Some(DueSchedule { schedule, company, recipients }))
}

/// Runs the distribution of the next date of a schedule.
fn run_due_date(
    store: &dyn Store,
    commands: &BlockingCommandQueue,
    due: DueSchedule,
) -> Result<ProcessedDate, StoreError> {
    let DueSchedule { schedule, company, recipients } = due;
    let requester = Requester::SCHEDULE;
    let context = commands.context_sources.context_for(&requester);
    let command = Command::RunDistribution(RunDistribution {
        company_id: schedule.company_id,
        wallet: schedule.wallet,
        sum: Sum::Points(schedule.points),
        recipients,
        schedule: Some(schedule.clone()),
    });
    let processed = |outcome| ProcessedDate { schedule: schedule.id, due_on: schedule.next_on, outcome };
    match commands.execute_command(company.provider_id, &requester, command) {
        Ok(Done::Distributed(done)) => Ok(processed(DateOutcome::Distributed { users: done.users })),
        Ok(_) => Err(StoreError::Broken("the command was not a distribution".into())),
        Err(Refusal::Distribute(DistributeError::ScheduleChanged)) => {
            Ok(processed(DateOutcome::ScheduleChanged))
        }
        Err(refusal) => {
            let reason = match refusal.into_failure() {
                Ok(cause) => return Err(cause),
                Err(refusal) => refusal.to_string(),
            };
            store.transaction(|tx| record_refusal(tx, &schedule, &reason, &context))
        }
    }
}

/// Locks a schedule. Returns whether it is unchanged since it was read.
fn lock_and_check_unchanged<T: Locks + ReadSchedules + ?Sized>(
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
    if !lock_and_check_unchanged(tx, schedule)? {
        return Ok(processed(DateOutcome::ScheduleChanged));
    }
    let since = schedule.failed_attempts.as_ref().map_or(now, |failed| failed.since);
    if now - since >= DATE_RETRY_PERIOD {
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
    let retry_at = (now + RETRY_INTERVAL).min(since + DATE_RETRY_PERIOD);
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
