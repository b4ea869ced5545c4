//! Distributions: points from a company's reserve to many wallets at once, by hand or by a schedule.

mod error;
mod run;
mod run_due;
mod schedules;
mod steps;

pub use error::DistributeError;
pub use run::{Distribution, RunDistribution, run, run_with};
pub use run_due::{DateEnd, Ran, run_due};
pub use schedules::{CreateSchedule, ScheduleError, cancel_schedule, create_schedule, schedules};
pub use steps::{Unfinishable, finish, read_ahead};

pub use crate::model::{Failing, MissedDate, Period, Schedule};
