//! Decides between the commit of a request and a 503 because it takes too long: a client that gets this 503 can rely on it that
//! nothing was committed.

use std::sync::atomic::{AtomicU8, Ordering};

const OPEN: u8 = 0;
const COMMITTING: u8 = 1;
const BROKEN_OFF: u8 = 2;

/// The first decision: to commit, or to respond with 503.
#[derive(Debug, Default)]
pub(crate) struct Promise(AtomicU8);

impl Promise {
    /// Must be called right before a commit. Returns false if the client got a 503, so that nothing may be committed.
    pub(crate) fn keep(&self) -> bool {
        self.decide(COMMITTING)
    }

    /// Must be called before a 503. Returns false if the work is about to be committed.
    pub(crate) fn break_off(&self) -> bool {
        self.decide(BROKEN_OFF)
    }

    /// Only the first decision counts.
    fn decide(&self, what: u8) -> bool {
        match self.0.compare_exchange(OPEN, what, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_open) => true,
            Err(before) => before == what,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_decision_holds() {
        let promise = Promise::default();
        assert!(promise.keep() && promise.keep()); // a transaction that lost a race runs again
        assert!(!promise.break_off());
        let promise = Promise::default();
        assert!(promise.break_off() && promise.break_off());
        assert!(!promise.keep());
    }
}
