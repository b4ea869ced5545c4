//! The pace of long jobs.

use super::StoreError;

/// Decides how large the steps of a long job are, and leaves time for other writers between two steps.
pub trait Pacer {
    /// How many rows the next step may touch.
    fn rows_max(&self) -> i64;

    /// Starts measuring a step.
    fn begin_step(&mut self);

    /// Ends the step: may pause the thread, and adapts [`rows_max`](Self::rows_max) to the time that the step took.
    fn end_step(&mut self);

    /// Forgets what earlier steps showed: the next ones do another kind of work.
    fn begin_phase(&mut self);
}

/// Takes one step of a job at the pace of `pacer`. `work` receives the number of rows that it may touch.
///
/// # Errors
///
/// Those of `work`.
pub fn step<T>(
    pacer: &mut dyn Pacer,
    work: impl FnOnce(i64) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let rows_max = pacer.rows_max();
    pacer.begin_step();
    let done = work(rows_max)?;
    pacer.end_step();
    Ok(done)
}
