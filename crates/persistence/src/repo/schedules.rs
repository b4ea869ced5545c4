//! Schedules of distributions.

use diesel::prelude::*;
use guerdon_domain::distributions::{MissedDate, Schedule};
use guerdon_domain::ports::{ReadSchedules, Schedules, StoreError, Timestamp};
use guerdon_domain::values::{CompanyId, ScheduleId};

use super::super::{SKIP_LOCKED, place};
use super::Unit;
use crate::rows::schema::{missed_dates, schedules};
use crate::rows::types::{At, Id, Moment};
use crate::rows::{MissedDateRow, ScheduleRow};

impl ReadSchedules for Unit<'_> {
    fn schedule(&mut self, id: ScheduleId) -> Result<Option<Schedule>, StoreError> {
        let found: Option<ScheduleRow> = self.query(|conn| {
            schedules::table.find(Id(id)).select(ScheduleRow::as_select()).get_result(conn).optional()
        })?;
        self.keep(found.map(ScheduleRow::read).transpose())
    }

    fn next_due(&mut self, now: Timestamp) -> Result<Option<Schedule>, StoreError> {
        self.first_due(now, "")
    }

    fn schedules(&mut self, company: CompanyId) -> Result<Vec<Schedule>, StoreError> {
        let found: Vec<ScheduleRow> = self.query(|conn| {
            schedules::table
                .filter(schedules::company_id.eq(Id(company)))
                .order((schedules::created_at, schedules::id))
                .select(ScheduleRow::as_select())
                .get_results(conn)
        })?;
        self.keep(found.into_iter().map(ScheduleRow::read).collect())
    }

    fn missed_dates(&mut self, company: CompanyId) -> Result<Vec<MissedDate>, StoreError> {
        let found: Vec<MissedDateRow> = self.query(|conn| {
            missed_dates::table
                .inner_join(schedules::table)
                .filter(schedules::company_id.eq(Id(company)))
                .order((missed_dates::due_on, missed_dates::schedule_id))
                .select(MissedDateRow::as_select())
                .get_results(conn)
        })?;
        self.keep(found.into_iter().map(MissedDateRow::read).collect())
    }
}

impl Unit<'_> {
    fn first_due(&mut self, now: Timestamp, locking: &str) -> Result<Option<Schedule>, StoreError> {
        let query = format!(
            "SELECT * FROM schedules WHERE cancelled_at IS NULL AND due_at <= {} \
             ORDER BY due_at, id LIMIT 1{locking}",
            place(1)
        );
        let found: Option<ScheduleRow> = self
            .query(|conn| diesel::sql_query(query).bind::<Moment, _>(At(now)).get_result(conn).optional())?;
        self.keep(found.map(ScheduleRow::read).transpose())
    }
}

impl Schedules for Unit<'_> {
    fn insert_schedule(&mut self, schedule: &Schedule) -> Result<(), StoreError> {
        let row = ScheduleRow::of(schedule);
        self.query(|conn| diesel::insert_into(schedules::table).values(&row).execute(conn))?;
        Ok(())
    }

    fn update_schedule(&mut self, schedule: &Schedule) -> Result<(), StoreError> {
        let row = ScheduleRow::of(schedule);
        let id = Id(schedule.id);
        self.query(|conn| diesel::update(schedules::table.find(id)).set(&row).execute(conn))?;
        Ok(())
    }

    fn due_schedule(&mut self, now: Timestamp) -> Result<Option<Schedule>, StoreError> {
        self.first_due(now, SKIP_LOCKED)
    }

    fn insert_missed_date(&mut self, missed: &MissedDate) -> Result<(), StoreError> {
        let row = MissedDateRow::of(missed);
        self.query(|conn| diesel::insert_into(missed_dates::table).values(&row).execute(conn))?;
        Ok(())
    }
}
