//! Attempts to deliver events.

use time::OffsetDateTime;

/// An attempt to deliver an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub number: u32,
    pub started_at: OffsetDateTime,
    /// None where nothing was answered.
    pub status: Option<u16>,
    /// In the dispatcher's words; none for a confirmed one.
    pub cause: Option<String>,
    /// In microseconds.
    pub duration: i64,
    /// How long the next one waits, in microseconds; none after the last and after a confirmed one.
    pub next_wait: Option<i64>,
}
