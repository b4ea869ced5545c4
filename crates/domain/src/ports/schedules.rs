//! Schedules of distributions.

use super::{StoreError, Timestamp};
use crate::model::{Schedule, SkippedDate};
use crate::values::{CompanyId, ScheduleId};

pub trait ReadSchedules {
    /// Looks up a schedule, even a cancelled one.
    fn find_schedule(&mut self, id: ScheduleId) -> Result<Option<Schedule>, StoreError>;

    /// The id of the most overdue schedule that is not paused. The rest of its row is not read, so that the caller can
    /// skip a schedule whose row is corrupt.
    fn next_due_schedule_id(
        &mut self,
        now: Timestamp,
        paused: &[ScheduleId],
    ) -> Result<Option<ScheduleId>, StoreError>;

    /// All schedules of a company, including cancelled ones, oldest first.
    fn list_schedules(&mut self, company: CompanyId) -> Result<Vec<Schedule>, StoreError>;

    /// All schedules of all providers that are not cancelled, oldest first, each with the number of its
    /// skipped dates.
    fn list_active_schedules(&mut self) -> Result<Vec<(Schedule, i64)>, StoreError>;

    /// The dates that a company's schedules skipped, oldest first.
    fn list_skipped_dates(&mut self, company: CompanyId) -> Result<Vec<SkippedDate>, StoreError>;
}

/// Writes schedules.
pub trait Schedules: ReadSchedules {
    fn insert_schedule(&mut self, schedule: &Schedule) -> Result<(), StoreError>;

    /// Writes all changeable fields of a schedule that this transaction has locked.
    fn update_schedule(&mut self, schedule: &Schedule) -> Result<(), StoreError>;

    /// Records a skipped date.
    fn insert_skipped_date(&mut self, skipped: &SkippedDate) -> Result<(), StoreError>;
}
