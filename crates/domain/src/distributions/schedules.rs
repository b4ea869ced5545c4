//! Creates, lists and cancels schedules.

use crate::look_up;
use crate::model::{Action, MissedDate, Period, Schedule};
use crate::money::{NotWholePoints, Points, Sum, price};
use crate::ports::{AuditLog, Context, Locks, ReadCompanies, ReadSchedules, Row, Schedules, StoreError};
use crate::values::{CompanyId, IsoDate, ScheduleId};
use crate::wallets::WalletType;

/// The fields of a new schedule.
#[derive(Debug, Clone, Copy)]
pub struct CreateSchedule {
    /// The company whose reserve pays.
    pub company_id: CompanyId,
    pub wallet: WalletType,
    /// The points or dollars for each user.
    pub sum: Sum,
    pub every: Period,
    /// The first date. If it is in the past, it and all later past dates are paid one after the other.
    pub start_on: IsoDate,
}

/// Why a schedule was not created, listed or cancelled.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    #[error("no company has this id")]
    NoSuchCompany,
    #[error("no schedule has this id")]
    NoSuchSchedule,
    /// The points are zero or too many.
    #[error("points must be at least 1, and a possible amount")]
    OutOfRange,
    #[error(transparent)]
    NotWholePoints(#[from] NotWholePoints),
    /// Too many past dates would be paid at once.
    #[error("more than {PAST_MAX} of its dates are past: is the year of the start right?")]
    LongPast,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The maximum number of past dates of a new schedule.
const PAST_MAX: u32 = 1_000;

/// Creates a schedule. Its past dates are paid one after the other.
pub fn create_schedule<T: AuditLog + Locks + ReadCompanies + Schedules + ?Sized>(
    tx: &mut T,
    command: &CreateSchedule,
    context: &Context<'_>,
) -> Result<Schedule, ScheduleError> {
    let company = look_up::kept_company(tx, command.company_id)?.ok_or(ScheduleError::NoSuchCompany)?;
    let points = command.sum.points(company.rate)?;
    if points == Points::ZERO || price(company.rate, points, 1).is_none() {
        return Err(ScheduleError::OutOfRange);
    }
    let today = context.clock.now();
    if command.every.date(command.start_on, PAST_MAX).is_some_and(|date| date.begins() <= today) {
        return Err(ScheduleError::LongPast);
    }
    let schedule = Schedule {
        id: ScheduleId::from_uuid(context.ids.next()),
        company_id: company.id,
        wallet: command.wallet,
        points,
        every: command.every,
        start_on: command.start_on,
        next_on: command.start_on,
        due_at: command.start_on.begins(),
        failing: None,
        created_at: context.clock.now(),
        cancelled_at: None,
    };
    tx.insert_schedule(&schedule)?;
    let entry =
        context.entry(Action::ScheduleCreated).of_company(company.id).of_provider(company.provider_id);
    let (points, wallet, every) = (schedule.points.get(), schedule.wallet.name(), schedule.every.name());
    let said = format!("{points} points into each {wallet} every {every} from {}", schedule.start_on);
    tx.note(&entry.about(schedule.id.as_uuid()).saying(said))?;
    Ok(schedule)
}

/// The schedules of a company, including cancelled ones, each with its missed dates, oldest first.
pub fn schedules<R: ReadCompanies + ReadSchedules + ?Sized>(
    reads: &mut R,
    id: CompanyId,
) -> Result<Vec<(Schedule, Vec<MissedDate>)>, ScheduleError> {
    look_up::company(reads, id)?.ok_or(ScheduleError::NoSuchCompany)?;
    let missed = reads.missed_dates(id)?;
    let of = |id| missed.iter().filter(|date| date.schedule_id == id).cloned().collect();
    Ok(reads.schedules(id)?.into_iter().map(|schedule| (schedule.clone(), of(schedule.id))).collect())
}

/// Cancels a schedule: none of its dates is paid any more. Cancelling again changes nothing.
pub fn cancel_schedule<T: AuditLog + Locks + Schedules + ?Sized>(
    tx: &mut T,
    id: ScheduleId,
    context: &Context<'_>,
) -> Result<Schedule, ScheduleError> {
    tx.hold(Row::Schedule(id))?;
    let mut schedule = tx.schedule(id)?.ok_or(ScheduleError::NoSuchSchedule)?;
    if schedule.cancelled_at.is_none() {
        schedule.cancelled_at = Some(context.clock.now());
        tx.update_schedule(&schedule)?;
        let entry = context.entry(Action::ScheduleCancelled).of_company(schedule.company_id);
        tx.note(&entry.about(id.as_uuid()))?;
    }
    Ok(schedule)
}
