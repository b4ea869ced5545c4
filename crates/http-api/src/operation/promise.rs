//! Between a client that is sent away and the work that goes on without it: who was told 503 for its length can rely on
//! nothing coming of it.

use std::sync::atomic::{AtomicU8, Ordering};

const OPEN: u8 = 0;
const TO_BE_KEPT: u8 = 1;
const BROKEN_OFF: u8 = 2;

/// What was decided first: to commit, or to send the client away.
#[derive(Debug, Default)]
pub(crate) struct Promise(AtomicU8);

impl Promise {
    /// Called as the last thing before a commit; `false` where the client was sent away, and nothing may be committed.
    pub(crate) fn keep(&self) -> bool {
        self.decide(TO_BE_KEPT)
    }

    /// Called before a client is sent away; `false` where the work is about to be committed.
    pub(crate) fn break_off(&self) -> bool {
        self.decide(BROKEN_OFF)
    }

    /// Whoever decides first has decided.
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
