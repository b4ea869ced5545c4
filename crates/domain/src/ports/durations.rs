//! Durations counted in buckets. Unlike a mean, such counts show the slowest requests, and the counts of several hours
//! and processes can be added.

use std::time::Duration;

/// The upper bounds of the buckets in microseconds. One more bucket contains all longer durations. The metrics use the
/// same bounds.
pub const DURATION_BOUNDS_MICROS: [i64; 14] = [
    500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 15_000_000,
];

/// The number of buckets.
const DURATION_BUCKET_COUNT: usize = DURATION_BOUNDS_MICROS.len() + 1;

/// The number of durations in each bucket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DurationCounts([i64; DURATION_BUCKET_COUNT]);

impl DurationCounts {
    /// Returns the bucket of a duration.
    fn bucket_of(duration: Duration) -> usize {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        DURATION_BOUNDS_MICROS.partition_point(|bound| *bound < micros)
    }

    /// Counts a duration.
    pub fn record_duration(&mut self, duration: Duration) {
        self.add(Self::bucket_of(duration), 1);
    }

    /// Adds to a bucket. A bucket that does not exist is ignored.
    pub fn add(&mut self, bucket: usize, number: i64) {
        if let Some(count) = self.0.get_mut(bucket) {
            *count = count.saturating_add(number);
        }
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (bucket, number) in other.nonzero_buckets() {
            self.add(bucket, number);
        }
    }

    /// Returns each bucket that is not empty, with its count.
    pub fn nonzero_buckets(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        self.0.iter().copied().enumerate().filter(|(_, number)| *number != 0)
    }

    pub fn is_empty(&self) -> bool {
        self.nonzero_buckets().next().is_none()
    }

    /// Estimates the duration in microseconds that `percent` percent of the durations did not exceed; `None` if there
    /// are no durations. The estimate is interpolated within the correct bucket, so between 0.5 ms and 15 s it is
    /// within a factor of 3 of the exact value. In the last bucket, it is the lower bound.
    pub fn percentile_micros(&self, percent: u8) -> Option<i64> {
        let total: i64 = self.0.iter().fold(0, |sum, count| sum.saturating_add(*count));
        let rank = (i128::from(total) * i128::from(percent) + 99).div_euclid(100).max(1);
        let mut before = 0_i128;
        for (bucket, number) in self.nonzero_buckets() {
            let number = i128::from(number);
            if before + number >= rank {
                let lower =
                    bucket.checked_sub(1).and_then(|index| DURATION_BOUNDS_MICROS.get(index)).unwrap_or(&0);
                let upper = DURATION_BOUNDS_MICROS.get(bucket).unwrap_or(lower);
                let within = i128::from(upper - lower) * (rank - before) / number;
                return Some(lower.saturating_add(i64::try_from(within).unwrap_or(0)));
            }
            before += number;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts_of(millis: &[u64]) -> DurationCounts {
        let mut counts = DurationCounts::default();
        millis.iter().for_each(|millis| counts.record_duration(Duration::from_millis(*millis)));
        counts
    }

    #[test]
    fn bounds_belong_to_the_bucket_below() {
        let check = |micros, bucket| {
            assert_eq!(DurationCounts::bucket_of(Duration::from_micros(micros)), bucket, "{micros}")
        };
        check(0, 0);
        check(500, 0);
        check(501, 1);
        check(15_000_000, 13);
        check(15_000_001, 14);
        assert_eq!(DurationCounts::bucket_of(Duration::MAX), DURATION_BUCKET_COUNT - 1);
    }

    #[test]
    fn percentiles_are_in_the_bucket_of_the_true_value() {
        let mut counts = counts_of(&[2; 98]);
        counts.merge(&counts_of(&[400, 20_000]));
        let check = |percent, expected| assert_eq!(counts.percentile_micros(percent), Some(expected));
        check(50, 1_765);
        check(98, 2_500);
        check(99, 500_000);
        check(100, 15_000_000);
        assert_eq!(DurationCounts::default().percentile_micros(50), None);
        assert_eq!(counts_of(&[2]).percentile_micros(50), Some(2_500));
    }

    /// The factor that holds for every sample is 3, the ratio of the last two bounds (5 s and 15 s).
    #[test]
    fn percentiles_of_this_sample_are_within_a_factor_of_two_and_a_half() {
        let mut sample: Vec<u64> = (1..2_000_u64).map(|number| number * 7_919 % 14_000 + 1).collect();
        let counts = counts_of(&sample);
        sample.sort_unstable();
        for percent in [50_u8, 95, 99] {
            let exact = sample[sample.len() * usize::from(percent) / 100 - 1] * 1_000;
            let estimate = u64::try_from(counts.percentile_micros(percent).unwrap()).unwrap();
            assert!(estimate * 2 >= exact && estimate * 2 <= exact * 5, "p{percent}: {estimate} for {exact}");
        }
    }
}
