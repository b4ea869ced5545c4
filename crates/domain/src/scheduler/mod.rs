//! Work that no request triggers: pays the due dates of schedules, and finishes distributions in steps.

mod due_dates;
mod finish_distributions;

pub use due_dates::{DateOutcome, ProcessedDate, SkippedSchedules, pay_next_due_date};
pub use finish_distributions::{UnfinishedDistribution, finish_distributions};
