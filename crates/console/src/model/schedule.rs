//! Scheduled distributions.

use time::{Date, OffsetDateTime};

use super::{ObjectReference, TablePage};

/// A page of schedules.
#[derive(Debug, Clone)]
pub struct Schedules {
    pub list: TablePage<Schedule>,
}

/// A schedule that is not cancelled.
#[derive(Debug, Clone)]
pub struct Schedule {
    pub id: String,
    pub company: ObjectReference,
    /// `user_wallet`, `peer_wallet` or `manager_wallet`.
    pub wallet: String,
    /// The number of points that each receiver gets.
    pub points: i64,
    /// `week` or `month`.
    pub every: String,
    pub next_on: Date,
    pub failing: Option<ScheduleFailure>,
    /// The number of dates that were skipped permanently.
    pub skipped: u64,
}

/// Since when and why the distribution of the next date fails.
#[derive(Debug, Clone)]
pub struct ScheduleFailure {
    pub since: OffsetDateTime,
    pub reason: String,
}
