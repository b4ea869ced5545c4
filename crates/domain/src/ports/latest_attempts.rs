//! The results of a provider's latest delivery attempts, which show within seconds that a receiver is failing.

/// The maximum number of stored results per provider.
pub const LATEST_ATTEMPTS_MAX: u32 = 20;

/// The results of one provider's latest completed attempts, at most [`LATEST_ATTEMPTS_MAX`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LatestAttempts {
    /// One bit per attempt, 1 if the receiver confirmed it. The lowest bit is the newest attempt.
    results: u32,
    attempts: u32,
}

impl LatestAttempts {
    /// The mask of all stored bits.
    pub const MASK: u32 = (1 << LATEST_ATTEMPTS_MAX) - 1;

    /// Creates the results from stored values. Attempts beyond the maximum are ignored.
    pub fn from_stored(results: u32, attempts: u32) -> Self {
        let attempts = attempts.min(LATEST_ATTEMPTS_MAX);
        Self { results: results & ((1 << attempts) - 1), attempts }
    }

    /// Adds the newest attempt.
    pub fn record_result(&mut self, is_confirmed: bool) {
        self.results = ((self.results << 1) | u32::from(is_confirmed)) & Self::MASK;
        self.attempts = (self.attempts + 1).min(LATEST_ATTEMPTS_MAX);
    }

    /// One bit per attempt, as stored.
    pub fn results(self) -> u32 {
        self.results
    }

    /// The number of attempts.
    pub fn attempts(self) -> u32 {
        self.attempts
    }

    /// The number of attempts that the receiver confirmed.
    pub fn confirmed(self) -> u32 {
        self.results.count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_attempts_count() {
        let mut latest = LatestAttempts::default();
        (0..30).for_each(|_| latest.record_result(true));
        assert_eq!((latest.attempts(), latest.confirmed()), (20, 20));
        (0..11).for_each(|_| latest.record_result(false));
        assert_eq!((latest.attempts(), latest.confirmed()), (20, 9));
        latest.record_result(true);
        assert_eq!((latest.confirmed(), latest.results() & 1), (9, 1));
        assert_eq!(LatestAttempts::from_stored(latest.results(), latest.attempts()), latest);
        assert_eq!(LatestAttempts::from_stored(u32::MAX, 3).confirmed(), 3);
    }
}
