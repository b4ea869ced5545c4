//! Timestamps.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::SystemTime;

use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime, UtcDateTime};

use super::InvalidValue;

const INVALID_TIMESTAMP: InvalidValue = InvalidValue("must be a time such as 2026-11-20T20:01:02.345Z");
const MICROS_PER_SECOND: i64 = 1_000_000;

/// A time in UTC, in whole microseconds, which both databases can store.
///
/// Its string form is ISO 8601 with milliseconds, as in the API (behaviour 3.3). Addition panics if the year
/// would have more than four digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(UtcDateTime);

impl Timestamp {
    pub const UNIX_EPOCH: Self = Self(UtcDateTime::UNIX_EPOCH);

    /// The time in UTC, truncated to microseconds.
    pub const fn new(at: OffsetDateTime) -> Self {
        Self(at.to_utc().truncate_to_microsecond())
    }

    /// Converts from microseconds since 1970; `None` if the year has more than four digits.
    pub fn from_unix_micros(micros: i64) -> Option<Self> {
        UtcDateTime::UNIX_EPOCH.checked_add(Duration::microseconds(micros)).map(Self)
    }

    /// Parses RFC 3339 with any offset, and truncates to microseconds.
    ///
    /// # Errors
    ///
    /// If the string is not a time of the years 1970 to 9999.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let at = OffsetDateTime::parse(text, &Rfc3339).ok().and_then(|at| at.checked_to_utc());
        let timestamp = at.map(|at| Self(at.truncate_to_microsecond()));
        timestamp.filter(|at| *at >= Self::UNIX_EPOCH).ok_or(INVALID_TIMESTAMP)
    }

    /// Microseconds since 1970.
    pub fn unix_micros(self) -> i64 {
        self.0.unix_timestamp() * MICROS_PER_SECOND + i64::from(self.0.microsecond())
    }

    /// The time after a duration; at most the end of the year 9999.
    #[must_use]
    pub fn saturating_add(self, duration: std::time::Duration) -> Self {
        let duration = Duration::try_from(duration).unwrap_or(Duration::MAX);
        Self(self.0.saturating_add(duration).truncate_to_microsecond())
    }

    /// The date and the time of day.
    pub const fn to_utc(self) -> UtcDateTime {
        self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = (self.0.year(), u8::from(self.0.month()), self.0.day());
        let (hour, minute, second) = self.0.as_hms();
        let millisecond = self.0.millisecond();
        write!(formatter, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z")
    }
}

/// Returns the nearest time that a timestamp can hold. The years of a timestamp are limited to -9999 to 9999.
impl From<SystemTime> for Timestamp {
    fn from(at: SystemTime) -> Self {
        let offset = match at.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Duration::try_from(after).unwrap_or(Duration::MAX),
            Err(error) => Duration::try_from(error.duration()).map_or(Duration::MIN, |before| -before),
        };
        Self(UtcDateTime::UNIX_EPOCH.saturating_add(offset).truncate_to_microsecond())
    }
}

impl From<Timestamp> for SystemTime {
    fn from(at: Timestamp) -> Self {
        at.0.into()
    }
}

/// Adds a duration of the standard library or of `time`.
impl<D> Add<D> for Timestamp
where
    UtcDateTime: Add<D, Output = UtcDateTime>,
{
    type Output = Self;

    fn add(self, duration: D) -> Self {
        Self((self.0 + duration).truncate_to_microsecond())
    }
}

/// Subtracts a duration of the standard library or of `time`.
impl<D> Sub<D> for Timestamp
where
    UtcDateTime: Sub<D, Output = UtcDateTime>,
{
    type Output = Self;

    fn sub(self, duration: D) -> Self {
        Self((self.0 - duration).truncate_to_microsecond())
    }
}

/// The duration since the other time; negative if that is later.
impl Sub for Timestamp {
    type Output = Duration;

    fn sub(self, other: Self) -> Duration {
        self.0 - other.0
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_timestamp_is_iso_8601_in_utc_with_milliseconds() {
        let check = |at, expected: &str| assert_eq!(Timestamp::new(at).to_string(), expected);
        check(datetime!(2026-11-20 20:01:02.345678 UTC), "2026-11-20T20:01:02.345Z");
        check(datetime!(2026-01-02 03:04:05 UTC), "2026-01-02T03:04:05.000Z");
        check(datetime!(2026-01-01 00:30:00 +1), "2025-12-31T23:30:00.000Z");
        check(datetime!(0001-01-01 00:00 UTC), "0001-01-01T00:00:00.000Z");
        check(datetime!(9999-12-31 23:59:59.999999 UTC), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn a_timestamp_is_parsed_with_any_offset() {
        let at = Some(Timestamp::new(datetime!(2026-11-20 20:01:02.345 UTC)));
        let check = |text, expected| assert_eq!(Timestamp::parse(text).ok(), expected, "{text}");
        check("2026-11-20T20:01:02.345Z", at);
        check("2026-11-20T21:01:02.345000999+01:00", at);
        check("2026-11-20t20:01:02.345z", at);
        for wrong in
            ["", "2026-11-20", "2026-11-20T20:01:02", "2026-11-31T20:01:02Z", "1969-12-31T23:59:59Z", "1"]
        {
            check(wrong, None);
        }
        check("9999-12-31T23:59:59-01:00", None);
    }

    #[test]
    fn a_timestamp_has_whole_microseconds() {
        let at = Timestamp::new(datetime!(2026-11-20 20:01:02.345678901 UTC));
        assert_eq!(at.to_utc().nanosecond(), 345_678_000);
        assert_eq!(at + std::time::Duration::from_nanos(1_999), at + Duration::microseconds(1));
        assert_eq!(Timestamp::from_unix_micros(at.unix_micros()), Some(at));
        assert_eq!(Timestamp::from_unix_micros(-1).map(|at| at.unix_micros()), Some(-1));
        assert_eq!(Timestamp::from_unix_micros(i64::MAX), None);
        let last = Timestamp::new(datetime!(9999-12-31 23:59:59.999999 UTC));
        assert_eq!(at.saturating_add(std::time::Duration::MAX), last);
        assert_eq!((at - Duration::DAY) - at, -Duration::DAY);
    }

    #[test]
    fn a_system_time_becomes_the_nearest_timestamp() {
        let check = |at: SystemTime, micros: i64| assert_eq!(Timestamp::from(at).unix_micros(), micros);
        let epoch = SystemTime::UNIX_EPOCH;
        check(epoch + std::time::Duration::from_nanos(1_999), 1);
        check(epoch - std::time::Duration::from_secs(1), -1_000_000);
        let last = Timestamp::new(datetime!(9999-12-31 23:59:59.999999 UTC));
        check(epoch + std::time::Duration::from_secs(1 << 40), last.unix_micros());
    }
}
