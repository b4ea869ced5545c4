//! Moments.

use std::fmt;

use time::UtcOffset;

/// A moment in UTC.
pub type Timestamp = time::OffsetDateTime;

/// A moment as everybody outside sees it: ISO 8601 in UTC with milliseconds (behaviour 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Milliseconds(pub Timestamp);

impl fmt::Display for Milliseconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.0.to_offset(UtcOffset::UTC);
        let (year, month, day) = (at.year(), u8::from(at.month()), at.day());
        let (hour, minute, second) = at.to_hms();
        let millisecond = at.millisecond();
        write!(formatter, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z")
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_moment_is_iso_8601_in_utc_with_milliseconds() {
        let check = |at, expected: &str| assert_eq!(Milliseconds(at).to_string(), expected);
        check(datetime!(2026-11-20 20:01:02.345678 UTC), "2026-11-20T20:01:02.345Z");
        check(datetime!(2026-01-02 03:04:05 UTC), "2026-01-02T03:04:05.000Z");
        check(datetime!(2026-01-01 00:30:00 +1), "2025-12-31T23:30:00.000Z");
        check(datetime!(0001-01-01 00:00 UTC), "0001-01-01T00:00:00.000Z");
        check(datetime!(9999-12-31 23:59:59.999999 UTC), "9999-12-31T23:59:59.999Z");
    }
}
