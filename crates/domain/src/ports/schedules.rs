//! Schedules of distributions.

use super::{StoreError, Timestamp};
use crate::model::{MissedDate, Schedule};
use crate::values::{CompanyId, ScheduleId};

pub trait ReadSchedules {
    /// The schedule of an id, a cancelled one too.
    fn schedule(&mut self, id: ScheduleId) -> Result<Option<Schedule>, StoreError>;

    /// Of the schedules that are due, the one that has been for longest and is not passed over.
    fn next_due(
        &mut self,
        now: Timestamp,
        passed_over: &[ScheduleId],
    ) -> Result<Option<Schedule>, StoreError>;

    /// All schedules of a company, oldest first, cancelled ones too.
    fn schedules(&mut self, company: CompanyId) -> Result<Vec<Schedule>, StoreError>;

    /// All schedules of everybody that are not cancelled, oldest first, each with how many dates it gave up.
    fn active_schedules(&mut self) -> Result<Vec<(Schedule, i64)>, StoreError>;

    /// The dates that a company's schedules gave up, oldest first.
    fn missed_dates(&mut self, company: CompanyId) -> Result<Vec<MissedDate>, StoreError>;
}

/// Writing schedules.
pub trait Schedules: ReadSchedules {
    fn insert_schedule(&mut self, schedule: &Schedule) -> Result<(), StoreError>;

    /// Writes everything that can change of a schedule that this transaction holds.
    fn update_schedule(&mut self, schedule: &Schedule) -> Result<(), StoreError>;

    /// Records a date that was given up.
    fn insert_missed_date(&mut self, missed: &MissedDate) -> Result<(), StoreError>;
}
