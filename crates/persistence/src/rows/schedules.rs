//! Schedules, and their skipped dates.

use diesel::prelude::*;
use guerdon_domain::distributions::{FailedAttempts, Period, Schedule, SkippedDate};
use guerdon_domain::money::Points;
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{CompanyId, IsoDate, ScheduleId};
use guerdon_domain::wallets::WalletType;

use super::schema::{schedules, skipped_dates};
use super::{DbTimestamp, Id, RowReader};

#[derive(Queryable, QueryableByName, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = schedules, treat_none_as_default_value = false, treat_none_as_null = true)]
pub(crate) struct ScheduleRow {
    id: Id<ScheduleId>,
    company_id: Id<CompanyId>,
    wallet: i16,
    points: i64,
    period: i16,
    start_on: String,
    next_on: String,
    due_at: DbTimestamp,
    failing_since: Option<DbTimestamp>,
    failure: Option<String>,
    created_at: DbTimestamp,
    cancelled_at: Option<DbTimestamp>,
}

impl ScheduleRow {
    pub(crate) fn from_schedule(schedule: &Schedule) -> Self {
        Self {
            id: Id(schedule.id),
            company_id: Id(schedule.company_id),
            wallet: schedule.wallet.code(),
            points: schedule.points.get(),
            period: schedule.period.code(),
            start_on: schedule.start_on.to_string(),
            next_on: schedule.next_on.to_string(),
            due_at: DbTimestamp(schedule.due_at),
            failing_since: schedule.failed_attempts.as_ref().map(|failing| DbTimestamp(failing.since)),
            failure: schedule.failed_attempts.as_ref().map(|failing| failing.reason.clone()),
            created_at: DbTimestamp(schedule.created_at),
            cancelled_at: schedule.cancelled_at.map(DbTimestamp),
        }
    }

    pub(crate) fn into_schedule(self) -> Result<Schedule, StoreError> {
        let reader = RowReader { table: "schedules", id: &self.id.0 };
        let failing = self
            .failing_since
            .zip(self.failure)
            .map(|(since, reason)| FailedAttempts { since: since.0, reason });
        Ok(Schedule {
            id: self.id.0,
            company_id: self.company_id.0,
            wallet: reader.require_valid("wallet", WalletType::from_code(self.wallet))?,
            points: reader.require_valid("points", Points::new(self.points))?,
            period: reader.require_valid("period", Period::from_code(self.period))?,
            start_on: reader.parse_column("start_on", &self.start_on, IsoDate::parse)?,
            next_on: reader.parse_column("next_on", &self.next_on, IsoDate::parse)?,
            due_at: self.due_at.0,
            failed_attempts: failing,
            created_at: self.created_at.0,
            cancelled_at: self.cancelled_at.map(|cancelled_at| cancelled_at.0),
        })
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = skipped_dates)]
pub(crate) struct SkippedDateRow {
    schedule_id: Id<ScheduleId>,
    due_on: String,
    company_id: Id<CompanyId>,
    reason: String,
    created_at: DbTimestamp,
}

impl SkippedDateRow {
    pub(crate) fn from_skipped_date(skipped_date: &SkippedDate) -> Self {
        Self {
            schedule_id: Id(skipped_date.schedule_id),
            due_on: skipped_date.due_on.to_string(),
            company_id: Id(skipped_date.company_id),
            reason: skipped_date.reason.clone(),
            created_at: DbTimestamp(skipped_date.created_at),
        }
    }

    pub(crate) fn into_skipped_date(self) -> Result<SkippedDate, StoreError> {
        let reader = RowReader { table: "skipped_dates", id: &self.schedule_id.0 };
        Ok(SkippedDate {
            schedule_id: self.schedule_id.0,
            company_id: self.company_id.0,
            due_on: reader.parse_column("due_on", &self.due_on, IsoDate::parse)?,
            reason: self.reason,
            created_at: self.created_at.0,
        })
    }
}
