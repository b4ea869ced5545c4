//! Slowing down who guesses secrets: a bucket of failures for each address and key, and one for each address.
//!
//! Only failures count, so the check before the look-up takes nothing. Each bucket is kept as the moment at which it
//! will be empty again; a bucket that is empty is forgotten.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::arrival::network;

const FAILED_LOGINS_WINDOW: Duration = Duration::from_secs(60);
/// How many times as many failures an address has as an address with one key.
const ADDRESS_FACTOR: u32 = 5;
/// The most buckets remembered of each kind; with more the fullest stay.
const BUCKETS_MAX: usize = 100_000;

/// Failures of the last minute.
pub(crate) struct FailedLogins {
    limits: Option<Limits>,
    buckets: Mutex<Buckets>,
    hasher: RandomState,
}

/// What each failure adds to a bucket; a bucket holds a [`FAILED_LOGINS_WINDOW`].
struct Limits {
    of_key: Duration,
    of_address: Duration,
}

#[derive(Default)]
struct Buckets {
    of_keys: HashMap<(IpAddr, u64), Instant>,
    of_addresses: HashMap<IpAddr, Instant>,
}

impl FailedLogins {
    /// So many failures a minute for an address and key; 0 turns the limit off.
    pub(crate) fn new(per_minute: u32) -> Self {
        let limits = (per_minute > 0).then(|| Limits {
            of_key: FAILED_LOGINS_WINDOW / per_minute,
            of_address: FAILED_LOGINS_WINDOW / per_minute.saturating_mul(ADDRESS_FACTOR),
        });
        Self { limits, buckets: Mutex::default(), hasher: RandomState::new() }
    }

    /// The seconds to wait before credentials are looked at, if any.
    pub(super) fn wait(&self, address: IpAddr, key: &str, now: Instant) -> Option<u64> {
        let limits = self.limits.as_ref()?;
        let address = network(address);
        let buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let of_key = wait_of(buckets.of_keys.get(&(address, self.digest(key))), limits.of_key, now);
        let of_address = wait_of(buckets.of_addresses.get(&address), limits.of_address, now);
        of_key.max(of_address)
    }

    /// Counts a failure; the seconds to wait where too many came at once to be seen by [`Self::wait`].
    pub(super) fn record(&self, address: IpAddr, key: &str, now: Instant) -> Option<u64> {
        let wait = self.wait(address, key, now);
        if let (Some(limits), None) = (&self.limits, wait) {
            let address = network(address);
            let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
            add(&mut buckets.of_keys, (address, self.digest(key)), limits.of_key, now);
            add(&mut buckets.of_addresses, address, limits.of_address, now);
        }
        wait
    }

    /// Keys are kept as digests: bounded in size whatever is sent.
    fn digest(&self, key: &str) -> u64 {
        self.hasher.hash_one(key)
    }
}

/// The seconds until a bucket takes another failure.
fn wait_of(empty_at: Option<&Instant>, failure: Duration, now: Instant) -> Option<u64> {
    let over = (empty_at?.saturating_duration_since(now) + failure).checked_sub(FAILED_LOGINS_WINDOW)?;
    // Divisions of the window leave less than a microsecond over, which is no overflow.
    (over > Duration::from_micros(1)).then(|| over.as_secs() + 1)
}

fn add<K: Eq + std::hash::Hash>(buckets: &mut HashMap<K, Instant>, key: K, failure: Duration, now: Instant) {
    if buckets.len() >= BUCKETS_MAX && !buckets.contains_key(&key) {
        let mut least = Duration::ZERO;
        while buckets.len() >= BUCKETS_MAX {
            buckets.retain(|_, empty_at| empty_at.saturating_duration_since(now) > least);
            least = (least * 2).max(failure);
        }
    }
    let empty_at = buckets.entry(key).or_insert(now);
    *empty_at = (*empty_at).max(now) + failure;
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
    fn what_is_remembered_is_bounded_and_the_fullest_stay() {
        let (mut buckets, now, failure) = (HashMap::new(), Instant::now(), Duration::from_secs(3));
        for _ in 0..20 {
            add(&mut buckets, usize::MAX, failure, now);
        }
        for key in 0..BUCKETS_MAX + 10 {
            add(&mut buckets, key, failure, now);
        }
        assert!(buckets.len() <= BUCKETS_MAX);
        assert!(buckets.contains_key(&usize::MAX));
    }
}
