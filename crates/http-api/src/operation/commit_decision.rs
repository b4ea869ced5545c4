//! Decides between a commit and a 503 when a request takes too long. If the 503 is decided first, nothing is committed.
//! If the commit is decided first, the request waits for its acknowledgement, and a 503 follows only if the
//! acknowledgement does not arrive in time either. In that case, the outcome is unknown.

use std::sync::OnceLock;

/// The decision to commit (true) or to respond with 503 (false). Once made, it does not change.
#[derive(Debug, Default)]
pub(crate) struct CommitDecision(OnceLock<bool>);

impl CommitDecision {
    /// Must be called right before a commit. If it returns false, the client got a 503 and nothing may be committed.
    pub(crate) fn decide_commit(&self) -> bool {
        *self.0.get_or_init(|| true)
    }

    /// Whether the client got a 503.
    pub(crate) fn is_timeout(&self) -> bool {
        self.0.get() == Some(&false)
    }

    /// Must be called before a 503 is sent. If it returns false, the work is about to be committed.
    pub(crate) fn decide_timeout(&self) -> bool {
        !*self.0.get_or_init(|| false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_decision_counts() {
        let decision = CommitDecision::default();
        // A transaction that failed because of a conflict runs again.
        assert!(decision.decide_commit() && decision.decide_commit());
        assert!(!decision.decide_timeout() && !decision.is_timeout());
        let decision = CommitDecision::default();
        assert!(decision.decide_timeout() && decision.decide_timeout());
        assert!(!decision.decide_commit() && decision.is_timeout());
    }
}
