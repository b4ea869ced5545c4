//! Pays the dates of schedules when they come.

use std::collections::BTreeMap;

use time::Duration;

use crate::commands::{Command, Commands, Done, Refusal};
use crate::distributions::{DistributeError, Recipients, RunDistribution};
use crate::look_up;
use crate::model::{Actor, By, Failing, MissedDate, Notification, Schedule};
use crate::money::Sum;
use crate::notifications::notify_administrators;
use crate::ports::{
    Context, Locks, MailOutbox, ReadCompanies, ReadSchedules, ReadUsers, Row, Schedules, Store, StoreError,
    StoreExt, Timestamp,
};
use crate::values::{IsoDate, ScheduleId};

/// The time between a refusal and the next try of a date.
const TRY_AGAIN_AFTER: Duration = Duration::HOUR;
/// How long a date is tried before it is given up.
const GIVE_UP_AFTER: Duration = Duration::DAY;
/// How long a schedule is skipped after the store failed, so that other schedules are paid.
const STAND_BACK: Duration = Duration::MINUTE;

/// The schedules for which the store failed, and until when they are skipped.
pub type StoodBack = BTreeMap<ScheduleId, Timestamp>;

/// The result for a due date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub schedule: ScheduleId,
    pub due_on: IsoDate,
    pub ended: DateEnd,
}

/// How a date ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DateEnd {
    Paid {
        users: usize,
    },
    /// It was refused, and will be tried again.
    Refused {
        /// The reason for the refusal.
        reason: String,
        /// The time of the next try.
        again_at: Timestamp,
    },
    /// It was refused for too long, and is given up.
    GivenUp {
        /// The reason for the last refusal.
        reason: String,
    },
    /// Another process paid it or changed the schedule first.
    Overtaken,
}

/// Pays the most overdue date, if any. Any number of processes may call this concurrently. A refusal is
/// recorded for a later try and mailed to the company's admins. If a date is returned, more may be due, and
/// the distribution may be in steps: the caller then calls [`finish`](super::finish).
///
/// # Errors
///
/// If the store fails. The schedule is then skipped for a minute, so that it does not delay others.
pub fn run_due(
    store: &dyn Store,
    commands: &Commands,
    stood_back: &mut StoodBack,
) -> Result<Option<Ran>, StoreError> {
    let by = By { actor: Actor::Schedule, reference: None, key: None };
    let context = commands.surroundings.context(&by);
    let now = context.clock.now();
    stood_back.retain(|_, until| *until > now);
    let passed_over: Vec<ScheduleId> = stood_back.keys().copied().collect();
    let next = store.snapshot(|reads| -> Result<_, StoreError> {
        let Some(seen) = reads.next_due(now, &passed_over)? else { return Ok(None) };
        let Some(company) = look_up::company(reads, seen.company_id)? else { return Ok(None) };
        let recipients = Recipients::all(reads, seen.company_id, seen.wallet)?;
        Ok(Some((seen, company, recipients)))
    })?;
    let Some((seen, company, recipients)) = next else { return Ok(None) };
    let command = Command::RunDistribution(RunDistribution {
        company_id: seen.company_id,
        wallet: seen.wallet,
        sum: Sum::Points(seen.points),
        recipients,
        schedule: Some(seen.clone()),
    });
    let ran = |ended| Ran { schedule: seen.id, due_on: seen.next_on, ended };
    match commands.carry_out(company.provider_id, &by, command) {
        Ok(Done::Distributed(done)) => Ok(Some(ran(DateEnd::Paid { users: done.users }))),
        Ok(_) => Err(StoreError::Broken("a distribution did something else".into())),
        Err(Refusal::Distribute(DistributeError::Overtaken)) => Ok(Some(ran(DateEnd::Overtaken))),
        Err(refusal) => match refusal.into_failure() {
            Ok(cause) => {
                stood_back.insert(seen.id, now + STAND_BACK);
                Err(cause)
            }
            Err(refusal) => {
                let reason = refusal.to_string();
                store.transaction(|tx| record_refusal(tx, &seen, &reason, &context)).map(Some)
            }
        },
    }
}

/// Locks a schedule. Returns whether it is unchanged since it was read.
fn is_unchanged<T: Locks + ReadSchedules + ?Sized>(tx: &mut T, seen: &Schedule) -> Result<bool, StoreError> {
    tx.hold(Row::Schedule(seen.id))?;
    Ok(tx.schedule(seen.id)?.as_ref() == Some(seen))
}

/// Records that a date was refused, unless another process has changed the schedule.
fn record_refusal<T>(
    tx: &mut T,
    seen: &Schedule,
    reason: &str,
    context: &Context<'_>,
) -> Result<Ran, StoreError>
where
    T: Locks + MailOutbox + ReadCompanies + ReadUsers + Schedules + ?Sized,
{
    let now = context.clock.now();
    let mut schedule = seen.clone();
    let ran = |ended| Ran { schedule: seen.id, due_on: seen.next_on, ended };
    let reason = reason.to_owned();
    if !is_unchanged(tx, seen)? {
        return Ok(ran(DateEnd::Overtaken));
    }
    let since = seen.failing.as_ref().map_or(now, |failing| failing.since);
    if now - since >= GIVE_UP_AFTER {
        tx.insert_missed_date(&MissedDate {
            schedule_id: seen.id,
            company_id: seen.company_id,
            due_on: seen.next_on,
            reason: reason.clone(),
            created_at: now,
        })?;
        schedule.advance(now);
        tx.update_schedule(&schedule)?;
        return Ok(ran(DateEnd::GivenUp { reason }));
    }
    let again_at = (now + TRY_AGAIN_AFTER).min(since + GIVE_UP_AFTER);
    schedule.due_at = again_at;
    schedule.failing = Some(Failing { since, reason: reason.clone() });
    tx.update_schedule(&schedule)?;
    if seen.failing.is_none()
        && let Some(company) = look_up::company(tx, seen.company_id)?
    {
        let notification = Notification::DistributionRefused {
            company: (&company).into(),
            due_on: seen.next_on,
            points: seen.points,
            wallet: seen.wallet,
            reason: reason.clone(),
        };
        notify_administrators(tx, &company, company.reserve_bcc.clone(), &notification, context)?;
    }
    Ok(ran(DateEnd::Refused { reason, again_at }))
}
