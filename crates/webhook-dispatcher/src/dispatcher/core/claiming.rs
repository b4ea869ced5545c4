//! Plans claims and accepts claimed events.

use std::collections::HashMap;
use std::sync::Arc;

use guerdon_domain::ports::{ClaimRequest, ClaimedBatch, DeliveryOutcome, IdGenerator};
use guerdon_domain::values::ProviderId;
use uuid::Uuid;

use super::provider_queue::{Latency, ProviderQueue, WaitingEvent};
use super::{ClaimedEntry, ClockReading, Core};
use crate::dispatcher::delivery_store::ClaimResult;

impl Core {
    /// Plans the claims for the providers that have due events. Each claim is limited to the events that the provider
    /// may still hold and that free senders can start. The first provider is the successor of the last one in the
    /// previous round.
    pub(in crate::dispatcher) fn plan_claims(
        &self,
        due: &[ProviderId],
        now: ClockReading,
        ids: &dyn IdGenerator,
    ) -> Vec<ClaimRequest> {
        if self.is_stopping {
            return Vec::new();
        }
        let mut capacity = self
            .limits
            .claimed_in_total
            .saturating_sub(self.claimed.len())
            .min(self.limits.claimed_per_transaction);
        let mut senders = self.free_senders();
        let mut providers = due.to_vec();
        providers.sort_unstable();
        let first = providers.partition_point(|provider| Some(*provider) <= self.last_claimed_provider);
        providers.rotate_left(first);
        let mut claims = Vec::new();
        for provider in &providers {
            let queue = self.queues.get(provider);
            let latency = queue.map_or(Latency::Normal, ProviderQueue::latency);
            let wanted = queue.map_or(self.limits.in_progress_per_provider, ProviderQueue::claimable_count);
            let limit = wanted.min(capacity).min(senders.free_slots(latency));
            let Ok(limit @ 1..) = u16::try_from(limit) else { continue };
            capacity = capacity.saturating_sub(limit.into());
            senders.reserve_slots(latency, usize::from(limit).min(self.limits.in_progress_per_provider));
            claims.push(ClaimRequest {
                provider: *provider,
                limit,
                now: now.wall,
                lease_until: now.wall + self.limits.lease,
                lease: ids.next_id(),
            });
        }
        claims
    }

    /// Accepts claimed events. `before` is the time when the claims were planned, `now` the time when the events
    /// arrived.
    pub(in crate::dispatcher) fn accept_claimed(
        &mut self,
        claim_result: ClaimResult,
        claims: &[ClaimRequest],
        before: ClockReading,
        now: ClockReading,
    ) {
        self.last_claimed_provider = claims.last().map(|claim| claim.provider).or(self.last_claimed_provider);
        let claims: HashMap<_, _> = claims.iter().map(|claim| (claim.provider, claim)).collect();
        for provider in &claim_result.due_providers {
            if let Some(queue) = self.queues.get_mut(provider) {
                queue.has_more = !claims.contains_key(provider);
            }
        }
        for claimed in claim_result.claimed {
            if let Some(claim) = claims.get(&claimed.provider.id) {
                self.add_claimed(claimed, claim, before, now);
            }
        }
    }

    fn add_claimed(
        &mut self,
        claimed: ClaimedBatch,
        claim: &ClaimRequest,
        before: ClockReading,
        now: ClockReading,
    ) {
        let ClaimedBatch { provider, events } = claimed;
        let id = provider.id;
        let provider = Arc::new(provider);
        let queue =
            self.queues.entry(id).or_insert_with(|| ProviderQueue::new(Arc::clone(&provider), &self.limits));
        queue.provider = provider;
        queue.has_more = events.len() >= usize::from(claim.limit);
        if queue.has_more {
            queue.record_full_claim(now.monotonic);
        }
        let lease_deadline =
            before.monotonic + self.limits.lease.saturating_sub(self.limits.lease_remaining_min);
        let send_deadline = lease_deadline.min(now.monotonic + self.limits.queue_wait_max);
        for event in events {
            let known = self.claimed.get_mut(&event.id);
            if let Some(entry) = known {
                entry.lease = claim.lease;
                entry.claimed_at = claim.now;
                if entry.is_settling {
                    self.claimed_again.insert(event.id, WaitingEvent { event, send_deadline });
                }
                // An event whose settlement is not being written was claimed again because its lease expired or the
                // clock was set. It keeps its state and is settled under the new lease.
                continue;
            }
            self.enqueue_event(id, claim.lease, WaitingEvent { event, send_deadline }, now);
        }
        self.enqueue_provider(id);
    }

    /// Queues a claimed event to be sent. If the provider has no callback URL, the event is settled as unaddressed; if
    /// the dispatcher is stopping, it is released.
    pub(super) fn enqueue_event(
        &mut self,
        provider: ProviderId,
        lease: Uuid,
        waiting: WaitingEvent,
        now: ClockReading,
    ) {
        let event = waiting.event.id;
        self.claimed
            .insert(event, ClaimedEntry { provider, lease, claimed_at: now.wall, is_settling: false });
        let queue = self.queues.get_mut(&provider).filter(|_| !self.is_stopping);
        match queue {
            Some(queue) if queue.provider.callback_url.is_some() => queue.waiting.push_back(waiting),
            Some(_without_url) => {
                let settlement = self.build_settlement(event, None, DeliveryOutcome::Unaddressed);
                self.pending_settlements.push_back(settlement);
            }
            None => self.release_event(&waiting.event, now),
        }
    }

    fn free_senders(&self) -> FreeSenders {
        let mut free = FreeSenders {
            normal: self.sender_slots.free_slots(Latency::Normal, &self.limits),
            slow: self.sender_slots.free_slots(Latency::Slow, &self.limits),
        };
        for queue in self.queues.values() {
            free.reserve_slots(queue.latency(), queue.startable_count(&self.limits));
        }
        free
    }
}

/// The numbers of senders that neither make an attempt nor are about to start one.
struct FreeSenders {
    normal: usize,
    slow: usize,
}

impl FreeSenders {
    /// Fast attempts follow each other so quickly that a few senders serve many providers.
    fn free_slots(&self, latency: Latency) -> usize {
        match latency {
            Latency::Fast => usize::MAX,
            Latency::Normal => self.normal,
            Latency::Slow => self.slow.min(self.normal),
        }
    }

    fn reserve_slots(&mut self, latency: Latency, count: usize) {
        if latency == Latency::Slow {
            self.slow = self.slow.saturating_sub(count);
        }
        if latency != Latency::Fast {
            self.normal = self.normal.saturating_sub(count);
        }
    }
}
