//! Schedules, and their missed dates.

use diesel::prelude::*;
use guerdon_domain::distributions::{Failing, MissedDate, Period, Schedule};
use guerdon_domain::money::Points;
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{CompanyId, IsoDate, ScheduleId};
use guerdon_domain::wallets::{AccountKind, WalletType};

use super::Reading;
use super::schema::{missed_dates, schedules};
use super::types::{At, Id};

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
    due_at: At,
    failing_since: Option<At>,
    failure: Option<String>,
    created_at: At,
    cancelled_at: Option<At>,
}

impl ScheduleRow {
    pub(crate) fn of(it: &Schedule) -> Self {
        Self {
            id: Id(it.id),
            company_id: Id(it.company_id),
            wallet: it.wallet.kind().code(),
            points: it.points.get(),
            period: it.every.code(),
            start_on: it.start_on.to_string(),
            next_on: it.next_on.to_string(),
            due_at: At(it.due_at),
            failing_since: it.failing.as_ref().map(|failing| At(failing.since)),
            failure: it.failing.as_ref().map(|failing| failing.reason.clone()),
            created_at: At(it.created_at),
            cancelled_at: it.cancelled_at.map(At),
        }
    }

    pub(crate) fn read(self) -> Result<Schedule, StoreError> {
        let reading = Reading { table: "schedules", id: &self.id.0 };
        let wallet = AccountKind::from_code(self.wallet).and_then(WalletType::from_kind);
        let failing =
            self.failing_since.zip(self.failure).map(|(since, reason)| Failing { since: since.0, reason });
        Ok(Schedule {
            id: self.id.0,
            company_id: self.company_id.0,
            wallet: reading.make("wallet", wallet)?,
            points: reading.make("points", Points::new(self.points))?,
            every: reading.make("period", Period::from_code(self.period))?,
            start_on: reading.parse("start_on", &self.start_on, IsoDate::parse)?,
            next_on: reading.parse("next_on", &self.next_on, IsoDate::parse)?,
            due_at: self.due_at.0,
            failing,
            created_at: self.created_at.0,
            cancelled_at: self.cancelled_at.map(|cancelled_at| cancelled_at.0),
        })
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = missed_dates)]
pub(crate) struct MissedDateRow {
    schedule_id: Id<ScheduleId>,
    due_on: String,
    company_id: Id<CompanyId>,
    reason: String,
    created_at: At,
}

impl MissedDateRow {
    pub(crate) fn of(it: &MissedDate) -> Self {
        Self {
            schedule_id: Id(it.schedule_id),
            due_on: it.due_on.to_string(),
            company_id: Id(it.company_id),
            reason: it.reason.clone(),
            created_at: At(it.created_at),
        }
    }

    pub(crate) fn read(self) -> Result<MissedDate, StoreError> {
        let reading = Reading { table: "missed_dates", id: &self.schedule_id.0 };
        Ok(MissedDate {
            schedule_id: self.schedule_id.0,
            company_id: self.company_id.0,
            due_on: reading.parse("due_on", &self.due_on, IsoDate::parse)?,
            reason: self.reason,
            created_at: self.created_at.0,
        })
    }
}
