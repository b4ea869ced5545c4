//! The state of one provider: its claimed events, and how quickly its receiver has been responding.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::ports::ClaimedEvent;
use guerdon_domain::providers::Provider;

use crate::dispatcher::limits::DispatcherLimits;

/// This many quick responses in a row make a receiver brisk, so a receiver that hangs every other time never is.
const QUICK_IN_A_ROW: u32 = 8;

/// How quickly a receiver has been responding lately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dispatcher) enum Pace {
    /// Immediately, many times in a row.
    Brisk,
    /// In good time, or unknown so far.
    Steady,
    /// Late, or never.
    Stuck,
}

/// A claimed event that waits to be sent.
pub(super) struct Waiting {
    pub(super) event: ClaimedEvent,
    /// The latest time at which its attempt may begin, by the monotonic clock.
    pub(super) until: Duration,
}

pub(super) struct ProviderLine {
    /// As read by the latest claim.
    pub(super) provider: Arc<Provider>,
    pub(super) waiting: VecDeque<Waiting>,
    /// Attempts in progress or not yet settled.
    pub(super) in_flight: usize,
    /// Attempts in progress.
    pub(super) under_way: usize,
    /// Whether the provider is in the queue of those that may start an attempt.
    pub(super) is_queued: bool,
    /// Whether the journal probably holds more events for this provider.
    pub(super) has_more: bool,
    pace: Pace,
    quick_answers: u32,
    window: usize,
    /// When the provider was last given as many events as it may hold; cleared once half of them are used up.
    filled_at: Option<Duration>,
}

impl ProviderLine {
    pub(super) fn new(provider: Arc<Provider>, limits: &DispatcherLimits) -> Self {
        Self {
            provider,
            waiting: VecDeque::new(),
            in_flight: 0,
            under_way: 0,
            is_queued: false,
            has_more: false,
            pace: Pace::Steady,
            quick_answers: 0,
            window: limits.under_way_per_provider,
            filled_at: None,
        }
    }

    pub(super) fn pace(&self) -> Pace {
        self.pace
    }

    pub(super) fn wants_a_turn(&self, limits: &DispatcherLimits) -> bool {
        !self.waiting.is_empty()
            && self.in_flight < limits.in_flight_per_provider
            && self.under_way < limits.under_way_per_provider
    }

    fn holds(&self) -> usize {
        self.waiting.len().saturating_add(self.in_flight)
    }

    /// How many more events the provider may hold.
    pub(super) fn room(&self) -> usize {
        self.window.saturating_sub(self.holds())
    }

    /// How many of the waiting events will each occupy a sender.
    pub(super) fn about_to_start(&self, limits: &DispatcherLimits) -> usize {
        self.waiting.len().min(limits.under_way_per_provider.saturating_sub(self.under_way))
    }

    /// Whether the journal should be read for more events of this provider.
    pub(super) fn is_hungry(&self) -> bool {
        self.has_more && self.holds() <= self.window / 2
    }

    /// Records a claim that returned as many events as were requested.
    pub(super) fn filled(&mut self, now: Duration) {
        self.filled_at = Some(now);
    }

    /// Records that a held event is gone. If a full claim was used up quickly, the next one may be larger.
    pub(super) fn used(&mut self, now: Duration, limits: &DispatcherLimits) {
        if self.holds() > self.window / 2 {
            return;
        }
        let Some(filled_at) = self.filled_at.take() else { return };
        let took = now.saturating_sub(filled_at);
        if took <= limits.used_up_within {
            self.window = self.window.saturating_mul(2).min(limits.claimed_per_provider);
        } else if took > limits.used_up_within * 2 {
            self.window = (self.window / 2).max(limits.under_way_per_provider);
        }
    }

    /// Records an attempt that ended.
    pub(super) fn answered(&mut self, took: Duration, delivered: bool, limits: &DispatcherLimits) {
        if !delivered {
            self.window = limits.under_way_per_provider;
            self.filled_at = None;
        }
        if took >= limits.brisk_within {
            self.lags(took, limits);
            return;
        }
        self.quick_answers = self.quick_answers.saturating_add(1);
        self.pace = if self.quick_answers >= QUICK_IN_A_ROW { Pace::Brisk } else { Pace::Steady };
    }

    /// Records an attempt that has been running for `took`.
    pub(super) fn lags(&mut self, took: Duration, limits: &DispatcherLimits) {
        self.quick_answers = 0;
        self.pace = if took >= limits.stuck_after { Pace::Stuck } else { Pace::Steady };
    }
}
