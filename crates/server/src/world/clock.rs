//! The wall clock.

use guerdon_domain::ports::{Clock, Timestamp};

/// The system's clock, in whole microseconds, which both databases keep.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the adapter behind the Clock port")]
    fn now(&self) -> Timestamp {
        Timestamp::new(time::OffsetDateTime::now_utc())
    }
}
