//! Conversions between integer types that panic if the number does not fit.

use std::fmt::Display;

/// Converts a number to another type whose range it cannot exceed, because it counts objects in memory or a
/// constructor has checked its range.
///
/// # Panics
///
/// If the number exceeds the range after all, because then no result that depends on it can be trusted.
#[track_caller]
pub fn checked_cast<To: TryFrom<From>, From: Copy + Display>(number: From) -> To {
    To::try_from(number).unwrap_or_else(|_| unreachable!("{number} is out of range"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_number_keeps_its_value() {
        assert_eq!(super::checked_cast::<i32, _>(7_usize), 7);
    }

    #[test]
    #[should_panic(expected = "300 is out of range")]
    fn a_number_that_does_not_fit_panics() {
        super::checked_cast::<u8, _>(300_i64);
    }
}
