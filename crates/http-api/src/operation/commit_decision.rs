//! Decides between the commit of a request and a 503 because it takes too long: a client that gets this 503 can rely on it that
//! nothing was committed.

use std::sync::atomic::{AtomicU8, Ordering};

const UNDECIDED: u8 = 0;
const COMMITTING: u8 = 1;
const TIMED_OUT: u8 = 2;

/// The first decision: to commit, or to respond with 503.
#[derive(Debug, Default)]
pub(crate) struct CommitDecision(AtomicU8);

impl CommitDecision {
    /// Must be called right before a commit. Returns false if the client got a 503, so that nothing may be committed.
    pub(crate) fn decide_commit(&self) -> bool {
        self.decide_once(COMMITTING)
    }

    /// Must be called before a 503. Returns false if the work is about to be committed.
    pub(crate) fn decide_timeout(&self) -> bool {
        self.decide_once(TIMED_OUT)
    }

    /// Only the first decision counts.
    fn decide_once(&self, outcome: u8) -> bool {
        match self.0.compare_exchange(UNDECIDED, outcome, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_undecided) => true,
            Err(earlier) => earlier == outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_decision_counts() {
        let decision = CommitDecision::default();
        assert!(decision.decide_commit() && decision.decide_commit()); // a transaction that lost a race runs again
        assert!(!decision.decide_timeout());
        let decision = CommitDecision::default();
        assert!(decision.decide_timeout() && decision.decide_timeout());
        assert!(!decision.decide_commit());
    }
}
