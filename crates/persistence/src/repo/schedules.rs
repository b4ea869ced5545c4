//! Schedules of distributions.

use diesel::dsl::exists;
use diesel::prelude::*;
use guerdon_domain::distributions::{MissedDate, Schedule};
use guerdon_domain::ledger::ScheduleFacts;
use guerdon_domain::ports::{ReadSchedules, Schedules, StoreError, Timestamp};
use guerdon_domain::values::{CompanyId, ScheduleId};

use super::super::lock_row;
use super::Unit;
use crate::rows::schema::{journal_entries, missed_dates, schedules};
use crate::rows::types::{At, Id};
use crate::rows::{MissedDateRow, ScheduleRow};

impl ReadSchedules for Unit<'_> {
    fn schedule(&mut self, id: ScheduleId) -> Result<Option<Schedule>, StoreError> {
        let found: Option<ScheduleRow> = self.query(|conn| {
            schedules::table.find(Id(id)).select(ScheduleRow::as_select()).get_result(conn).optional()
        })?;
        self.keep(found.map(ScheduleRow::read).transpose())
    }

    fn next_due(
        &mut self,
        now: Timestamp,
        passed_over: &[ScheduleId],
    ) -> Result<Option<Schedule>, StoreError> {
        let passed_over: Vec<Id<ScheduleId>> = passed_over.iter().map(|id| Id(*id)).collect();
        let found: Option<ScheduleRow> = self.query(|conn| {
            schedules::table
                .filter(schedules::cancelled_at.is_null().and(schedules::due_at.le(At(now))))
                .filter(schedules::id.ne_all(passed_over))
                .order((schedules::due_at, schedules::id))
                .select(ScheduleRow::as_select())
                .first(conn)
                .optional()
        })?;
        self.keep(found.map(ScheduleRow::read).transpose())
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

    fn active_schedules(&mut self) -> Result<Vec<(Schedule, i64)>, StoreError> {
        let found: Vec<ScheduleRow> = self.query(|conn| {
            schedules::table
                .filter(schedules::cancelled_at.is_null())
                .order((schedules::created_at, schedules::id))
                .select(ScheduleRow::as_select())
                .get_results(conn)
        })?;
        let missed: Vec<(Id<ScheduleId>, i64)> = self.query(|conn| {
            missed_dates::table
                .group_by(missed_dates::schedule_id)
                .select((missed_dates::schedule_id, diesel::dsl::count_star()))
                .get_results(conn)
        })?;
        let missed: std::collections::HashMap<ScheduleId, i64> =
            missed.into_iter().map(|(id, count)| (id.0, count)).collect();
        let found = found.into_iter().map(|row| {
            let schedule = row.read()?;
            let count = missed.get(&schedule.id).copied().unwrap_or(0);
            Ok((schedule, count))
        });
        self.keep(found.collect())
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
    /// Locks and reads a schedule.
    pub(super) fn schedule_facts(&mut self, id: ScheduleId) -> Result<Option<ScheduleFacts>, StoreError> {
        self.query(|conn| lock_row(conn, "schedules", Id(id)))?;
        let Some(schedule) = self.schedule(id)? else { return Ok(None) };
        let date = schedule.next_on.to_string();
        let is_next_date =
            journal_entries::subject_id.eq(Id(id.as_uuid())).and(journal_entries::due_on.eq(date));
        let is_paid = self.query(|conn| {
            diesel::select(exists(journal_entries::table.filter(is_next_date))).get_result(conn)
        })?;
        Ok(Some(ScheduleFacts { schedule, is_paid }))
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

    fn insert_missed_date(&mut self, missed: &MissedDate) -> Result<(), StoreError> {
        let row = MissedDateRow::of(missed);
        self.query(|conn| diesel::insert_into(missed_dates::table).values(&row).execute(conn))?;
        Ok(())
    }
}
