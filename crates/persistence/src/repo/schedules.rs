//! Schedules of distributions.

use diesel::dsl::{exists, sql};
use diesel::prelude::*;
use diesel::sql_types::Bool;
use guerdon_domain::distributions::{Schedule, SkippedDate};
use guerdon_domain::ledger::ScheduleFacts;
use guerdon_domain::ports::{ReadSchedules, Schedules, StoreError, Timestamp};
use guerdon_domain::values::{CompanyId, ScheduleId};

use super::{Unit, into_id, lock_row};
use crate::rows::conditions::is_handed_over;
use crate::rows::schema::{journal_entries, schedules, skipped_dates};
use crate::rows::{DbTimestamp, Id, ScheduleRow, SkippedDateRow};

impl ReadSchedules for Unit<'_> {
    fn find_schedule(&mut self, id: ScheduleId) -> Result<Option<Schedule>, StoreError> {
        self.find(ScheduleRow::into_schedule, |conn| {
            schedules::table.find(Id(id)).select(ScheduleRow::as_select()).get_result(conn)
        })
    }

    fn next_due_schedule_id(
        &mut self,
        now: Timestamp,
        paused: &[ScheduleId],
    ) -> Result<Option<ScheduleId>, StoreError> {
        let paused: Vec<Id<ScheduleId>> = paused.iter().map(|id| Id(*id)).collect();
        self.find(into_id, |conn| {
            schedules::table
                .filter(schedules::cancelled_at.is_null().and(schedules::due_at.le(DbTimestamp(now))))
                .filter(schedules::id.ne_all(paused))
                .filter(sql::<Bool>(&format!("NOT {}", is_handed_over("schedules.company_id"))))
                .order((schedules::due_at, schedules::id))
                .select(schedules::id)
                .first(conn)
        })
    }

    fn list_schedules(&mut self, company: CompanyId) -> Result<Vec<Schedule>, StoreError> {
        self.list(ScheduleRow::into_schedule, |conn| {
            schedules::table
                .filter(schedules::company_id.eq(Id(company)))
                .order((schedules::created_at, schedules::id))
                .select(ScheduleRow::as_select())
                .get_results(conn)
        })
    }

    fn list_active_schedules(&mut self) -> Result<Vec<(Schedule, i64)>, StoreError> {
        let schedules = self.list(ScheduleRow::into_schedule, |conn| {
            schedules::table
                .filter(schedules::cancelled_at.is_null())
                .order((schedules::created_at, schedules::id))
                .select(ScheduleRow::as_select())
                .get_results(conn)
        })?;
        let skipped: Vec<(Id<ScheduleId>, i64)> = self.query(|conn| {
            skipped_dates::table
                .group_by(skipped_dates::schedule_id)
                .select((skipped_dates::schedule_id, diesel::dsl::count_star()))
                .get_results(conn)
        })?;
        let skipped: std::collections::HashMap<ScheduleId, i64> =
            skipped.into_iter().map(|(id, count)| (id.0, count)).collect();
        let with_count = |schedule: Schedule| {
            let count = skipped.get(&schedule.id).copied().unwrap_or(0);
            (schedule, count)
        };
        Ok(schedules.into_iter().map(with_count).collect())
    }

    fn list_skipped_dates(&mut self, company: CompanyId) -> Result<Vec<SkippedDate>, StoreError> {
        self.list(SkippedDateRow::into_skipped_date, |conn| {
            skipped_dates::table
                .inner_join(schedules::table)
                .filter(schedules::company_id.eq(Id(company)))
                .order((skipped_dates::due_on, skipped_dates::schedule_id))
                .select(SkippedDateRow::as_select())
                .get_results(conn)
        })
    }
}

impl Unit<'_> {
    /// Locks and reads a schedule.
    pub(super) fn lock_schedule_facts(
        &mut self,
        id: ScheduleId,
    ) -> Result<Option<ScheduleFacts>, StoreError> {
        self.query(|conn| lock_row(conn, "schedules", Id(id)))?;
        let Some(schedule) = self.find_schedule(id)? else { return Ok(None) };
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
        let row = ScheduleRow::from_schedule(schedule);
        self.execute(|conn| diesel::insert_into(schedules::table).values(&row).execute(conn))
    }

    fn update_schedule(&mut self, schedule: &Schedule) -> Result<(), StoreError> {
        let row = ScheduleRow::from_schedule(schedule);
        let id = Id(schedule.id);
        self.execute(|conn| diesel::update(schedules::table.find(id)).set(&row).execute(conn))
    }

    fn insert_skipped_date(&mut self, skipped: &SkippedDate) -> Result<(), StoreError> {
        let row = SkippedDateRow::from_skipped_date(skipped);
        self.execute(|conn| diesel::insert_into(skipped_dates::table).values(&row).execute(conn))
    }
}
