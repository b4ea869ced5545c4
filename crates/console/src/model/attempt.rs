//! Attempts to deliver events.

use time::OffsetDateTime;

/// An attempt to deliver an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub number: u32,
    pub started_at: OffsetDateTime,
    /// `None` without a response.
    pub status: Option<u16>,
    /// The dispatcher's description; `None` for a confirmed attempt.
    pub cause: Option<String>,
    /// In microseconds.
    pub duration: i64,
    /// The wait before the next attempt in microseconds; `None` after the last and after a confirmed attempt.
    pub next_wait: Option<i64>,
}
