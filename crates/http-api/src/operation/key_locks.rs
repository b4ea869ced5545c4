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
    lock: Arc<AsyncMutex<()>>,
}

/// A locked key. Dropping it frees the key for the request that has waited longest.
pub(crate) struct KeyLock<K: Eq + Hash> {
    _guard: OwnedMutexGuard<()>, // dropped before the request is no longer counted
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
        let guard = timeout_at(deadline, lock.lock_owned()).await.ok()?;
        Some(KeyLock { _guard: guard, _request: request })
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
