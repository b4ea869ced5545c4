//! When a failed delivery is retried (behaviour 23.8).

use std::ops::RangeInclusive;
use std::time::Duration;

/// The permitted time scales. Outside this range, a wait could be zero, or too long to be added to a time.
const TIME_SCALES: RangeInclusive<f64> = 1e-3..=1e9;
/// The wait before each successive retry in seconds: 15 + n⁴(2n+1) for n from 0 to 9.
const WAITS_SECONDS: [u64; 10] = [15, 18, 95, 582, 2_319, 6_890, 16_863, 36_030, 69_647, 124_674];

/// The waits between the eleven attempts of a delivery.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetrySchedule {
    time_scale: f64,
}

impl Default for RetrySchedule {
    fn default() -> Self {
        Self { time_scale: 1.0 }
    }
}

impl RetrySchedule {
    /// Returns the schedule with every wait divided by `time_scale` (the setting `webhooks.time_scale`), or `None` if
    /// `time_scale` is not between 0.001 and 1,000,000,000.
    pub fn with_time_scale(time_scale: f64) -> Option<Self> {
        TIME_SCALES.contains(&time_scale).then_some(Self { time_scale })
    }

    /// Returns the divisor of every wait.
    pub fn time_scale(&self) -> f64 {
        self.time_scale
    }

    /// Returns the waits by the number of failed attempts. The first wait, for no failed attempt, is zero.
    pub fn waits_by_failed_attempts(&self) -> Vec<Duration> {
        let retries = (0..).map_while(|attempts| self.retry_wait(attempts));
        std::iter::once(Duration::ZERO).chain(retries).collect()
    }

    /// Returns the wait from the end of a failed attempt to the next attempt. `attempts` is the number of attempts of
    /// this schedule before the failed one. Returns `None` after the eleventh attempt, which is the last.
    pub fn retry_wait(&self, attempts: u32) -> Option<Duration> {
        let seconds = *WAITS_SECONDS.get(usize::try_from(attempts).ok()?)?;
        let exact = Duration::from_secs(seconds);
        let scaled =
            Duration::try_from_secs_f64(exact.as_secs_f64() / self.time_scale).unwrap_or(Duration::MAX);
        Some(round_up_to_micros(scaled))
    }
}

/// Rounds up to microseconds, because the databases truncate to microseconds and no retry may be early.
fn round_up_to_micros(wait: Duration) -> Duration {
    let beyond = wait.subsec_nanos() % 1_000;
    let missing = if beyond == 0 { 0 } else { 1_000 - beyond };
    wait.saturating_add(Duration::from_nanos(missing.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60;
    const HOUR: u64 = 3_600;
    const DAY: u64 = 86_400;

    fn retry_waits(schedule: RetrySchedule) -> Vec<Duration> {
        let all = schedule.waits_by_failed_attempts();
        assert_eq!(all[0], Duration::ZERO);
        all[1..].to_vec()
    }

    #[test]
    fn the_waits_are_the_documented_ones() {
        let table = [
            15,
            18,
            MINUTE + 35,
            9 * MINUTE + 42,
            38 * MINUTE + 39,
            HOUR + 54 * MINUTE + 50,
            4 * HOUR + 41 * MINUTE + 3,
            10 * HOUR + 30,
            19 * HOUR + 20 * MINUTE + 47,
            DAY + 10 * HOUR + 37 * MINUTE + 54,
        ];
        assert_eq!(retry_waits(RetrySchedule::default()), table.map(Duration::from_secs));
        let total: Duration = retry_waits(RetrySchedule::default()).iter().sum();
        assert_eq!(total, Duration::from_secs(2 * DAY + 23 * HOUR + 25 * MINUTE + 33));
    }

    #[test]
    fn the_waits_follow_the_formula() {
        let formula: Vec<_> =
            (0..10).map(|n: u64| Duration::from_secs(15 + n.pow(4) * (2 * n + 1))).collect();
        assert_eq!(retry_waits(RetrySchedule::default()), formula);
    }

    #[test]
    fn there_are_ten_retries() {
        for retries in [10, 11, 500, u32::MAX] {
            assert_eq!(RetrySchedule::default().retry_wait(retries), None);
        }
    }

    #[test]
    fn the_scale_divides_every_wait_and_never_makes_one_early() {
        let check = |scale: f64, retries: u32, micros: u64| {
            let wait = RetrySchedule::with_time_scale(scale).unwrap().retry_wait(retries);
            assert_eq!(wait, Some(Duration::from_micros(micros)), "{scale} {retries}");
        };
        check(1.0, 0, 15_000_000);
        check(2.0, 1, 9_000_000);
        check(10_000.0, 0, 1_500);
        check(10_000.0, 9, 12_467_400);
        check(0.5, 0, 30_000_000);
        check(7.0, 0, 2_142_858);
        check(1e9, 0, 1);
    }

    #[test]
    fn every_wait_within_the_permitted_scales_can_be_added_to_a_time() {
        for scale in [0.0, -1.0, 9e-4, 1.1e9, f64::MIN_POSITIVE, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(RetrySchedule::with_time_scale(scale), None);
        }
        let longest = RetrySchedule::with_time_scale(1e-3)
            .and_then(|schedule| schedule.waits_by_failed_attempts().into_iter().max());
        assert_eq!(longest, Some(Duration::from_secs(124_674_000)));
    }
}
