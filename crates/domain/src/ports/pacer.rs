//! The pace of long jobs.

use std::ops::RangeInclusive;
use std::time::Duration;

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

/// The size of the steps of a long job. It doubles after a short step, and is halved after a long one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdaptiveSize {
    size: i64,
    sizes: RangeInclusive<i64>,
    durations: RangeInclusive<Duration>,
}

impl AdaptiveSize {
    /// Starts with `first`. Later sizes are within `sizes`; a step whose duration is within `durations` changes
    /// nothing.
    pub fn new(first: i64, sizes: RangeInclusive<i64>, durations: RangeInclusive<Duration>) -> Self {
        Self { size: first, sizes, durations }
    }

    /// The size of the next step.
    pub fn get(&self) -> i64 {
        self.size
    }

    /// Adapts the size to the duration of a step.
    pub fn record_step(&mut self, took: Duration) {
        let next = if took > *self.durations.end() {
            self.size / 2
        } else if took < *self.durations.start() {
            self.size * 2
        } else {
            self.size
        };
        self.size = next.clamp(*self.sizes.start(), *self.sizes.end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_steps_are_followed_by_smaller_ones_and_short_steps_by_larger_ones() {
        let ms = Duration::from_millis;
        let check = |first: i64, took: u64, expected: i64| {
            let mut size = AdaptiveSize::new(first, 20..=500, ms(5)..=ms(20));
            size.record_step(ms(took));
            assert_eq!(size.get(), expected, "{first} {took}");
        };
        check(50, 1, 100);
        check(50, 10, 50);
        check(50, 25, 25);
        check(500, 0, 500);
        check(20, 5_000, 20);
    }
}
