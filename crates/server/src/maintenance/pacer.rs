//! The pace of background work on the database: steps of at most about 20 ms, with a pause after each step.

use std::ops::RangeInclusive;
use std::thread::sleep; // tidy: lets requests run between two steps
use std::time::{Duration, Instant};

use guerdon_domain::ports::{AdaptiveSize, Pacer};

/// If a step takes longer, the next one is smaller.
const STEP_TIME_MAX: Duration = Duration::from_millis(20);
/// If a step takes less, the next one is larger.
const STEP_TIME_MIN: Duration = Duration::from_millis(5);

/// Paces a job whose steps have an [`AdaptiveSize`].
pub(crate) struct AdaptivePacer {
    first_size: AdaptiveSize,
    size: AdaptiveSize,
    step_started_at: Instant,
    longest_step_time: Duration,
}

impl AdaptivePacer {
    /// Creates a pacer. The first step of each phase has `first_size` rows, later steps have a number within `sizes`.
    pub(crate) fn new(first_size: i64, sizes: RangeInclusive<i64>) -> Self {
        let first_size = AdaptiveSize::new(first_size, sizes, STEP_TIME_MIN..=STEP_TIME_MAX);
        Self {
            size: first_size.clone(),
            first_size,
            step_started_at: Instant::now(),
            longest_step_time: Duration::ZERO,
        }
    }

    /// How long the longest step took.
    pub(crate) fn longest_step(&self) -> Duration {
        self.longest_step_time
    }
}

impl Pacer for AdaptivePacer {
    fn rows_max(&self) -> i64 {
        self.size.get()
    }

    fn begin_step(&mut self) {
        self.step_started_at = Instant::now();
    }

    fn end_step(&mut self) {
        let took = self.step_started_at.elapsed();
        self.longest_step_time = self.longest_step_time.max(took);
        self.size.record_step(took);
        sleep(took.min(STEP_TIME_MAX));
    }

    fn begin_phase(&mut self) {
        self.size = self.first_size.clone();
    }
}
