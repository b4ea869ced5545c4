//! Attempts to deliver events.

use time::OffsetDateTime;

/// The result of an attempt to deliver an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptResult {
    /// `None` without a response.
    pub status: Option<u16>,
    /// The dispatcher's description; `None` for a confirmed attempt.
    pub cause: Option<String>,
}

/// An attempt to deliver an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub number: u32,
    pub started_at: OffsetDateTime,
    pub result: AttemptResult,
    /// The headers of the response to a failed attempt, one per line; empty if there was no response.
    pub response_headers: String,
    /// The beginning of the receiver's response body, as text; empty if there was no response.
    pub response_body: String,
    /// How long the attempt took, in microseconds.
    pub duration: i64,
    /// The wait before the next attempt in microseconds; `None` after the last attempt and after a confirmed one.
    pub next_wait: Option<i64>,
}
