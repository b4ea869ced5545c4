//! The state of one provider: its claimed events, and how quickly its receiver has been responding.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::ports::ClaimedEvent;
use guerdon_domain::providers::Provider;

use crate::dispatcher::limits::DispatcherLimits;

/// A receiver counts as fast after this many attempts in a row that ended quickly, successful or not. So a receiver
/// that hangs every other time never counts as fast.
const FAST_RESPONSES_MIN: u32 = 8;

/// How quickly a receiver has been responding lately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dispatcher) enum Latency {
    /// The last attempts all ended quickly.
    Fast,
    /// The receiver is neither fast nor slow, or its latency is still unknown.
    Normal,
    /// The last attempt took long.
    Slow,
}

/// A claimed event that waits to be sent.
pub(super) struct WaitingEvent {
    pub(super) event: ClaimedEvent,
    /// The latest time at which its attempt may begin, by the monotonic clock.
    pub(super) send_deadline: Duration,
}

pub(super) struct ProviderQueue {
    /// The provider as the latest claim read it.
    pub(super) provider: Arc<Provider>,
    pub(super) waiting: VecDeque<WaitingEvent>,
    /// Attempts in progress or not yet settled.
    pub(super) in_flight: usize,
    /// Attempts in progress.
    pub(super) in_progress: usize,
    /// Whether the provider is in the queue of those that may start an attempt.
    pub(super) is_queued: bool,
    /// Whether the outbox probably holds more events for this provider.
    pub(super) has_more: bool,
    latency: Latency,
    fast_responses: u32,
    /// How many events the provider may hold. Not an `AdaptiveSize`: it also falls to its minimum after a failed
    /// attempt.
    claim_window: usize,
    /// When the provider last received as many events as it may hold; cleared when half of them are done.
    filled_at: Option<Duration>,
}

impl ProviderQueue {
    pub(super) fn new(provider: Arc<Provider>, limits: &DispatcherLimits) -> Self {
        Self {
            provider,
            waiting: VecDeque::new(),
            in_flight: 0,
            in_progress: 0,
            is_queued: false,
            has_more: false,
            latency: Latency::Normal,
            fast_responses: 0,
            claim_window: limits.in_progress_per_provider,
            filled_at: None,
        }
    }

    pub(super) fn latency(&self) -> Latency {
        self.latency
    }

    pub(super) fn can_start_attempt(&self, limits: &DispatcherLimits) -> bool {
        !self.waiting.is_empty()
            && self.in_flight < limits.in_flight_per_provider
            && self.in_progress < limits.in_progress_per_provider
    }

    fn claimed_count(&self) -> usize {
        self.waiting.len().saturating_add(self.in_flight)
    }

    /// How many more events the provider may hold.
    pub(super) fn claimable_count(&self) -> usize {
        self.claim_window.saturating_sub(self.claimed_count())
    }

    /// The maximum number of waiting events that could be started now, each by a separate sender. Ignores
    /// `in_flight_per_provider`.
    pub(super) fn startable_count(&self, limits: &DispatcherLimits) -> usize {
        self.waiting.len().min(limits.in_progress_per_provider.saturating_sub(self.in_progress))
    }

    /// Whether the outbox should be read for more events of this provider.
    pub(super) fn needs_more_events(&self) -> bool {
        self.has_more && self.claimed_count() <= self.claim_window / 2
    }

    /// Records a claim that returned as many events as were requested.
    pub(super) fn record_full_claim(&mut self, now: Duration) {
        self.filled_at = Some(now);
    }

    /// Records that an event is no longer held. If a full claim was used up quickly, the next claim may be larger; if
    /// it took long, the next claim is smaller.
    pub(super) fn record_event_done(&mut self, now: Duration, limits: &DispatcherLimits) {
        if self.claimed_count() > self.claim_window / 2 {
            return;
        }
        let Some(filled_at) = self.filled_at.take() else { return };
        let duration = now.saturating_sub(filled_at);
        if duration <= limits.claim_turnaround_max {
            self.claim_window = self.claim_window.saturating_mul(2).min(limits.claimed_per_provider);
        } else if duration > limits.claim_turnaround_max * 2 {
            self.claim_window = (self.claim_window / 2).max(limits.in_progress_per_provider);
        }
    }

    /// Records an attempt that has ended.
    pub(super) fn record_attempt(&mut self, duration: Duration, delivered: bool, limits: &DispatcherLimits) {
        if !delivered {
            self.claim_window = limits.in_progress_per_provider;
            self.filled_at = None;
        }
        if duration >= limits.fast_latency_max {
            self.record_latency(duration, limits);
            return;
        }
        self.fast_responses = self.fast_responses.saturating_add(1);
        self.latency =
            if self.fast_responses >= FAST_RESPONSES_MIN { Latency::Fast } else { Latency::Normal };
    }

    /// Records that an attempt has been running for `duration`.
    pub(super) fn record_latency(&mut self, duration: Duration, limits: &DispatcherLimits) {
        self.fast_responses = 0;
        self.latency = if duration >= limits.slow_latency_min { Latency::Slow } else { Latency::Normal };
    }
}
