//! Shares the capacity for requests fairly between providers (behaviour 20.4), so that a provider with many requests
//! does not slow down the others.
//!
//! The number of requests in progress is limited. A single provider may hold all permits except a few, which are
//! reserved for other providers. When requests wait, the waiting providers receive free permits in turn. A provider
//! that already has its fair share in progress is skipped while only the reserved permits are free. The requests of a
//! provider keep their order. tokio's `Semaphore` serves all callers in the order in which they came, so one provider
//! could occupy it.

mod provider_queues;

use std::sync::{Arc, Mutex};

use guerdon_domain::ports::Deadlines;
use guerdon_domain::values::ProviderId;
use metrics::{Gauge, gauge};
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::provider_queues::ProviderQueues;
use crate::mutex::lock_mutex;
use crate::operation::ApiError;

const WAITING_REQUESTS: &str = "guerdon_http_requests_waiting";

/// The permits for requests of one kind.
pub(crate) struct FairQueue {
    kind: &'static str,
    provider_queues: Mutex<ProviderQueues>,
}

/// The permit of a request in progress. Dropping it gives the permit to the next request.
pub(crate) struct RequestPermit {
    queue: Arc<FairQueue>,
    provider: ProviderId,
}

impl FairQueue {
    /// Creates a queue with `capacity` permits. A fair share is a third of them, but at most eight.
    pub(crate) fn new(kind: &'static str, capacity: usize) -> Arc<Self> {
        gauge!(WAITING_REQUESTS, "kind" => kind).set(0.0);
        Arc::new(Self { kind, provider_queues: Mutex::new(ProviderQueues::new(capacity)) })
    }

    /// Waits for a permit. Fails with 503 after the deadline for permits, or if too many requests of the provider wait
    /// already.
    pub(crate) async fn acquire_permit(
        self: &Arc<Self>,
        provider: ProviderId,
    ) -> Result<RequestPermit, ApiError> {
        let receiver = {
            let mut queues = lock_mutex(&self.provider_queues);
            if queues.can_start(provider) {
                queues.start_request(provider);
                return Ok(self.new_permit(provider));
            }
            let (sender, receiver) = oneshot::channel();
            queues.enqueue_waiter(provider, sender)?;
            receiver
        };
        let _waiting = WaitingRequest::new(self, provider);
        let permit = timeout(Deadlines::PERMIT, receiver).await;
        permit.ok().and_then(Result::ok).ok_or_else(provider_busy_error)
    }

    /// Fails with 503 if too many requests of the provider wait already. Callers use it to refuse a request before they
    /// spend work on it.
    pub(crate) fn require_room(&self, provider: ProviderId) -> Result<(), ApiError> {
        lock_mutex(&self.provider_queues).require_room(provider)
    }

    fn new_permit(self: &Arc<Self>, provider: ProviderId) -> RequestPermit {
        RequestPermit { queue: Arc::clone(self), provider }
    }
}

/// A request that waits for a permit. If it is dropped without one, its provider no longer counts as waiting.
struct WaitingRequest<'a> {
    queue: &'a FairQueue,
    provider: ProviderId,
    gauge: Gauge,
}

impl<'a> WaitingRequest<'a> {
    fn new(queue: &'a FairQueue, provider: ProviderId) -> Self {
        let gauge = gauge!(WAITING_REQUESTS, "kind" => queue.kind);
        gauge.increment(1);
        Self { queue, provider, gauge }
    }
}

impl Drop for WaitingRequest<'_> {
    fn drop(&mut self) {
        self.gauge.decrement(1);
        lock_mutex(&self.queue.provider_queues).remove_cancelled_waiters(self.provider);
    }
}

fn provider_busy_error() -> ApiError {
    ApiError::unavailable("the provider has too many requests in progress", 1)
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        lock_mutex(&self.queue.provider_queues).end_request(self.provider);
        loop {
            let next = lock_mutex(&self.queue.provider_queues).next_waiter();
            let Some((provider, first)) = next else { return };
            // If the request no longer waits, the permit is dropped and thereby freed.
            drop(first.send(self.queue.new_permit(provider)));
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::provider_queues::WAITING_PER_PROVIDER_MAX;
    use super::*;

    fn provider_id(number: u128) -> ProviderId {
        ProviderId::from_uuid(Uuid::from_u128(number))
    }

    async fn acquire_permits(queue: &Arc<FairQueue>, number: u128, count: usize) -> Vec<RequestPermit> {
        let mut permits = Vec::new();
        for _ in 0..count {
            permits.push(queue.acquire_permit(provider_id(number)).await.unwrap());
        }
        permits
    }

    /// Spawns a task that requests a permit and ends when it has one.
    fn request_permit(
        queue: &Arc<FairQueue>,
        number: u128,
    ) -> tokio::task::JoinHandle<Result<RequestPermit, ApiError>> {
        let queue = Arc::clone(queue);
        tokio::spawn(async move { queue.acquire_permit(provider_id(number)).await })
    }

    #[tokio::test(start_paused = true)]
    async fn a_single_provider_leaves_a_fair_share_free_for_others() {
        let queue = FairQueue::new("read", 24);
        let first = acquire_permits(&queue, 1, 16).await;
        assert!(queue.acquire_permit(provider_id(1)).await.is_err(), "its wait times out");
        let second = acquire_permits(&queue, 2, 8).await;
        assert!(queue.acquire_permit(provider_id(3)).await.is_err(), "all permits are taken");
        drop((first, second));
        assert!(lock_mutex(&queue.provider_queues).by_provider.is_empty());
        assert_eq!(lock_mutex(&queue.provider_queues).in_progress, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_free_permit_goes_to_a_provider_below_its_fair_share() {
        let queue = FairQueue::new("read", 24);
        let mut first = acquire_permits(&queue, 1, 16).await;
        let second = acquire_permits(&queue, 2, 8).await;
        let greedy = request_permit(&queue, 1);
        tokio::task::yield_now().await;
        let third = request_permit(&queue, 3);
        tokio::task::yield_now().await;
        first.pop();
        let third = third.await.unwrap().unwrap();
        assert!(!greedy.is_finished(), "the provider has its share already");
        drop((second, third));
        assert!(greedy.await.unwrap().is_ok(), "no other provider waits");
    }

    #[tokio::test(start_paused = true)]
    async fn several_busy_providers_use_all_permits_except_the_reserved_ones() {
        let queue = FairQueue::new("write", 64);
        let first = acquire_permits(&queue, 1, 56).await;
        let second = acquire_permits(&queue, 2, 8).await;
        let waiting: Vec<_> = (0..80).map(|count| request_permit(&queue, 1 + count % 2)).collect();
        tokio::task::yield_now().await;
        drop((first, second));
        let started = lock_mutex(&queue.provider_queues).in_progress;
        assert_eq!(started, 56);
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
    }

    #[tokio::test(start_paused = true)]
    async fn a_provider_whose_requests_timed_out_no_longer_waits() {
        let queue = FairQueue::new("read", 24);
        let mut first = acquire_permits(&queue, 1, 16).await;
        assert!(queue.acquire_permit(provider_id(1)).await.is_err(), "its wait times out");
        first.truncate(8);
        let second = acquire_permits(&queue, 2, 8).await;
        drop(first);
        drop((second, acquire_permits(&queue, 2, 8).await)); // more than its fair share
    }

    #[tokio::test(start_paused = true)]
    async fn providers_alternate_and_each_keeps_its_order() {
        let queue = FairQueue::new("write", 24);
        let first_permits = acquire_permits(&queue, 9, 16).await;
        let second_permits = acquire_permits(&queue, 8, 8).await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut waiting = Vec::new();
        for (number, count) in [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1)] {
            let (queue, order) = (Arc::clone(&queue), Arc::clone(&order));
            waiting.push(tokio::spawn(async move {
                let _permit = queue.acquire_permit(provider_id(number)).await.unwrap();
                order.lock().unwrap().push((number, count));
                tokio::task::yield_now().await;
            }));
            tokio::task::yield_now().await;
        }
        drop(second_permits.into_iter().next());
        for task in waiting {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2)]);
        drop(first_permits);
    }

    #[tokio::test(start_paused = true)]
    async fn a_queue_is_bounded_and_skips_requests_that_were_cancelled() {
        let queue = FairQueue::new("write", 24);
        let (first_permits, second_permits) =
            (acquire_permits(&queue, 1, 16).await, acquire_permits(&queue, 2, 8).await);
        let waiting: Vec<_> = (0..WAITING_PER_PROVIDER_MAX).map(|_| request_permit(&queue, 3)).collect();
        while lock_mutex(&queue.provider_queues)
            .by_provider
            .get(&provider_id(3))
            .is_none_or(|queue| queue.waiters.len() < WAITING_PER_PROVIDER_MAX)
        {
            tokio::task::yield_now().await;
        }
        let refused = queue.acquire_permit(provider_id(3)).await.err().unwrap();
        assert_eq!(refused.status_and_message().0, 503);
        for waiter in &waiting[..WAITING_PER_PROVIDER_MAX - 1] {
            waiter.abort();
        }
        tokio::task::yield_now().await;
        drop(first_permits);
        assert!(waiting.into_iter().last().unwrap().await.unwrap().is_ok());
        drop(second_permits);
        assert_eq!(lock_mutex(&queue.provider_queues).in_progress, 0);
    }
}
