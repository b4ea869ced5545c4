//! The pace of long jobs.

use super::StoreError;

/// Determines how large the steps of a long job are, and leaves time for other writers between two steps.
pub trait Pacer {
    /// The maximum number of rows that the next step may touch.
    fn rows_max(&self) -> i64;

    /// Starts measuring a step.
    fn begin_step(&mut self);

    /// Ends the step. May pause the thread, and adapts [`rows_max`](Self::rows_max) to the duration of the
    /// step.
    fn end_step(&mut self);

    /// Discards the measurements of earlier steps, because the next ones do a different kind of work.
    fn begin_phase(&mut self);
}

/// Executes one step of a job at the pace of `pacer`. `work` receives the maximum number of rows to touch.
///
/// # Errors
///
/// Those of `work`.
pub fn run_step<T>(
    pacer: &mut dyn Pacer,
    work: impl FnOnce(i64) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let rows_max = pacer.rows_max();
    pacer.begin_step();
    let done = work(rows_max)?;
    pacer.end_step();
    Ok(done)
}
