//! Amounts of money.

/// An amount of money in nano-dollars (10⁻⁷ US cent), negative where an outside account owes (behaviour 16.5).
///
/// The unit is so small because a point is a whole number of nano-dollars for every rate that divides 10⁹.
/// Arithmetic is checked: `None` is an overflow of `i64`, some 9.2 thousand million dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(i64);

impl Amount {
    pub const ZERO: Self = Self(0);

    /// The largest amount there is.
    pub const MAX: Self = Self(i64::MAX);

    /// The amount of so many nano-dollars.
    pub const fn from_nanodollars(nanodollars: i64) -> Self {
        Self(nanodollars)
    }

    /// The count of nano-dollars, as it is stored.
    pub const fn nanodollars(self) -> i64 {
        self.0
    }

    /// The sum, or `None` on overflow.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The difference, which may be negative, or `None` on overflow.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// The amount taken `count` times, or `None` on overflow.
    pub fn checked_mul(self, count: i64) -> Option<Self> {
        self.0.checked_mul(count).map(Self)
    }

    /// Whether this is no money at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Whether this is less than nothing.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }
}
