//! The pause before a unit of work that conflicted with another one is retried.

use std::time::Duration;

/// The number of attempts after which a unit of work fails as busy.
pub(crate) const ATTEMPTS_MAX: u32 = 6;

/// Sleeps for some milliseconds, longer with each attempt. The time is random, so that competing units do not
/// collide again.
pub(crate) fn sleep_before_retry(attempts: u32) {
    use std::hash::{BuildHasher as _, RandomState};
    let pause_max_millis = 4_u64 << attempts.min(5);
    let random = RandomState::new().hash_one(attempts) % pause_max_millis;
    std::thread::sleep(Duration::from_millis(1 + random)); // tidy: waits after a conflict, on a thread of the blocking pool
}
