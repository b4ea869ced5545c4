//! The wall clock.

use guerdon_domain::ports::{Clock, Timestamp};

/// The system's clock, in whole microseconds, which both databases keep.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the adapter behind the Clock port")]
    fn now(&self) -> Timestamp {
        let now = time::OffsetDateTime::now_utc();
        now.replace_microsecond(now.microsecond()).unwrap_or(now)
    }
}

#[cfg(test)]
mod tests {
    use guerdon_domain::ports::Clock;

    #[test]
    fn time_is_utc_in_whole_microseconds() {
        let now = super::SystemClock.now();
        assert_eq!(now.nanosecond() % 1000, 0);
        assert_eq!(now.offset(), time::UtcOffset::UTC);
    }
}
