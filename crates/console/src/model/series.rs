//! Values over time.

use time::{Duration, OffsetDateTime, Time, UtcOffset};

/// The size of a bucket: an hour or a day in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BucketSize {
    Hour,
    Day,
}

impl BucketSize {
    const fn duration(self) -> Duration {
        match self {
            Self::Hour => Duration::HOUR,
            Self::Day => Duration::DAY,
        }
    }

    /// Returns the start of the bucket that contains `at`.
    fn bucket_start(self, at: OffsetDateTime) -> OffsetDateTime {
        let at = at.checked_to_offset(UtcOffset::UTC).unwrap_or(at);
        let hour = match self {
            Self::Hour => at.hour(),
            Self::Day => 0,
        };
        Time::from_hms(hour, 0, 0).map_or(at, |time| at.replace_time(time))
    }
}

/// A bucket and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// The start of the bucket.
    pub at: OffsetDateTime,
    /// `None` if the value is unknown, which differs from 0.
    pub value: Option<i64>,
}

/// Buckets without gaps, oldest first. The last one is still in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    pub bucket_size: BucketSize,
    pub points: Vec<Point>,
}

impl Series {
    /// Builds a series of counts or sums: values in the same bucket are added up, and an empty bucket is 0.
    pub fn from_sums(
        step: BucketSize,
        now: OffsetDateTime,
        count: u16,
        found: impl IntoIterator<Item = (OffsetDateTime, i64)>,
    ) -> Self {
        let mut series = Self::with_unknown_values(step, now, count);
        series.points.iter_mut().for_each(|point| point.value = Some(0));
        for (at, value) in found {
            if let Some(point) = series.bucket_at(at) {
                point.value = point.value.map(|sum| sum.saturating_add(value));
            }
        }
        series
    }

    /// Builds a series of means. The value of an empty bucket is unknown. If a bucket has several values, the last one
    /// counts.
    pub fn from_means(
        step: BucketSize,
        now: OffsetDateTime,
        count: u16,
        found: impl IntoIterator<Item = (OffsetDateTime, i64)>,
    ) -> Self {
        let mut series = Self::with_unknown_values(step, now, count);
        for (at, value) in found {
            if let Some(point) = series.bucket_at(at) {
                point.value = Some(value);
            }
        }
        series
    }

    /// Builds a series of levels, such as a balance. The values come oldest first, and each holds until the next one.
    /// The last value before the first bucket is the initial level.
    pub fn from_levels(
        step: BucketSize,
        now: OffsetDateTime,
        count: u16,
        found: impl IntoIterator<Item = (OffsetDateTime, i64)>,
    ) -> Self {
        let mut series = Self::with_unknown_values(step, now, count);
        let begins = series.points.first().map_or(now, |point| point.at);
        let mut level = None;
        for (at, value) in found {
            if at < begins {
                level = Some(value);
            } else if let Some(point) = series.bucket_at(at) {
                point.value = Some(value);
            }
        }
        for point in &mut series.points {
            level = point.value.or(level);
            point.value = level;
        }
        series
    }

    /// Returns the newest buckets, at most `count`.
    #[must_use]
    pub fn newest_buckets(&self, count: usize) -> Self {
        let skipped = self.points.len().saturating_sub(count);
        Self { bucket_size: self.bucket_size, points: self.points.iter().skip(skipped).copied().collect() }
    }

    /// Returns the saturating sum of the known values.
    pub fn total(&self) -> i64 {
        self.points.iter().filter_map(|point| point.value).fold(0, i64::saturating_add)
    }

    fn with_unknown_values(step: BucketSize, now: OffsetDateTime, count: u16) -> Self {
        let last = step.bucket_start(now);
        let ages = (0..i32::from(count)).rev();
        let begins = ages.filter_map(|age| last.checked_sub(step.duration() * age));
        Self { bucket_size: step, points: begins.map(|at| Point { at, value: None }).collect() }
    }

    fn bucket_at(&mut self, at: OffsetDateTime) -> Option<&mut Point> {
        let since = at - self.points.first()?.at;
        let number = since.whole_seconds().div_euclid(self.bucket_size.duration().whole_seconds());
        self.points.get_mut(usize::try_from(number).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 14:35:10 UTC);

    fn point_values(series: &Series) -> Vec<Option<i64>> {
        series.points.iter().map(|point| point.value).collect()
    }

    #[test]
    fn buckets_start_in_utc_and_end_with_the_current_one() {
        let hours = Series::from_sums(BucketSize::Hour, datetime!(2026-11-20 01:35 +2), 3, []);
        let begins: Vec<_> = hours.points.iter().map(|point| point.at).collect();
        let expected = [
            datetime!(2026-11-19 21:00 UTC),
            datetime!(2026-11-19 22:00 UTC),
            datetime!(2026-11-19 23:00 UTC),
        ];
        assert_eq!(begins, expected);
        let days = Series::from_sums(BucketSize::Day, NOW, 30, []);
        assert_eq!(days.points.len(), 30);
        assert_eq!(days.points[0].at, datetime!(2026-10-22 00:00 UTC));
    }

    #[test]
    fn sums_add_up_and_ignore_values_out_of_range() {
        let at = |hour, value| (NOW.replace_hour(hour).unwrap(), value);
        let found = [at(10, 1), at(12, 2), at(12, 3), at(14, 4), at(15, 5)];
        let series = Series::from_sums(BucketSize::Hour, NOW, 3, found);
        assert_eq!(point_values(&series), [Some(5), Some(0), Some(4)]);
        assert_eq!(series.total(), 9);
        assert_eq!(
            Series::from_sums(BucketSize::Hour, NOW, 1, [at(14, i64::MAX), at(14, 1)]).total(),
            i64::MAX
        );
    }

    #[test]
    fn empty_buckets_of_means_are_unknown() {
        let series = Series::from_means(BucketSize::Hour, NOW, 3, [(NOW, 7)]);
        assert_eq!(point_values(&series), [None, None, Some(7)]);
    }

    #[test]
    fn level_holds_until_the_next_value() {
        let found = [
            (datetime!(2026-11-01 08:00 UTC), 5),
            (datetime!(2026-11-18 08:00 UTC), 6),
            (datetime!(2026-11-18 09:00 UTC), 7),
        ];
        let series = Series::from_levels(BucketSize::Day, NOW, 4, found);
        assert_eq!(point_values(&series), [Some(5), Some(7), Some(7), Some(7)]);
        assert_eq!(point_values(&Series::from_levels(BucketSize::Day, NOW, 2, [])), [None, None]);
        assert_eq!(point_values(&series.newest_buckets(2)), [Some(7), Some(7)]);
    }

    #[test]
    fn series_without_buckets_is_empty() {
        assert_eq!(Series::from_sums(BucketSize::Day, NOW, 0, [(NOW, 1)]).points, []);
    }
}
