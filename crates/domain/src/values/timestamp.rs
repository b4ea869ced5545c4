//! Moments.

/// A moment in UTC.
pub type Timestamp = time::OffsetDateTime;
