//! How values look in an answer (behaviour 3).

use std::fmt;

use guerdon_domain::ports::Timestamp;
use guerdon_domain::values::Milliseconds;
use serde::{Serialize, Serializer};

/// A value shown by its `Display`: ids, addresses, dates.
pub(crate) struct Shown<T>(pub(crate) T);

impl<T: fmt::Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// An optional value shown by its `Display`, or null.
pub(crate) fn shown<T>(value: Option<T>) -> Option<Shown<T>> {
    value.map(Shown)
}

/// A moment: ISO 8601 in UTC with milliseconds (behaviour 3.3).
pub(crate) struct Moment(pub(crate) Timestamp);

impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Milliseconds(self.0).fmt(formatter)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_moment_is_iso_8601_in_utc_with_milliseconds() {
        let check = |at, expected: &str| assert_eq!(Moment(at).to_string(), expected);
        check(datetime!(2026-11-20 20:01:02.345678 UTC), "2026-11-20T20:01:02.345Z");
        check(datetime!(2026-01-02 03:04:05 UTC), "2026-01-02T03:04:05.000Z");
        check(datetime!(2026-01-01 00:30:00 +1), "2025-12-31T23:30:00.000Z");
    }
}
