//! Slows down clients that guess secrets: limits the failed logins of each address, and of each address with one API
//! key.
//!
//! Only failures count, so the check before the lookup must not count anything. When a table is full, the entries with
//! the most failures must be kept. `governor` supports neither (see [`Gcra`]).

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::middleware::gcra::Gcra;
use crate::mutex::lock_mutex;
use crate::request_info::limit_address;

const FAILED_LOGINS_WINDOW: Duration = Duration::from_secs(60);
/// The limit of an address is this many times the limit of an address with one key.
const ADDRESS_FACTOR: u32 = 5;
/// The maximum number of entries of each table. When a table is full, the entries with the fewest failures are removed.
const ENTRIES_MAX: usize = 100_000;

/// The failed logins of the last minute.
pub(crate) struct FailedLogins {
    limits: Option<FailureIntervals>,
    failures: Mutex<Failures>,
    hasher: RandomState,
}

/// How much each failure adds to the backlog of its key and of its address. A limit is reached when the backlog fills
/// [`FAILED_LOGINS_WINDOW`].
struct FailureIntervals {
    key_interval: Duration,
    address_interval: Duration,
}

#[derive(Default)]
struct Failures {
    by_key: HashMap<(IpAddr, u64), Gcra>,
    by_address: HashMap<IpAddr, Gcra>,
}

impl FailedLogins {
    /// Allows `per_minute` failures per minute from one address with one key; 0 turns the limit off.
    pub(crate) fn new(per_minute: u32) -> Self {
        let limits = (per_minute > 0).then(|| FailureIntervals {
            key_interval: FAILED_LOGINS_WINDOW / per_minute,
            address_interval: FAILED_LOGINS_WINDOW / per_minute.saturating_mul(ADDRESS_FACTOR),
        });
        Self { limits, failures: Mutex::default(), hasher: RandomState::new() }
    }

    /// The seconds until credentials from this address are checked again, or `None` if they are checked now.
    pub(super) fn seconds_to_wait(&self, address: IpAddr, key: &str, now: Instant) -> Option<u64> {
        let limits = self.limits.as_ref()?;
        let address = limit_address(address);
        let failures = lock_mutex(&self.failures);
        let key_wait =
            wait_seconds(failures.by_key.get(&(address, self.key_digest(key))), limits.key_interval, now);
        let address_wait = wait_seconds(failures.by_address.get(&address), limits.address_interval, now);
        key_wait.max(address_wait)
    }

    /// Counts a failure. If concurrent requests have already reached the limit, counts nothing and returns the seconds
    /// to wait.
    pub(super) fn record_failure(&self, address: IpAddr, key: &str, now: Instant) -> Option<u64> {
        let wait = self.seconds_to_wait(address, key, now);
        if let (Some(limits), None) = (&self.limits, wait) {
            let address = limit_address(address);
            let mut failures = lock_mutex(&self.failures);
            count_failure(&mut failures.by_key, (address, self.key_digest(key)), limits.key_interval, now);
            count_failure(&mut failures.by_address, address, limits.address_interval, now);
        }
        wait
    }

    /// Keys are stored as digests, because clients choose their length.
    fn key_digest(&self, key: &str) -> u64 {
        self.hasher.hash_one(key)
    }
}

/// The seconds until another failure is allowed.
fn wait_seconds(failures: Option<&Gcra>, interval: Duration, now: Instant) -> Option<u64> {
    let excess = (failures?.backlog(now) + interval).checked_sub(FAILED_LOGINS_WINDOW)?;
    // Dividing the window into intervals leaves a rounding error of less than a microsecond.
    (excess > Duration::from_micros(1)).then(|| excess.as_secs() + 1)
}

fn count_failure<K: Eq + Hash>(failures: &mut HashMap<K, Gcra>, key: K, interval: Duration, now: Instant) {
    if failures.len() >= ENTRIES_MAX && !failures.contains_key(&key) {
        let mut smallest_backlog = Duration::ZERO;
        while failures.len() >= ENTRIES_MAX {
            failures.retain(|_, rate| rate.backlog(now) > smallest_backlog);
            smallest_backlog = (smallest_backlog * 2).max(interval);
        }
    }
    failures.entry(key).or_default().count_event(interval, now);
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST_ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const SECOND_ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn record_failed_login(logins: &FailedLogins, address: IpAddr, key: &str, now: Instant) -> bool {
        logins.record_failure(address, key, now).is_none()
    }

    #[test]
    fn an_address_that_reaches_the_limit_with_one_key_must_wait() {
        for per_minute in [1, 7, 20, 59, 1_000] {
            let (logins, now) = (FailedLogins::new(per_minute), Instant::now());
            for attempt in 0..per_minute {
                assert_eq!(
                    logins.seconds_to_wait(FIRST_ADDRESS, "key", now),
                    None,
                    "{attempt} of {per_minute}"
                );
                assert!(record_failed_login(&logins, FIRST_ADDRESS, "key", now), "{attempt} of {per_minute}");
            }
            assert!(!record_failed_login(&logins, FIRST_ADDRESS, "key", now));
            let wait = logins.seconds_to_wait(FIRST_ADDRESS, "key", now).unwrap();
            assert!((1..=61).contains(&wait), "{wait}");
            assert_eq!(
                logins.seconds_to_wait(FIRST_ADDRESS, "key", now + Duration::from_secs(wait)),
                None,
                "{per_minute}"
            );
            assert_eq!(logins.seconds_to_wait(FIRST_ADDRESS, "another", now), None);
            assert_eq!(logins.seconds_to_wait(SECOND_ADDRESS, "key", now), None);
        }
    }

    #[test]
    fn an_address_fails_five_times_as_often_with_many_keys() {
        let (logins, now) = (FailedLogins::new(20), Instant::now());
        let failed = (0..200)
            .filter(|attempt| record_failed_login(&logins, FIRST_ADDRESS, &attempt.to_string(), now))
            .count();
        assert_eq!(failed, 100);
        assert!(logins.seconds_to_wait(FIRST_ADDRESS, "never seen", now).is_some());
        assert_eq!(logins.seconds_to_wait(SECOND_ADDRESS, "0", now), None);
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        let (logins, now) = (FailedLogins::new(1), Instant::now());
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        assert!(record_failed_login(&logins, address("2001:db8:1:2::1"), "key", now));
        assert!(!record_failed_login(&logins, address("2001:db8:1:2:ffff::2"), "key", now));
        assert!(record_failed_login(&logins, address("2001:db8:1:3::1"), "key", now));
    }

    #[test]
    fn a_refused_attempt_is_not_counted_as_a_failure() {
        let (logins, now) = (FailedLogins::new(1), Instant::now());
        assert!(record_failed_login(&logins, FIRST_ADDRESS, "key", now));
        for _ in 0..10 {
            assert!(!record_failed_login(&logins, FIRST_ADDRESS, "key", now));
        }
        assert_eq!(logins.seconds_to_wait(FIRST_ADDRESS, "key", now + FAILED_LOGINS_WINDOW), None);
    }

    #[test]
    fn nothing_is_counted_if_the_limit_is_off() {
        let (logins, now) = (FailedLogins::new(0), Instant::now());
        assert!((0..1_000).all(|_| record_failed_login(&logins, FIRST_ADDRESS, "key", now)));
    }

    #[test]
    fn the_tables_are_bounded_and_keep_those_with_the_most_failures() {
        let (mut failures, now, interval) = (HashMap::new(), Instant::now(), Duration::from_secs(3));
        for _ in 0..20 {
            count_failure(&mut failures, usize::MAX, interval, now);
        }
        for key in 0..ENTRIES_MAX + 10 {
            count_failure(&mut failures, key, interval, now);
        }
        assert!(failures.len() <= ENTRIES_MAX);
        assert!(failures.contains_key(&usize::MAX));
    }

    #[test]
    fn a_full_table_makes_room_only_for_a_new_entry() {
        let (mut failures, now, interval) = (HashMap::new(), Instant::now(), Duration::from_secs(3));
        for key in (0..ENTRIES_MAX).chain(0..ENTRIES_MAX) {
            count_failure(&mut failures, key, interval, now);
        }
        assert_eq!(failures.len(), ENTRIES_MAX);
        assert!(failures.values().all(|rate| rate.backlog(now) == 2 * interval));
        count_failure(&mut failures, 0, interval, now);
        count_failure(&mut failures, ENTRIES_MAX, interval, now);
        assert_eq!(failures.len(), 2, "the entry with three failures and the new one");
    }
}
