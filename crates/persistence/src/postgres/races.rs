//! Waiting before a lost race is run again.

use std::time::Duration;

/// How often a unit of work is run before its race counts as lost.
pub(crate) const TRIES: u32 = 6;

/// Sleeps some milliseconds, more with each try, at random so that rivals part ways.
pub(crate) fn pause(tries: u32) {
    use std::hash::{BuildHasher as _, RandomState};
    let most = 4_u64 << tries.min(5);
    let random = RandomState::new().hash_one(tries) % most;
    std::thread::sleep(Duration::from_millis(1 + random)); // tidy: a lost race waits, on a thread of the blocking pool
}
