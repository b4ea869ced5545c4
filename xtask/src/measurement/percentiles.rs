//! Summarizes durations.

use std::time::Duration;

/// The median and the 99th percentile.
#[derive(Clone, Copy)]
pub(crate) struct Percentiles {
    pub(crate) median: Duration,
    pub(crate) p99: Duration,
}

impl Percentiles {
    /// Summarizes durations in any order; `None` if there are none.
    pub(crate) fn from_durations(mut durations: Vec<Duration>) -> Option<Self> {
        durations.sort_unstable();
        let at = |percent: usize| {
            durations.get((durations.len() * percent).div_ceil(100).saturating_sub(1)).copied()
        };
        Some(Self { median: at(50)?, p99: at(99)? })
    }
}

/// Returns a rate per second.
pub(crate) fn per_second(count: usize, elapsed: Duration) -> f64 {
    to_f64(count) / elapsed.as_secs_f64()
}

/// Converts a count; at most [`u32::MAX`].
pub(crate) fn to_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Percentiles;

    #[test]
    fn p99_is_the_99th_of_a_hundred_durations() {
        let times =
            Percentiles::from_durations((1..=100).rev().map(Duration::from_millis).collect()).unwrap();
        assert_eq!((times.median, times.p99), (Duration::from_millis(50), Duration::from_millis(99)));
        let one = Percentiles::from_durations(vec![Duration::from_millis(7)]).unwrap();
        assert_eq!((one.median, one.p99), (Duration::from_millis(7), Duration::from_millis(7)));
        assert!(Percentiles::from_durations(Vec::new()).is_none());
    }
}
