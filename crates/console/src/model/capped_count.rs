//! Counts with an upper limit.

use std::fmt;

use crate::numbers;

/// A count that stops at a limit, so that counting is never slow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CappedCount(u64);

impl CappedCount {
    /// The limit. A count of this value means this many or more.
    pub const MAX: u64 = 10_000;

    /// Creates a count, cut off at the limit.
    pub fn new(number: u64) -> Self {
        Self(number.min(Self::MAX))
    }

    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Formats the count with its noun: `1 event`, `12 events`.
    pub(crate) fn with_noun(self, one: &str, many: &str) -> String {
        format!("{self} {}", if self.0 == 1 { one } else { many })
    }
}

/// Formats as `12` or `10,000 or more`.
impl fmt::Display for CappedCount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = if self.0 >= Self::MAX { " or more" } else { "" };
        write!(formatter, "{}{more}", numbers::format_count(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::CappedCount;

    #[test]
    fn capped_count_says_or_more() {
        let check = |number, expected: &str| {
            assert_eq!(CappedCount::new(number).with_noun("event", "events"), expected);
        };
        check(0, "0 events");
        check(1, "1 event");
        check(9_999, "9,999 events");
        check(10_000, "10,000 or more events");
        check(u64::MAX, "10,000 or more events");
    }
}
