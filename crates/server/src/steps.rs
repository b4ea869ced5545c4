//! Work in steps so short that whoever waits for the writer comes between two.

use std::ops::RangeInclusive;
use std::thread::sleep; // tidy: requests come between two steps
use std::time::{Duration, Instant};

/// How long a step should take at most, and what is too short to matter.
const WITHIN: Duration = Duration::from_millis(20);
const SHORT: Duration = Duration::from_millis(5);

/// Steps that are as large as is quick.
pub(crate) struct Steps {
    first: i64,
    size: i64,
    sizes: RangeInclusive<i64>,
    longest: Duration,
}

impl Steps {
    /// The first step is of this size, each after it of one of those.
    pub(crate) fn new(first: i64, sizes: RangeInclusive<i64>) -> Self {
        Self { first, size: first, sizes, longest: Duration::ZERO }
    }

    /// Goes on with steps of another kind.
    pub(crate) fn anew(&mut self) -> &mut Self {
        self.size = self.first;
        self
    }

    /// How much the next step takes.
    pub(crate) fn size(&self) -> i64 {
        self.size
    }

    /// How long the longest step took.
    pub(crate) fn longest(&self) -> Duration {
        self.longest
    }

    /// Takes a step.
    ///
    /// # Errors
    ///
    /// The step's own.
    pub(crate) fn step<T, E>(&mut self, take: impl FnOnce(i64) -> Result<T, E>) -> Result<T, E> {
        let began = Instant::now();
        let done = take(self.size)?;
        self.took(began.elapsed());
        Ok(done)
    }

    /// After a step that took so long: rests as long, and makes the next one larger or smaller.
    pub(crate) fn took(&mut self, took: Duration) {
        self.longest = self.longest.max(took);
        self.size = self.next(took);
        sleep(took.min(WITHIN));
    }

    fn next(&self, took: Duration) -> i64 {
        let next = match took {
            it if it > WITHIN => self.size / 2,
            it if it < SHORT => self.size * 2,
            _ => self.size,
        };
        next.clamp(*self.sizes.start(), *self.sizes.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_long_becomes_less_and_what_is_short_more() {
        let after = |size, ms| Steps::new(size, 20..=500).next(Duration::from_millis(ms));
        assert_eq!((after(50, 1), after(50, 10), after(50, 25)), (100, 50, 25));
        assert_eq!((after(500, 0), after(20, 5_000)), (500, 20));
    }
}
