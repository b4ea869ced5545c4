//! What happens without a request: dates of schedules are paid, and distributions in steps are finished.

mod due_dates;
mod finish_distributions;

pub use due_dates::{DateOutcome, ProcessedDate, SkippedSchedules, pay_next_due_date};
pub use finish_distributions::{UnfinishedDistribution, finish_distributions};
