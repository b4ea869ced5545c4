//! Locks for the idempotency keys of requests in progress in this process. A retry waits here without occupying a
//! thread or a database connection.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use guerdon_domain::idempotency::IdempotencyKey;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::mutex::lock_mutex;

/// The keys in progress.
#[derive(Default)]
pub(crate) struct KeyLocks {
    keys: Mutex<HashSet<IdempotencyKey>>,
    unlocked: Notify,
}

/// A key in progress. Dropping it frees the key.
pub(crate) struct KeyLock {
    locks: Arc<KeyLocks>,
    key: IdempotencyKey,
}

impl KeyLocks {
    /// Locks the key as soon as it is free. Returns `None` after the deadline.
    pub(crate) async fn acquire_lock(
        self: &Arc<Self>,
        key: &IdempotencyKey,
        deadline: Instant,
    ) -> Option<KeyLock> {
        loop {
            // Created before the check, so that a key that becomes free after the check is noticed.
            let unlocked_signal = self.unlocked.notified();
            if lock_mutex(&self.keys).insert(key.clone()) {
                return Some(KeyLock { locks: Arc::clone(self), key: key.clone() });
            }
            timeout_at(deadline, unlocked_signal).await.ok()?;
        }
    }
}

impl Drop for KeyLock {
    fn drop(&mut self) {
        lock_mutex(&self.locks.keys).remove(&self.key);
        self.locks.unlocked.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;

    fn idempotency_key(name: &str) -> IdempotencyKey {
        IdempotencyKey { scope: Uuid::nil(), key: name.to_owned() }
    }

    #[actix_web::test]
    async fn a_key_is_locked_by_one_request_at_a_time() {
        let locks = Arc::new(KeyLocks::default());
        let now = Instant::now();
        let first = locks.acquire_lock(&idempotency_key("a"), now).await.unwrap();
        assert!(locks.acquire_lock(&idempotency_key("a"), now).await.is_none());
        assert!(locks.acquire_lock(&idempotency_key("b"), now).await.is_some());
        drop(first);
        assert!(locks.acquire_lock(&idempotency_key("a"), now).await.is_some());
    }

    #[actix_web::test]
    async fn a_retry_continues_when_the_first_request_ends() {
        let locks = Arc::new(KeyLocks::default());
        let first = locks.acquire_lock(&idempotency_key("a"), Instant::now()).await.unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let retry = actix_web::rt::spawn({
            let locks = Arc::clone(&locks);
            async move { locks.acquire_lock(&idempotency_key("a"), deadline).await.is_some() }
        });
        tokio::task::yield_now().await;
        drop(first);
        assert!(retry.await.unwrap());
    }
}
