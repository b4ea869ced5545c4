//! Slows down clients that guess secrets: limits the failed logins of each address, and of each address with one API key.
//!
//! Only failures count, so the check before the look-up must not count anything; and when the tables are full, the
//! addresses with the most failures must stay. `governor` offers neither (see [`Pace`]).

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::arrival::network;
use crate::entrance::pace::Pace;

const FAILED_LOGINS_WINDOW: Duration = Duration::from_secs(60);
/// The limit of an address is this many times the limit of an address with one key.
const ADDRESS_FACTOR: u32 = 5;
/// The most entries of each table. When a table is full, those with the fewest failures are removed.
const ENTRIES_MAX: usize = 100_000;

/// The failed logins of the last minute.
pub(crate) struct FailedLogins {
    limits: Option<Limits>,
    failures: Mutex<Failures>,
    hasher: RandomState,
}

/// The intervals of failures: a limit is reached when the backlog fills [`FAILED_LOGINS_WINDOW`].
struct Limits {
    key_interval: Duration,
    address_interval: Duration,
}

#[derive(Default)]
struct Failures {
    by_key: HashMap<(IpAddr, u64), Pace>,
    by_address: HashMap<IpAddr, Pace>,
}

impl FailedLogins {
    /// Allows `per_minute` failures per minute for an address and key; 0 turns the limit off.
    pub(crate) fn new(per_minute: u32) -> Self {
        let limits = (per_minute > 0).then(|| Limits {
            key_interval: FAILED_LOGINS_WINDOW / per_minute,
            address_interval: FAILED_LOGINS_WINDOW / per_minute.saturating_mul(ADDRESS_FACTOR),
        });
        Self { limits, failures: Mutex::default(), hasher: RandomState::new() }
    }

    /// The seconds until credentials are checked again, or `None` if they are checked now.
    pub(super) fn wait(&self, address: IpAddr, key: &str, now: Instant) -> Option<u64> {
        let limits = self.limits.as_ref()?;
        let address = network(address);
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let of_key = wait_of(failures.by_key.get(&(address, self.digest(key))), limits.key_interval, now);
        let of_address = wait_of(failures.by_address.get(&address), limits.address_interval, now);
        of_key.max(of_address)
    }

    /// Counts a failure. If requests that were checked at the same time have reached the limit already, counts nothing and
    /// returns the seconds to wait.
    pub(super) fn record(&self, address: IpAddr, key: &str, now: Instant) -> Option<u64> {
        let wait = self.wait(address, key, now);
        if let (Some(limits), None) = (&self.limits, wait) {
            let address = network(address);
            let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
            add(&mut failures.by_key, (address, self.digest(key)), limits.key_interval, now);
            add(&mut failures.by_address, address, limits.address_interval, now);
        }
        wait
    }

    /// Keys are stored as digests, because clients choose their length.
    fn digest(&self, key: &str) -> u64 {
        self.hasher.hash_one(key)
    }
}

/// The seconds until another failure is allowed.
fn wait_of(failures: Option<&Pace>, interval: Duration, now: Instant) -> Option<u64> {
    let over = (failures?.backlog(now) + interval).checked_sub(FAILED_LOGINS_WINDOW)?;
    // Dividing the window into intervals leaves a rounding error of less than a microsecond.
    (over > Duration::from_micros(1)).then(|| over.as_secs() + 1)
}

fn add<K: Eq + Hash>(failures: &mut HashMap<K, Pace>, key: K, interval: Duration, now: Instant) {
    if failures.len() >= ENTRIES_MAX && !failures.contains_key(&key) {
        let mut smallest_backlog = Duration::ZERO;
        while failures.len() >= ENTRIES_MAX {
            failures.retain(|_, pace| pace.backlog(now) > smallest_backlog);
            smallest_backlog = (smallest_backlog * 2).max(interval);
        }
    }
    failures.entry(key).or_default().add(interval, now);
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn fail(logins: &FailedLogins, address: IpAddr, key: &str, now: Instant) -> bool {
        logins.record(address, key, now).is_none()
    }

    #[test]
    fn an_address_fails_so_often_with_a_key_and_then_waits() {
        for per_minute in [1, 7, 20, 59, 1_000] {
            let (logins, now) = (FailedLogins::new(per_minute), Instant::now());
            for nth in 0..per_minute {
                assert_eq!(logins.wait(ONE, "key", now), None, "{nth} of {per_minute}");
                assert!(fail(&logins, ONE, "key", now), "{nth} of {per_minute}");
            }
            assert!(!fail(&logins, ONE, "key", now));
            let wait = logins.wait(ONE, "key", now).unwrap();
            assert!((1..=61).contains(&wait), "{wait}");
            assert_eq!(logins.wait(ONE, "key", now + Duration::from_secs(wait)), None, "{per_minute}");
            assert_eq!(logins.wait(ONE, "another", now), None);
            assert_eq!(logins.wait(OTHER, "key", now), None);
        }
    }

    #[test]
    fn an_address_fails_five_times_as_often_with_many_keys() {
        let (logins, now) = (FailedLogins::new(20), Instant::now());
        let failed = (0..200).filter(|nth| fail(&logins, ONE, &nth.to_string(), now)).count();
        assert_eq!(failed, 100);
        assert!(logins.wait(ONE, "never seen", now).is_some());
        assert_eq!(logins.wait(OTHER, "0", now), None);
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let (logins, now) = (FailedLogins::new(1), Instant::now());
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        assert!(fail(&logins, address("2001:db8:1:2::1"), "key", now));
        assert!(!fail(&logins, address("2001:db8:1:2:ffff::2"), "key", now));
        assert!(fail(&logins, address("2001:db8:1:3::1"), "key", now));
    }

    #[test]
    fn a_refused_try_is_no_failure() {
        let (logins, now) = (FailedLogins::new(1), Instant::now());
        assert!(fail(&logins, ONE, "key", now));
        for _ in 0..10 {
            assert!(!fail(&logins, ONE, "key", now));
        }
        assert_eq!(logins.wait(ONE, "key", now + FAILED_LOGINS_WINDOW), None);
    }

    #[test]
    fn nothing_is_counted_where_the_limit_is_off() {
        let (logins, now) = (FailedLogins::new(0), Instant::now());
        assert!((0..1_000).all(|_| fail(&logins, ONE, "key", now)));
    }

    #[test]
    fn the_tables_are_bounded_and_keep_those_with_the_most_failures() {
        let (mut failures, now, interval) = (HashMap::new(), Instant::now(), Duration::from_secs(3));
        for _ in 0..20 {
            add(&mut failures, usize::MAX, interval, now);
        }
        for key in 0..ENTRIES_MAX + 10 {
            add(&mut failures, key, interval, now);
        }
        assert!(failures.len() <= ENTRIES_MAX);
        assert!(failures.contains_key(&usize::MAX));
    }
}
