//! Wakes the requests that wait for new events (behaviour 25.8).
//!
//! Events that this process commits wake only the requests of their provider. A notification from another process does
//! not name the provider, so all waiting requests read the feed again, one after the other.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use guerdon_domain::ports::CommittedEvents;
use guerdon_domain::values::ProviderId;
use metrics::gauge;
use tokio::sync::watch;

use crate::mutex::lock_mutex;

const WAITING_REQUESTS: &str = "guerdon_event_feed_requests_waiting";

/// The interval between the reads of two waiting requests, if the provider of the new events is unknown.
const READ_INTERVAL: Duration = Duration::from_millis(5);

/// The requests that wait for new events.
#[derive(Debug, Default)]
pub struct FeedSignal {
    by_provider: Mutex<HashMap<ProviderId, watch::Sender<()>>>,
    unknown_providers: watch::Sender<()>,
    waiting: AtomicU32,
    turns: AtomicU32,
}

impl FeedSignal {
    /// Creates a signal without waiting requests.
    pub fn new() -> Arc<Self> {
        gauge!(WAITING_REQUESTS).set(0.0);
        Arc::default()
    }

    /// Wakes the requests that may find new events.
    pub fn notify(&self, committed: CommittedEvents<'_>) {
        match committed {
            CommittedEvents::OfProviders(providers) => {
                let senders = lock_mutex(&self.by_provider);
                providers
                    .iter()
                    .filter_map(|provider| senders.get(provider))
                    .for_each(|sender| sender.send_replace(()));
            }
            CommittedEvents::OfUnknownProviders => self.unknown_providers.send_replace(()),
        }
    }

    /// Counts a request of this provider as waiting. Events that are committed from now on wake it.
    pub(crate) fn subscribe(self: &Arc<Self>, provider: ProviderId) -> FeedSubscription {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        gauge!(WAITING_REQUESTS).increment(1);
        let own = lock_mutex(&self.by_provider).entry(provider).or_default().subscribe();
        let unknown = self.unknown_providers.subscribe();
        FeedSubscription { signal: Arc::clone(self), provider, own, unknown }
    }
}

/// One waiting request.
pub(crate) struct FeedSubscription {
    signal: Arc<FeedSignal>,
    provider: ProviderId,
    own: watch::Receiver<()>,
    unknown: watch::Receiver<()>,
}

impl FeedSubscription {
    /// Waits until events are committed; commits since the last call count. If this process committed events of the
    /// provider, returns true at once. If another process committed events, whose provider is unknown, waits for this
    /// request's turn to read and returns false.
    pub(crate) async fn await_commit(&mut self) -> bool {
        let turn = self.next_turn();
        let unknown_in_turn = async {
            await_change(&mut self.unknown).await;
            tokio::time::sleep(turn).await;
        };
        tokio::select! {
            () = await_change(&mut self.own) => true,
            () = unknown_in_turn => false,
        }
    }

    /// How long it takes until all waiting requests have read the feed, one after the other.
    pub(crate) fn round(&self) -> Duration {
        READ_INTERVAL.saturating_mul(self.signal.waiting.load(Ordering::Relaxed))
    }

    /// How long this request waits in a round before it reads.
    fn next_turn(&self) -> Duration {
        let waiting = self.signal.waiting.load(Ordering::Relaxed).max(1);
        READ_INTERVAL.saturating_mul(self.signal.turns.fetch_add(1, Ordering::Relaxed) % waiting)
    }
}

async fn await_change(receiver: &mut watch::Receiver<()>) {
    if receiver.changed().await.is_err() {
        std::future::pending().await // a sender exists as long as a request waits
    }
}

impl Drop for FeedSubscription {
    fn drop(&mut self) {
        self.signal.waiting.fetch_sub(1, Ordering::Relaxed);
        gauge!(WAITING_REQUESTS).decrement(1);
        let mut senders = lock_mutex(&self.signal.by_provider);
        if senders.get(&self.provider).is_some_and(|sender| sender.receiver_count() <= 1) {
            senders.remove(&self.provider);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use uuid::Uuid;

    use super::*;

    fn provider_id(number: u128) -> ProviderId {
        ProviderId::from_uuid(Uuid::from_u128(number))
    }

    #[tokio::test(start_paused = true)]
    async fn events_wake_the_requests_of_their_provider() {
        let signal = FeedSignal::new();
        let [mut first, mut second, mut other] =
            [1, 1, 2].map(|number| signal.subscribe(provider_id(number)));
        signal.notify(CommittedEvents::OfProviders(&[provider_id(3), provider_id(1)]));
        assert_eq!(first.await_commit().now_or_never(), Some(true));
        assert_eq!(first.await_commit().now_or_never(), None, "the request was woken");
        assert_eq!(second.await_commit().now_or_never(), Some(true));
        assert_eq!(other.await_commit().now_or_never(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn events_of_another_process_wake_one_request_after_the_other() {
        let signal = FeedSignal::new();
        let mut waiting: Vec<_> =
            (0..1_000).map(|number| signal.subscribe(provider_id(number % 7))).collect();
        let started_at = tokio::time::Instant::now();
        signal.notify(CommittedEvents::OfUnknownProviders);
        let woken = waiting.iter_mut().map(async |request| {
            assert!(!request.await_commit().await);
            started_at.elapsed()
        });
        let mut woken = futures_util::future::join_all(woken).await;
        woken.sort_unstable();
        assert_eq!(woken.first(), Some(&Duration::ZERO));
        assert!(woken.windows(2).all(|pair| pair[1] - pair[0] >= READ_INTERVAL / 2));
    }

    #[test]
    fn ended_requests_use_no_memory() {
        let signal = FeedSignal::new();
        let (first, second) = (signal.subscribe(provider_id(1)), signal.subscribe(provider_id(1)));
        drop(first);
        assert_eq!(lock_mutex(&signal.by_provider).len(), 1);
        assert_eq!(second.round(), READ_INTERVAL);
        drop(second);
        assert!(lock_mutex(&signal.by_provider).is_empty());
        assert_eq!(signal.waiting.load(Ordering::Relaxed), 0);
    }
}
