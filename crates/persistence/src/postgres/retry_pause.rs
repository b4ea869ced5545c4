//! The pause before a unit of work that lost a race runs again.

use std::time::Duration;

/// The number of tries after which a unit of work fails as busy.
pub(crate) const TRIES_MAX: u32 = 6;

/// Sleeps for some milliseconds, longer with each try. The time is random, so that competing units do not
/// collide again.
pub(crate) fn sleep_before_retry(tries: u32) {
    use std::hash::{BuildHasher as _, RandomState};
    let pause_max_millis = 4_u64 << tries.min(5);
    let random = RandomState::new().hash_one(tries) % pause_max_millis;
    std::thread::sleep(Duration::from_millis(1 + random)); // tidy: a lost race waits, on a thread of the blocking pool
}
