//! Creates, lists and cancels schedules.

use crate::any_provider;
use crate::model::{Action, Period, Schedule, SkippedDate};
use crate::money::{NotWholePoints, Points, Sum, payment_price};
use crate::ports::{
    AuditLog, Context, LockableRow, Locks, ReadCompanies, ReadSchedules, Schedules, StoreError,
};
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
    pub period: Period,
    /// The first date. If it is in the past, the distributions of all past dates run one after the other.
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
    #[error("points must be at least 1 and must not exceed the largest amount")]
    OutOfRange,
    #[error(transparent)]
    NotWholePoints(#[from] NotWholePoints),
    /// The start date is so early that too many distributions would have to run immediately.
    #[error("more than {PAST_DATES_MAX} of its dates are in the past: check the year of the start date")]
    TooManyPastDates,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The maximum number of past dates of a new schedule.
const PAST_DATES_MAX: u32 = 1_000;

/// Creates a schedule. The distributions of its past dates run one after the other.
pub fn create_schedule<T: AuditLog + Locks + ReadCompanies + Schedules + ?Sized>(
    tx: &mut T,
    new: &CreateSchedule,
    context: &Context<'_>,
) -> Result<Schedule, ScheduleError> {
    let company = any_provider::lock_provider_and_find_company(tx, new.company_id)?
        .ok_or(ScheduleError::NoSuchCompany)?;
    let points = new.sum.to_points(company.rate)?;
    if points == Points::ZERO || payment_price(company.rate, points, 1).is_none() {
        return Err(ScheduleError::OutOfRange);
    }
    let today = context.clock.now();
    if new.period.nth_date(new.start_on, PAST_DATES_MAX).is_some_and(|date| date.start_of_day() <= today) {
        return Err(ScheduleError::TooManyPastDates);
    }
    let schedule = Schedule {
        id: ScheduleId::from_uuid(context.ids.next_id()),
        company_id: company.id,
        wallet: new.wallet,
        points,
        period: new.period,
        start_on: new.start_on,
        next_on: new.start_on,
        due_at: new.start_on.start_of_day(),
        failed_attempts: None,
        created_at: context.clock.now(),
        cancelled_at: None,
    };
    tx.insert_schedule(&schedule)?;
    let entry = context
        .new_audit_entry(Action::ScheduleCreated)
        .with_company(company.id)
        .with_provider(company.provider_id);
    let (points, wallet, every) = (schedule.points.to_text(), schedule.wallet.name(), schedule.period.name());
    let detail = format!("{points} into each {wallet} every {every} from {}", schedule.start_on);
    tx.record_audit_entry(&entry.with_object(schedule.id.as_uuid()).with_detail(detail))?;
    Ok(schedule)
}

/// Returns the schedules of a company, oldest first, including cancelled ones, each with its skipped dates.
pub fn list_schedules<R: ReadCompanies + ReadSchedules + ?Sized>(
    reads: &mut R,
    id: CompanyId,
) -> Result<Vec<(Schedule, Vec<SkippedDate>)>, ScheduleError> {
    any_provider::find_company(reads, id)?.ok_or(ScheduleError::NoSuchCompany)?;
    let skipped = reads.list_skipped_dates(id)?;
    let skipped_dates_of = |id| skipped.iter().filter(|date| date.schedule_id == id).cloned().collect();
    Ok(reads
        .list_schedules(id)?
        .into_iter()
        .map(|schedule| (schedule.clone(), skipped_dates_of(schedule.id)))
        .collect())
}

/// Cancels a schedule: no further distributions run. Cancelling again changes nothing.
pub fn cancel_schedule<T: AuditLog + Locks + Schedules + ?Sized>(
    tx: &mut T,
    id: ScheduleId,
    context: &Context<'_>,
) -> Result<Schedule, ScheduleError> {
    tx.lock_row(LockableRow::Schedule(id))?;
    let mut schedule = tx.find_schedule(id)?.ok_or(ScheduleError::NoSuchSchedule)?;
    tx.lock_provider_shared(schedule.company_id)?;
    if schedule.cancelled_at.is_none() {
        schedule.cancelled_at = Some(context.clock.now());
        tx.update_schedule(&schedule)?;
        let entry = context.new_audit_entry(Action::ScheduleCancelled).with_company(schedule.company_id);
        tx.record_audit_entry(&entry.with_object(id.as_uuid()))?;
    }
    Ok(schedule)
}
