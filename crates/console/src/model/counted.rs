//! Numbers that are counted only so far.

use std::fmt;

use crate::numbers;

/// A number that was counted up to a limit, so that counting never takes long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Counted(u64);

impl Counted {
    /// Counting may end here: what is as many may be more.
    pub const MAX: u64 = 10_000;

    /// So many, as far as was counted.
    pub fn new(number: u64) -> Self {
        Self(number.min(Self::MAX))
    }

    /// Whether it is nothing at all.
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// With its noun: `1 event`, `12 events`.
    pub(crate) fn of(self, one: &str, many: &str) -> String {
        format!("{self} {}", if self.0 == 1 { one } else { many })
    }
}

/// `12`, or `10,000 or more`.
impl fmt::Display for Counted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = if self.0 >= Self::MAX { " or more" } else { "" };
        write!(formatter, "{}{more}", numbers::counted(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::Counted;

    #[test]
    fn what_is_not_counted_to_its_end_says_so() {
        let check = |number, expected: &str| {
            assert_eq!(Counted::new(number).of("event", "events"), expected);
        };
        check(0, "0 events");
        check(1, "1 event");
        check(9_999, "9,999 events");
        check(10_000, "10,000 or more events");
        check(u64::MAX, "10,000 or more events");
    }
}
