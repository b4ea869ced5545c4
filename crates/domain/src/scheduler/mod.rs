//! Work that no request triggers: runs the due distributions of schedules, and finishes distributions in steps.

mod due_dates;
mod finish_distributions;

pub use due_dates::{DateOutcome, DueDateError, PausedSchedules, ProcessedDate, run_next_due_date};
pub use finish_distributions::{PausedDistributions, UnfinishedDistribution, finish_distributions};
