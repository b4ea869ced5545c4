//! The wall clock.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::bail;
use guerdon_domain::ports::{Clock, Timestamp};

/// The beginning of the year 9999, in seconds: later, times cannot be told.
const LATEST: u64 = 253_370_764_800;

/// Refuses a clock at which nothing can be written down.
pub(crate) fn require_sane() -> anyhow::Result<()> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the clock itself is looked at, before it is asked for the time"
    )]
    let now = SystemTime::now();
    match now.duration_since(UNIX_EPOCH) {
        Ok(since) if since.as_secs() < LATEST => Ok(()),
        _ => bail!("the clock of this machine stands before 1970 or after 9998: set it"),
    }
}

/// The system's clock, in whole microseconds, which both databases keep.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the adapter behind the Clock port")]
    fn now(&self) -> Timestamp {
        Timestamp::new(time::OffsetDateTime::now_utc())
    }
}
