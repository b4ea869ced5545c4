//! The conversions of whole numbers.

/// Implements the conversions of a whole number from and to `i64` and strings: `Type, "what a valid number is"`.
macro_rules! whole_number {
    ($number:ident, $expected:literal) => {
        impl std::fmt::Display for $number {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(formatter)
            }
        }

        impl TryFrom<i64> for $number {
            type Error = InvalidNumber;

            fn try_from(number: i64) -> Result<Self, InvalidNumber> {
                Self::new(number).ok_or_else(|| InvalidNumber::new(number, $expected))
            }
        }

        impl std::str::FromStr for $number {
            type Err = InvalidNumber;

            fn from_str(text: &str) -> Result<Self, InvalidNumber> {
                text.parse().ok().and_then(Self::new).ok_or_else(|| InvalidNumber::new(text, $expected))
            }
        }

        impl From<$number> for i64 {
            fn from(number: $number) -> Self {
                number.0
            }
        }
    };
}

pub(super) use whole_number;
