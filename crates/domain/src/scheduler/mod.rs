//! What happens without a request: dates of schedules are paid, and distributions in steps are finished.

mod finish;
mod run_due;

pub use finish::{Unfinished, finish};
pub use run_due::{DateEnd, Ran, StoodBack, run_due};
