//! The dispatcher's state machine, without threads, clock or I/O. The caller passes the time and the results of
//! attempts, so a test can run a year in seconds.
//!
//! An event passes through these states: claimed, waiting, in progress, to be settled, being settled. The core holds
//! the event until its settlement is durable. From the start of an attempt until then, the event counts as in flight.
//! So if the process dies, no provider receives more duplicates than it had events in flight.

mod claiming;
mod provider_queue;
mod sender_slots;
mod settling;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::ports::{Attempt, ClaimedEvent, DeliveryOutcome, Settlement, Timestamp};
use guerdon_domain::providers::Provider;
use guerdon_domain::values::{EventId, ProviderId};
use uuid::Uuid;

use self::provider_queue::{Latency, ProviderQueue, WaitingEvent};
use self::sender_slots::SenderSlots;
use super::limits::DispatcherLimits;
use crate::schedule::RetrySchedule;
use crate::sender::AttemptOutcome;

/// The current time by two clocks. Stored times use the wall clock, which may be set. Decisions in the core use the
/// monotonic clock.
#[derive(Debug, Clone, Copy)]
pub(in crate::dispatcher) struct ClockReading {
    pub(in crate::dispatcher) wall: Timestamp,
    pub(in crate::dispatcher) monotonic: Duration,
}

/// An attempt that has begun.
#[derive(Debug, Clone)]
pub(in crate::dispatcher) struct StartedAttempt {
    pub(in crate::dispatcher) provider: Arc<Provider>,
    pub(in crate::dispatcher) event: ClaimedEvent,
}

/// The result of an attempt.
#[derive(Debug, Clone, Copy)]
pub(in crate::dispatcher) struct AttemptReport {
    pub(in crate::dispatcher) number: u32,
    pub(in crate::dispatcher) outcome: DeliveryOutcome,
}

struct ClaimedEntry {
    provider: ProviderId,
    /// The latest lease under which the event was claimed.
    lease: Uuid,
    /// When the event was claimed under that lease.
    claimed_at: Timestamp,
    /// Whether the event's settlement is being written.
    is_settling: bool,
}

struct RunningAttempt {
    provider: ProviderId,
    latency: Latency,
    since: Duration,
}

pub(in crate::dispatcher) struct Core {
    /// The limits of this process: its share of `total_limits`, which all processes on the outbox have in common.
    limits: DispatcherLimits,
    total_limits: DispatcherLimits,
    schedule: RetrySchedule,
    queues: HashMap<ProviderId, ProviderQueue>,
    /// The queue of providers that have a waiting event and may start another attempt, in the order of their turns.
    /// Each provider is in the queue at most once.
    ready_providers: VecDeque<ProviderId>,
    claimed: HashMap<EventId, ClaimedEntry>,
    /// Events that were claimed again while their settlement was being written. The store has already written the
    /// settlement, and the event was due again immediately.
    claimed_again: HashMap<EventId, WaitingEvent>,
    running: HashMap<EventId, RunningAttempt>,
    sender_slots: SenderSlots,
    pending_settlements: VecDeque<Settlement>,
    settling_count: usize,
    settlement_batch_max: usize,
    in_flight: usize,
    /// The last provider in the latest round of claims.
    last_claimed_provider: Option<ProviderId>,
    is_stopping: bool,
}

impl Core {
    pub(in crate::dispatcher) fn new(limits: DispatcherLimits, schedule: RetrySchedule) -> Self {
        Self {
            limits,
            total_limits: limits,
            schedule,
            queues: HashMap::new(),
            ready_providers: VecDeque::new(),
            claimed: HashMap::new(),
            claimed_again: HashMap::new(),
            running: HashMap::new(),
            sender_slots: SenderSlots::default(),
            pending_settlements: VecDeque::new(),
            settling_count: 0,
            settlement_batch_max: limits.settled_per_transaction,
            in_flight: 0,
            last_claimed_provider: None,
            is_stopping: false,
        }
    }

    /// Sets the number of processes that share the outbox.
    pub(in crate::dispatcher) fn set_process_count(&mut self, processes: usize) {
        self.limits = self.total_limits.shared_by(processes);
    }

    /// Returns the number of attempts in progress or not yet settled.
    pub(in crate::dispatcher) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Whether the state may change as time passes, because an attempt is in progress or an event waits.
    pub(in crate::dispatcher) fn is_busy(&self) -> bool {
        self.claimed.len() > self.pending_settlements.len().saturating_add(self.settling_count)
    }

    /// Whether no events are held.
    pub(in crate::dispatcher) fn is_empty(&self) -> bool {
        self.claimed.is_empty()
    }

    /// Whether an attempt may begin now.
    pub(in crate::dispatcher) fn can_start(&self) -> bool {
        self.next_startable().is_some()
    }

    /// Begins the next attempt, if one may begin now.
    pub(in crate::dispatcher) fn start_attempt(&mut self, now: ClockReading) -> Option<StartedAttempt> {
        loop {
            let id = self.ready_providers.remove(self.next_startable()?)?;
            let Some(queue) = self.queues.get_mut(&id) else { continue };
            queue.is_queued = false;
            let Some(waiting) = queue.waiting.pop_front() else { continue };
            if waiting.send_deadline < now.monotonic {
                self.release_event(&waiting.event, now);
                self.enqueue_provider(id);
                continue;
            }
            queue.in_flight += 1;
            queue.in_progress += 1;
            self.in_flight += 1;
            let started = StartedAttempt { provider: Arc::clone(&queue.provider), event: waiting.event };
            let running = RunningAttempt { provider: id, latency: queue.latency(), since: now.monotonic };
            self.sender_slots.begin_attempt(running.latency);
            self.running.insert(started.event.id, running);
            self.enqueue_provider(id);
            return Some(started);
        }
    }

    /// Ends an attempt and queues the settlement of its event.
    pub(in crate::dispatcher) fn finish_attempt(
        &mut self,
        event: &ClaimedEvent,
        attempt: Uuid,
        outcome: AttemptOutcome,
    ) -> AttemptReport {
        let delivered = outcome.failure.is_none();
        if let Some(running) = self.running.remove(&event.id) {
            self.sender_slots.end_attempt(running.latency, outcome.duration);
            if let Some(queue) = self.queues.get_mut(&running.provider) {
                queue.in_progress -= 1;
                queue.record_attempt(outcome.duration, delivered, &self.limits);
            }
            self.enqueue_provider(running.provider);
        }
        let before = event.attempts.saturating_sub(event.attempts_before_replay);
        let delivery_outcome = match self.schedule.retry_wait(before) {
            _ if delivered => DeliveryOutcome::Delivered,
            Some(wait) => DeliveryOutcome::RetryAt(outcome.ended_at.saturating_add(wait)),
            None => DeliveryOutcome::Exhausted,
        };
        let attempt = Attempt {
            id: attempt,
            company_id: event.company_id,
            number: event.attempts.saturating_add(1),
            started_at: outcome.started_at,
            duration: outcome.duration,
            status: outcome.status,
            error: outcome.failure,
            response_headers: outcome.response_headers,
            response_body: outcome.response_body,
        };
        let report = AttemptReport { number: attempt.number, outcome: delivery_outcome };
        self.pending_settlements.push_back(self.build_settlement(event.id, Some(attempt), delivery_outcome));
        report
    }

    /// Advances time: attempts that take longer no longer count as fast, and events that waited too long are released.
    pub(in crate::dispatcher) fn advance_time(&mut self, now: ClockReading) {
        for running in self.running.values_mut() {
            let duration = now.monotonic.saturating_sub(running.since);
            let latency = match running.latency {
                _ if duration >= self.limits.slow_latency_min => Latency::Slow,
                Latency::Fast if duration >= self.limits.fast_latency_max => Latency::Normal,
                latency => latency,
            };
            if latency != running.latency {
                self.sender_slots.end_attempt(running.latency, duration);
                self.sender_slots.begin_attempt(latency);
                running.latency = latency;
                if let Some(queue) = self.queues.get_mut(&running.provider) {
                    queue.record_latency(duration, &self.limits);
                }
            }
        }
        if self.is_busy() {
            self.release_waiting(now, |send_deadline| send_deadline < now.monotonic);
        }
    }

    /// Begins to stop: from now on, no attempt begins and no event is accepted. Waiting events are released.
    pub(in crate::dispatcher) fn begin_stop(&mut self, now: ClockReading) {
        self.is_stopping = true;
        self.release_waiting(now, |_deadline| true);
    }

    fn next_startable(&self) -> Option<usize> {
        self.ready_providers.iter().position(|id| {
            self.queues
                .get(id)
                .is_some_and(|queue| self.sender_slots.free_slots(queue.latency(), &self.limits) > 0)
        })
    }

    /// Adds a provider to the queue, unless it is already queued or cannot start an attempt.
    fn enqueue_provider(&mut self, id: ProviderId) {
        if let Some(queue) = self.queues.get_mut(&id)
            && !queue.is_queued
            && queue.can_start_attempt(&self.limits)
        {
            queue.is_queued = true;
            self.ready_providers.push_back(id);
        }
    }

    fn release_waiting(&mut self, now: ClockReading, is_over: impl Fn(Duration) -> bool) {
        let mut released = Vec::new();
        for queue in self.queues.values_mut() {
            while let Some(waiting) = queue.waiting.pop_front_if(|waiting| is_over(waiting.send_deadline)) {
                released.push(waiting.event);
            }
        }
        for event in released {
            self.release_event(&event, now);
        }
    }

    fn release_event(&mut self, event: &ClaimedEvent, now: ClockReading) {
        let settlement = self.build_settlement(event.id, None, DeliveryOutcome::Released(now.wall));
        self.pending_settlements.push_back(settlement);
    }

    fn build_settlement(
        &self,
        event: EventId,
        attempt: Option<Attempt>,
        delivery_outcome: DeliveryOutcome,
    ) -> Settlement {
        let lease = self.claimed.get(&event).map_or(Uuid::nil(), |claimed| claimed.lease);
        Settlement { event, lease, attempt, outcome: delivery_outcome }
    }
}

#[cfg(test)]
pub(in crate::dispatcher) mod tests;
