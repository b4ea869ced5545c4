//! Schedules of distributions.

use super::{StoreError, Timestamp};
use crate::model::{MissedDate, Schedule};
use crate::values::{CompanyId, ScheduleId};

pub trait ReadSchedules {
    /// Looks up a schedule, even a cancelled one.
    fn find_schedule(&mut self, id: ScheduleId) -> Result<Option<Schedule>, StoreError>;

    /// The most overdue schedule that is not skipped.
    fn find_next_due_schedule(
        &mut self,
        now: Timestamp,
        skipped: &[ScheduleId],
    ) -> Result<Option<Schedule>, StoreError>;

    /// All schedules of a company, including cancelled ones, oldest first.
    fn list_schedules(&mut self, company: CompanyId) -> Result<Vec<Schedule>, StoreError>;

    /// All schedules of all providers that are not cancelled, oldest first, each with the number of its
    /// missed dates.
    fn list_active_schedules(&mut self) -> Result<Vec<(Schedule, i64)>, StoreError>;

    /// The dates that a company's schedules missed, oldest first.
    fn list_missed_dates(&mut self, company: CompanyId) -> Result<Vec<MissedDate>, StoreError>;
}

/// Writes schedules.
pub trait Schedules: ReadSchedules {
    fn insert_schedule(&mut self, schedule: &Schedule) -> Result<(), StoreError>;

    /// Writes all changeable fields of a schedule that this transaction has locked.
    fn update_schedule(&mut self, schedule: &Schedule) -> Result<(), StoreError>;

    /// Records a missed date.
    fn insert_missed_date(&mut self, missed: &MissedDate) -> Result<(), StoreError>;
}
