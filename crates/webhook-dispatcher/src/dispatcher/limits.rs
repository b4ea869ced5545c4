//! The limits of the dispatcher.

use std::time::Duration;

/// The limits of the dispatcher. The defaults fulfil the documented promises (behaviour 23.9); tests shorten them.
#[derive(Debug, Clone, Copy)]
pub struct DispatcherLimits {
    /// The maximum number of attempts in flight for one provider in all processes together. An attempt is in flight
    /// from its start until its settlement is durable. If processes die, at most this many of the provider's events are
    /// sent twice. A high limit allows attempts to begin before earlier ones are settled.
    pub in_flight_per_provider: usize,
    /// The maximum number of a provider's attempts in progress: those in flight that have not ended.
    pub in_progress_per_provider: usize,
    /// The maximum number of events claimed for one provider, including those in flight. The number begins at
    /// `in_progress_per_provider` and grows while the receiver confirms events quickly.
    pub claimed_per_provider: usize,
    /// The maximum number of claimed events.
    pub claimed_in_total: usize,
    /// The maximum number of events claimed in one transaction.
    pub claimed_per_transaction: usize,
    /// How long an event is claimed: more than twice the time limit of an attempt, so that no lease ends during an
    /// attempt.
    pub lease: Duration,
    /// How much of the lease must be left for an attempt to begin: more than the time limit of an attempt plus the time
    /// to settle it.
    pub lease_remaining_min: Duration,
    /// How long a claimed event may wait to be sent. After that it is claimed again, so that the current URL and
    /// secret are used (behaviour 23.10).
    pub queue_wait_max: Duration,
    /// The maximum number of attempts in progress at fast receivers, as long as such attempts take no longer than
    /// [`fast_latency_mean`](Self::fast_latency_mean) on average. The processors are then the bottleneck, and a few
    /// busy threads send more than many threads. If attempts take twice as long, the limit doubles.
    pub fast_senders: usize,
    /// See [`fast_senders`](Self::fast_senders).
    pub fast_latency_mean: Duration,
    /// The maximum number of attempts in progress at all other receivers.
    pub normal_senders: usize,
    /// The maximum number of attempts in progress at receivers that were slow lately; part of `normal_senders`. The
    /// rest is reserved for receivers with normal latency.
    pub slow_senders: usize,
    /// The maximum number of attempts in progress in total. It exceeds the sum of the other limits, so that fast
    /// attempts that become slow can be replaced.
    pub senders: usize,
    /// A receiver that responds within this time is fast. An attempt that takes longer no longer counts as fast, and
    /// another fast attempt may begin.
    pub fast_latency_max: Duration,
    /// A receiver that takes longer than this is slow.
    pub slow_latency_min: Duration,
    /// If the events of a claim are used up within this time, the next claim may be larger.
    pub claim_turnaround_max: Duration,
    /// The maximum number of settlements written in one transaction.
    pub settled_per_transaction: usize,
    /// How often the outbox is read if the dispatcher is not woken.
    pub scan_interval: Duration,
    /// The minimum time between two reads of the outbox, however often the dispatcher is woken. It is also at least
    /// twice the duration of the last read, up to `scan_interval`.
    pub scan_interval_min: Duration,
    /// How long the dispatcher waits after a failure of the store.
    pub error_backoff: Duration,
    /// How long a sender thread waits for work before it ends. The last `fast_senders` threads stay.
    pub idle_timeout: Duration,
}

impl DispatcherLimits {
    /// Returns the limits of each process if `processes` processes share the outbox: `in_flight_per_provider` and
    /// `in_progress_per_provider` are divided by the number of processes, but are at least 1. The other limits apply to
    /// each process unchanged.
    #[must_use]
    pub fn shared_by(self, processes: usize) -> Self {
        let part = |all: usize| all.checked_div(processes).unwrap_or(all).max(1);
        Self {
            in_flight_per_provider: part(self.in_flight_per_provider),
            in_progress_per_provider: part(self.in_progress_per_provider),
            ..self
        }
    }
}

impl Default for DispatcherLimits {
    fn default() -> Self {
        Self {
            in_flight_per_provider: 64,
            in_progress_per_provider: 8,
            claimed_per_provider: 256,
            claimed_in_total: 8_192,
            claimed_per_transaction: 1_024,
            lease: Duration::from_secs(31),
            lease_remaining_min: Duration::from_secs(20),
            queue_wait_max: Duration::from_secs(1),
            fast_senders: 8,
            fast_latency_mean: Duration::from_millis(2),
            normal_senders: 480,
            slow_senders: 416,
            senders: 512,
            fast_latency_max: Duration::from_millis(50),
            slow_latency_min: Duration::from_secs(2),
            claim_turnaround_max: Duration::from_millis(250),
            settled_per_transaction: 512,
            scan_interval: Duration::from_secs(1),
            scan_interval_min: Duration::from_millis(2),
            error_backoff: Duration::from_secs(1),
            idle_timeout: Duration::from_secs(10),
        }
    }
}
