//! Distributions pay points from a company's reserve into many wallets at once. They are started by the
//! operator or by a schedule.

mod error;
mod run;
mod schedules;
mod steps;

pub use error::DistributeError;
pub use run::{Distribution, Recipients, RunDistribution};
pub use schedules::{CreateSchedule, ScheduleError, cancel_schedule, create_schedule, list_schedules};
pub use steps::ContinueDistribution;

pub use crate::model::{FailedAttempts, Period, Schedule, SkippedDate};
