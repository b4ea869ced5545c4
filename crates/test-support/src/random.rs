//! Random numbers that are the same for the same seed.

use std::time::Duration;

/// A seeded pseudo-random generator (SplitMix64): a run can be repeated from its seed.
pub struct Random(pub u64);

impl Random {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `bound` - 1, or 0 if `bound` is 0.
    pub fn number_below(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound.max(1)
    }

    /// Returns an index from 0 to `length` - 1, or 0 if `length` is 0.
    pub fn index_below(&mut self, length: usize) -> usize {
        usize::try_from(self.number_below(u64::try_from(length).unwrap_or(1))).unwrap_or_default()
    }

    /// Returns a number from 0 to less than 1.
    pub fn fraction(&mut self) -> f64 {
        f64::from(u32::try_from(self.next_u64() >> 32).unwrap_or_default()) / 2_f64.powi(32)
    }

    /// Returns a duration from zero to less than `bound`.
    pub fn duration_below(&mut self, bound: Duration) -> Duration {
        bound.mul_f64(self.fraction())
    }

    /// Returns one of these values. Panics if there are none.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        all.get(self.index_below(all.len())).expect("a value to choose")
    }
}
