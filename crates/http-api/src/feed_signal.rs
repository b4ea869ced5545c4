//! Wakes the requests that wait for new events (behaviour 25.8).
//!
//! Events that this process commits wake only the requests of their provider. A notification from another process does
//! not name the provider, so all waiting requests read the feed again, one after the other. The providers take turns,
//! so that one with many waiting requests does not delay the others.

use std::collections::HashMap;
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
    waiting: Mutex<WaitingRequests>,
    unknown_providers: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct WaitingRequests {
    by_provider: HashMap<ProviderId, ProviderRequests>,
    /// How many turns all providers were given.
    turns: u32,
}

/// The waiting requests of one provider: the receivers of the sender.
#[derive(Debug, Default)]
struct ProviderRequests {
    sender: watch::Sender<()>,
    /// How many turns the provider's requests were given.
    turns: u32,
}

impl WaitingRequests {
    fn provider_count(&self) -> u32 {
        u32::try_from(self.by_provider.len()).unwrap_or(u32::MAX)
    }

    fn request_count(&self, provider: ProviderId) -> u32 {
        let requests = self.by_provider.get(&provider).map_or(0, |requests| requests.sender.receiver_count());
        u32::try_from(requests).unwrap_or(u32::MAX)
    }
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
                let waiting = lock_mutex(&self.waiting);
                providers
                    .iter()
                    .filter_map(|provider| waiting.by_provider.get(provider))
                    .for_each(|requests| requests.sender.send_replace(()));
            }
            CommittedEvents::OfUnknownProviders => self.unknown_providers.send_replace(()),
        }
    }

    /// Counts a request of this provider as waiting. Events that are committed from now on wake it.
    pub(crate) fn subscribe(self: &Arc<Self>, provider: ProviderId) -> FeedSubscription {
        gauge!(WAITING_REQUESTS).increment(1);
        let own = lock_mutex(&self.waiting).by_provider.entry(provider).or_default().sender.subscribe();
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

    /// How long it takes until all waiting requests of the provider have read the feed, one after the other, while the
    /// other providers take their turns.
    pub(crate) fn round(&self) -> Duration {
        let waiting = lock_mutex(&self.signal.waiting);
        let turns = waiting.provider_count().saturating_mul(waiting.request_count(self.provider));
        READ_INTERVAL.saturating_mul(turns)
    }

    /// How long this request waits in a round before it reads.
    fn next_turn(&self) -> Duration {
        let mut waiting = lock_mutex(&self.signal.waiting);
        let (providers, requests) = (waiting.provider_count(), waiting.request_count(self.provider));
        let provider_turn = waiting.turns % providers.max(1);
        waiting.turns = waiting.turns.wrapping_add(1);
        let Some(own) = waiting.by_provider.get_mut(&self.provider) else { return Duration::ZERO };
        let request_turn = own.turns % requests.max(1);
        own.turns = own.turns.wrapping_add(1);
        READ_INTERVAL.saturating_mul(request_turn.saturating_mul(providers).saturating_add(provider_turn))
    }
}

async fn await_change(receiver: &mut watch::Receiver<()>) {
    if receiver.changed().await.is_err() {
        std::future::pending().await // a sender exists as long as a request waits
    }
}

impl Drop for FeedSubscription {
    fn drop(&mut self) {
        gauge!(WAITING_REQUESTS).decrement(1);
        let mut waiting = lock_mutex(&self.signal.waiting);
        if waiting.request_count(self.provider) <= 1 {
            waiting.by_provider.remove(&self.provider);
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

    #[tokio::test(start_paused = true)]
    async fn many_requests_of_one_provider_do_not_delay_another() {
        let signal = FeedSignal::new();
        let mut many: Vec<_> = (0..4_000).map(|_| signal.subscribe(provider_id(1))).collect();
        let mut other = signal.subscribe(provider_id(2));
        let started_at = tokio::time::Instant::now();
        signal.notify(CommittedEvents::OfUnknownProviders);
        let woken = futures_util::future::join_all(many.iter_mut().map(FeedSubscription::await_commit));
        tokio::select! {
            _ = woken => panic!("the other provider was woken last"),
            is_own = other.await_commit() => assert!(!is_own),
        }
        assert!(started_at.elapsed() <= 2 * READ_INTERVAL);
        assert_eq!(other.round(), 2 * READ_INTERVAL);
    }

    #[test]
    fn ended_requests_use_no_memory() {
        let signal = FeedSignal::new();
        let (first, second) = (signal.subscribe(provider_id(1)), signal.subscribe(provider_id(1)));
        drop(first);
        assert_eq!(lock_mutex(&signal.waiting).by_provider.len(), 1);
        assert_eq!(second.round(), READ_INTERVAL);
        drop(second);
        assert!(lock_mutex(&signal.waiting).by_provider.is_empty());
    }
}
