//! The pace of background work on the database: steps of at most about 20 ms, with a pause after each step.

use std::ops::RangeInclusive;
use std::thread::sleep; // tidy: lets requests run between two steps
use std::time::{Duration, Instant};

use guerdon_domain::ports::Pacer;

const STEP_TIME_MAX: Duration = Duration::from_millis(20);
/// If a step takes less, the next one is larger.
const STEP_TIME_MIN: Duration = Duration::from_millis(5);

/// Doubles the size of the steps while they are short, and halves it after a step that took too long.
pub(crate) struct AdaptivePacer {
    first_size: i64,
    size: i64,
    sizes: RangeInclusive<i64>,
    step_started_at: Instant,
    longest_step_time: Duration,
}

impl AdaptivePacer {
    /// Creates a pacer. The first step of each phase has `first_size` rows, later steps have a number within `sizes`.
    pub(crate) fn new(first_size: i64, sizes: RangeInclusive<i64>) -> Self {
        Self {
            first_size,
            size: first_size,
            sizes,
            step_started_at: Instant::now(),
            longest_step_time: Duration::ZERO,
        }
    }

    /// How long the longest step took.
    pub(crate) fn longest_step(&self) -> Duration {
        self.longest_step_time
    }

    fn next_size(&self, took: Duration) -> i64 {
        let next = match took {
            took if took > STEP_TIME_MAX => self.size / 2,
            took if took < STEP_TIME_MIN => self.size * 2,
            _ => self.size,
        };
        next.clamp(*self.sizes.start(), *self.sizes.end())
    }
}

impl Pacer for AdaptivePacer {
    fn rows_max(&self) -> i64 {
        self.size
    }

    fn begin_step(&mut self) {
        self.step_started_at = Instant::now();
    }

    fn end_step(&mut self) {
        let took = self.step_started_at.elapsed();
        self.longest_step_time = self.longest_step_time.max(took);
        self.size = self.next_size(took);
        sleep(took.min(STEP_TIME_MAX));
    }

    fn begin_phase(&mut self) {
        self.size = self.first_size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_steps_are_followed_by_smaller_ones_and_short_steps_by_larger_ones() {
        let after = |size, ms| AdaptivePacer::new(size, 20..=500).next_size(Duration::from_millis(ms));
        assert_eq!((after(50, 1), after(50, 10), after(50, 25)), (100, 50, 25));
        assert_eq!((after(500, 0), after(20, 5_000)), (500, 20));
    }
}
