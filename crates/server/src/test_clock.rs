//! A clock for tests.

use std::sync::atomic::{AtomicI64, Ordering};

use guerdon_domain::ports::{Clock, Timestamp};

/// A clock whose time a test sets. It begins in 1970.
#[derive(Debug, Default)]
pub(crate) struct TestClock(AtomicI64);

impl TestClock {
    pub(crate) fn set(&self, at: Timestamp) {
        self.0.store(at.unix_micros(), Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_micros(self.0.load(Ordering::Relaxed)).unwrap()
    }
}
