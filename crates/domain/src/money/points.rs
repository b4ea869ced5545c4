//! Counts of points.

/// A count of points, never negative: what a provider sends and sees (behaviour 16.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Points(i64);

impl Points {
    pub const ZERO: Self = Self(0);

    /// So many points, or `None` for a negative count.
    pub const fn new(count: i64) -> Option<Self> {
        if count < 0 { None } else { Some(Self(count)) }
    }

    pub const fn get(self) -> i64 {
        self.0
    }

    /// The sum, or `None` on overflow.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The points taken `count` times, or `None` on overflow or for a negative `count`.
    pub fn checked_mul(self, count: i64) -> Option<Self> {
        if count < 0 { None } else { self.0.checked_mul(count).map(Self) }
    }
}
