//! The idempotency keys in progress in this process. A retry waits here without occupying a thread or a connection.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use guerdon_domain::idempotency::IdempotencyKey;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// The keys in progress.
#[derive(Default)]
pub(crate) struct Flights {
    keys: Mutex<HashSet<IdempotencyKey>>,
    landed: Notify,
}

/// A key in progress. Dropping it frees the key.
pub(crate) struct Flight {
    flights: Arc<Flights>,
    key: IdempotencyKey,
}

impl Flights {
    /// Takes the key as soon as it is free, or returns `None` after the deadline.
    pub(crate) async fn enter(self: &Arc<Self>, key: &IdempotencyKey, deadline: Instant) -> Option<Flight> {
        loop {
            // Created before the check, so that a key that becomes free after the check is noticed.
            let landed = self.landed.notified();
            if self.take(key) {
                return Some(Flight { flights: Arc::clone(self), key: key.clone() });
            }
            timeout_at(deadline, landed).await.ok()?;
        }
    }

    fn take(&self, key: &IdempotencyKey) -> bool {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone())
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.flights.keys.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
        self.flights.landed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;

    fn key(name: &str) -> IdempotencyKey {
        IdempotencyKey { scope: Uuid::nil(), key: name.to_owned() }
    }

    #[actix_web::test]
    async fn a_key_is_taken_by_one_at_a_time() {
        let flights = Arc::new(Flights::default());
        let now = Instant::now();
        let first = flights.enter(&key("a"), now).await.unwrap();
        assert!(flights.enter(&key("a"), now).await.is_none());
        assert!(flights.enter(&key("b"), now).await.is_some());
        drop(first);
        assert!(flights.enter(&key("a"), now).await.is_some());
    }

    #[actix_web::test]
    async fn a_repeat_goes_on_when_the_first_has_landed() {
        let flights = Arc::new(Flights::default());
        let first = flights.enter(&key("a"), Instant::now()).await.unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let waiting = actix_web::rt::spawn({
            let flights = Arc::clone(&flights);
            async move { flights.enter(&key("a"), deadline).await.is_some() }
        });
        tokio::task::yield_now().await;
        drop(first);
        assert!(waiting.await.unwrap());
    }
}
