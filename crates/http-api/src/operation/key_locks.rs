//! Locks by key for requests in this process: the idempotency keys in progress, and the API keys that are being looked
//! up. A request waits here without occupying a thread or a database connection.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use tokio::time::{Instant, timeout_at};

use crate::mutex::lock_mutex;

/// The keys in use.
pub(crate) struct KeyLocks<K> {
    keys: Mutex<HashMap<K, KeyInUse>>,
}

impl<K> Default for KeyLocks<K> {
    fn default() -> Self {
        Self { keys: Mutex::default() }
    }
}

#[derive(Default)]
struct KeyInUse {
    /// The requests that hold the key or wait for it.
    request_count: usize,
    lock: Arc<AsyncMutex<LastFailure>>,
}

/// When the work of a request that held the key last failed.
type LastFailure = Option<Instant>;

/// A locked key. Dropping it frees the key for the request that has waited longest.
pub(crate) struct KeyLock<K: Eq + Hash> {
    last_failure: OwnedMutexGuard<LastFailure>, // dropped before the request is no longer counted
    _request: CountedRequest<K>,
}

/// A request that holds or waits for a key, until it is dropped.
struct CountedRequest<K: Eq + Hash> {
    locks: Arc<KeyLocks<K>>,
    key: K,
}

impl<K: Eq + Hash + Clone> KeyLocks<K> {
    /// Locks the key as soon as it is free. Returns `None` after the deadline.
    pub(crate) async fn acquire_lock(self: &Arc<Self>, key: &K, deadline: Instant) -> Option<KeyLock<K>> {
        let lock = {
            let mut keys = lock_mutex(&self.keys);
            let in_use = keys.entry(key.clone()).or_default();
            in_use.request_count += 1;
            Arc::clone(&in_use.lock)
        };
        let request = CountedRequest { locks: Arc::clone(self), key: key.clone() };
        let last_failure = timeout_at(deadline, lock.lock_owned()).await.ok()?;
        Some(KeyLock { last_failure, _request: request })
    }
}

impl<K: Eq + Hash> KeyLock<K> {
    /// Tells the requests that wait for the key that the same work would fail for them too.
    pub(crate) fn record_failure(&mut self) {
        *self.last_failure = Some(Instant::now());
    }

    /// Whether the work of another request with this key failed after `arrived_at`.
    pub(crate) fn has_failed_since(&self, arrived_at: Instant) -> bool {
        self.last_failure.is_some_and(|failed_at| failed_at > arrived_at)
    }
}

impl<K: Eq + Hash> Drop for CountedRequest<K> {
    fn drop(&mut self) {
        let mut keys = lock_mutex(&self.locks.keys);
        let Some(in_use) = keys.get_mut(&self.key) else { return };
        in_use.request_count -= 1;
        if in_use.request_count == 0 {
            keys.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[actix_web::test]
    async fn a_key_is_locked_by_one_request_at_a_time() {
        let locks = Arc::new(KeyLocks::default());
        let now = Instant::now();
        let first = locks.acquire_lock(&"a", now).await.unwrap();
        assert!(locks.acquire_lock(&"a", now).await.is_none());
        assert!(locks.acquire_lock(&"b", now).await.is_some());
        drop(first);
        assert!(locks.acquire_lock(&"a", now).await.is_some());
        assert!(lock_mutex(&locks.keys).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_concerns_the_requests_that_waited_for_it() {
        let locks = Arc::new(KeyLocks::default());
        let arrived_at = Instant::now();
        let deadline = arrived_at + Duration::from_secs(60);
        let mut first = locks.acquire_lock(&"a", deadline).await.unwrap();
        assert!(!first.has_failed_since(arrived_at));
        let waiting = [locks.acquire_lock(&"a", deadline), locks.acquire_lock(&"a", deadline)];
        let end = async {
            tokio::time::advance(Duration::from_secs(1)).await;
            first.record_failure();
            drop(first);
        };
        let [second, third] = waiting.map(|lock| async {
            let lock = lock.await.unwrap();
            tokio::time::advance(Duration::from_secs(1)).await;
            (lock.has_failed_since(arrived_at), lock.has_failed_since(Instant::now()))
        });
        let ((), second, third) = tokio::join!(end, second, third);
        assert_eq!([second, third], [(true, false); 2]);
        assert!(!locks.acquire_lock(&"a", deadline).await.unwrap().has_failed_since(arrived_at));
    }

    #[actix_web::test]
    async fn a_retry_continues_when_the_first_request_ends() {
        let locks = Arc::new(KeyLocks::default());
        let first = locks.acquire_lock(&"a", Instant::now()).await.unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let retry = actix_web::rt::spawn({
            let locks = Arc::clone(&locks);
            async move { locks.acquire_lock(&"a", deadline).await.is_some() }
        });
        tokio::task::yield_now().await;
        drop(first);
        assert!(retry.await.unwrap());
        assert!(lock_mutex(&locks.keys).is_empty());
    }
}
