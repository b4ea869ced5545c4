//! The requests in progress and the waiting requests of each provider, as plain data without threads or clocks.

use std::collections::{HashMap, VecDeque};

use guerdon_domain::values::ProviderId;
use tokio::sync::oneshot::Sender;

use super::{RequestPermit, provider_busy_error};
use crate::operation::ApiError;

/// The maximum fair share, in permits.
const FAIR_SHARE_MAX: usize = 8;
/// The maximum number of waiting requests of one provider. It is high because a refusal costs a fifth of the processor
/// time of a response: a client with many connections that ignores `Retry-After` costs less if it waits than if it is
/// refused again and again.
pub(super) const WAITING_PER_PROVIDER_MAX: usize = 1_024;

pub(super) struct ProviderQueues {
    capacity: usize,
    /// How many permits a provider may hold while others wait. The same number of permits is reserved for providers
    /// that hold none.
    fair_share: usize,
    pub(super) in_progress: usize,
    pub(super) by_provider: HashMap<ProviderId, ProviderQueue>,
    /// The waiting providers, in the order in which they get permits.
    waiting_providers: VecDeque<ProviderId>,
}

#[derive(Default)]
pub(super) struct ProviderQueue {
    in_progress: usize,
    pub(super) waiters: VecDeque<Sender<RequestPermit>>,
}

impl ProviderQueues {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            fair_share: (capacity / 3).clamp(1, FAIR_SHARE_MAX),
            in_progress: 0,
            by_provider: HashMap::new(),
            waiting_providers: VecDeque::new(),
        }
    }

    /// Whether a new request may start without waiting.
    pub(super) fn can_start(&self, provider: ProviderId) -> bool {
        let own_in_progress = self.by_provider.get(&provider).map_or(0, |queue| queue.in_progress);
        let free_permits = self.capacity.saturating_sub(self.in_progress);
        // If a permit is free, all waiting providers have their full share.
        (free_permits > 0 && own_in_progress < self.fair_share)
            || (free_permits > self.fair_share && self.waiting_providers.is_empty())
    }

    pub(super) fn start_request(&mut self, provider: ProviderId) {
        self.in_progress += 1;
        self.by_provider.entry(provider).or_default().in_progress += 1;
    }

    /// Queues a request behind the others of its provider; 503 if there are too many.
    pub(super) fn enqueue_waiter(
        &mut self,
        provider: ProviderId,
        waiter: Sender<RequestPermit>,
    ) -> Result<(), ApiError> {
        self.require_room(provider)?;
        let queue = self.by_provider.entry(provider).or_default();
        if queue.waiters.is_empty() && !self.waiting_providers.contains(&provider) {
            self.waiting_providers.push_back(provider);
        }
        queue.waiters.push_back(waiter);
        Ok(())
    }

    pub(super) fn require_room(&mut self, provider: ProviderId) -> Result<(), ApiError> {
        let Some(queue) = self.by_provider.get_mut(&provider) else { return Ok(()) };
        if queue.waiters.len() >= WAITING_PER_PROVIDER_MAX {
            queue.waiters.retain(|sender| !sender.is_closed());
        }
        if queue.waiters.len() >= WAITING_PER_PROVIDER_MAX { Err(provider_busy_error()) } else { Ok(()) }
    }

    pub(super) fn end_request(&mut self, provider: ProviderId) {
        self.in_progress -= 1;
        if let Some(queue) = self.by_provider.get_mut(&provider) {
            queue.in_progress -= 1;
            if queue.in_progress == 0 && queue.waiters.is_empty() {
                self.by_provider.remove(&provider);
            }
        }
    }

    /// Removes the requests of a provider that no longer wait, up to the first that does.
    pub(super) fn remove_cancelled_waiters(&mut self, provider: ProviderId) {
        let Some(queue) = self.by_provider.get_mut(&provider) else { return };
        while queue.waiters.front().is_some_and(Sender::is_closed) {
            queue.waiters.pop_front();
        }
        if queue.waiters.is_empty() {
            self.waiting_providers.retain(|waiting| *waiting != provider);
            if queue.in_progress == 0 {
                self.by_provider.remove(&provider);
            }
        }
    }

    /// Takes the next waiting request that may have a free permit from its queue. The request counts as in progress
    /// from now on.
    pub(super) fn next_waiter(&mut self) -> Option<(ProviderId, Sender<RequestPermit>)> {
        while self.in_progress < self.capacity {
            let has_spare_permits = self.capacity - self.in_progress > self.fair_share;
            let is_eligible = |provider: &ProviderId| {
                let own_in_progress = self.by_provider.get(provider).map_or(0, |queue| queue.in_progress);
                own_in_progress < self.fair_share || has_spare_permits
            };
            let index = self.waiting_providers.iter().position(is_eligible)?;
            let provider = self.waiting_providers.remove(index)?;
            let Some(queue) = self.by_provider.get_mut(&provider) else { continue };
            let first = queue.waiters.pop_front();
            if !queue.waiters.is_empty() {
                self.waiting_providers.push_back(provider);
            }
            match first {
                Some(first) if !first.is_closed() => {
                    self.start_request(provider);
                    return Some((provider, first));
                }
                _ if queue.waiters.is_empty() && queue.in_progress == 0 => {
                    drop(self.by_provider.remove(&provider))
                }
                _ => {}
            }
        }
        None
    }
}
