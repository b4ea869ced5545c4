//! Pseudo-random choices, reproducible from a seed.

/// xorshift64*
pub struct TestRng(u64);

impl TestRng {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number from 0 to `end`, exclusive.
    pub fn random_below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let drawn = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(drawn).unwrap() % end
    }

    pub fn random_bool(&mut self, likely: usize) -> bool {
        self.random_below(100) < likely
    }

    pub fn pick_one<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.random_below(all.len())]
    }

    pub fn pick_word(&mut self, all: &[&'static str]) -> &'static str {
        all[self.random_below(all.len())]
    }
}
