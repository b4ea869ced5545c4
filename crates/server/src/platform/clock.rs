//! The wall clock.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::bail;
use guerdon_domain::ports::{Clock, Timestamp};

/// The beginning of the year 9999, in seconds since 1970. Later times cannot be written in RFC 3339.
const LATEST_SECONDS: u64 = 253_370_764_800;

/// Fails if the system clock is before 1970 or after 9998.
pub(crate) fn require_sane_clock() -> anyhow::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "this checks the clock before the Clock port uses it")]
    let now = SystemTime::now();
    match now.duration_since(UNIX_EPOCH) {
        Ok(since) if since.as_secs() < LATEST_SECONDS => Ok(()),
        _ => bail!("the system clock is before 1970 or after 9998: set it"),
    }
}

/// The system's clock in whole microseconds, the precision of both databases.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the adapter behind the Clock port")]
    fn now(&self) -> Timestamp {
        Timestamp::new(time::OffsetDateTime::now_utc())
    }
}
