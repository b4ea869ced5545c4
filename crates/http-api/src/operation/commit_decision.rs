//! Decides between a commit and a 503 when a request takes too long. If the 503 is decided first, nothing is committed.
//! If the commit is decided first, the request waits for its acknowledgement, and a 503 follows only if the
//! acknowledgement does not arrive in time either. In that case, the outcome is unknown.

use std::sync::atomic::{AtomicU8, Ordering};

const UNDECIDED: u8 = 0;
const COMMITTING: u8 = 1;
const TIMED_OUT: u8 = 2;

/// The decision to commit or to respond with 503. Once made, it does not change.
#[derive(Debug, Default)]
pub(crate) struct CommitDecision(AtomicU8);

impl CommitDecision {
    /// Must be called right before a commit. If it returns false, the client got a 503 and nothing may be committed.
    pub(crate) fn decide_commit(&self) -> bool {
        self.decide_once(COMMITTING)
    }

    /// Must be called before a 503 is sent. If it returns false, the work is about to be committed.
    pub(crate) fn decide_timeout(&self) -> bool {
        self.decide_once(TIMED_OUT)
    }

    /// Makes the decision unless it was made before. Returns whether `outcome` is the decision.
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
        assert!(decision.decide_commit() && decision.decide_commit()); // a transaction that failed because of a conflict runs again
        assert!(!decision.decide_timeout());
        let decision = CommitDecision::default();
        assert!(decision.decide_timeout() && decision.decide_timeout());
        assert!(!decision.decide_commit());
    }
}
