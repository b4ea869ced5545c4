//! The limits of the dispatcher.

use std::time::Duration;

/// The limits of the dispatcher. The defaults fulfil the documented promises (behaviour 23.9); tests shorten them.
#[derive(Debug, Clone, Copy)]
pub struct DispatcherLimits {
    /// The maximum of attempts in flight for one provider in all processes together, from their start until their
    /// settlement is durable. At most this many of its events are sent twice if processes die. A higher limit lets a
    /// single receiver be served faster than the database settles.
    pub in_flight_per_provider: usize,
    /// The part of `in_flight_per_provider` that may be attempts in progress.
    pub under_way_per_provider: usize,
    /// The maximum of events claimed for one provider whose receiver responds well, including those in flight. For
    /// other providers, the maximum is `under_way_per_provider`.
    pub claimed_per_provider: usize,
    /// The maximum of claimed events.
    pub claimed: usize,
    /// The maximum of events claimed in one transaction.
    pub claimed_at_once: usize,
    /// How long an event is claimed. More than twice the time limit of an attempt, so that no lease ends during an
    /// attempt.
    pub lease: Duration,
    /// How much of its lease an event must have left for an attempt to begin: more than the time limit of an attempt
    /// plus the time to settle it.
    pub lease_left_min: Duration,
    /// How long a claimed event may wait to be sent. After that it is claimed again, so that the current URL and
    /// secret are used (behaviour 23.10).
    pub wait_max: Duration,
    /// The maximum of attempts in progress at brisk receivers, as long as these take no longer than
    /// [`brisk_answer`](Self::brisk_answer) on average: the processors are then the bottleneck, and a few busy
    /// threads send more than many. If attempts take twice as long, the limit doubles.
    pub brisk_senders: usize,
    /// See [`brisk_senders`](Self::brisk_senders).
    pub brisk_answer: Duration,
    /// The maximum of attempts in progress at all other receivers.
    pub other_senders: usize,
    /// The part of `other_senders` for receivers that were stuck lately. The rest is reserved for other receivers.
    pub stuck_senders: usize,
    /// The maximum of attempts in progress in total. The surplus over the other limits replaces brisk attempts that
    /// became slow.
    pub senders: usize,
    /// A receiver that responds within this time is brisk. An attempt that takes longer no longer counts as brisk,
    /// and another may take its place.
    pub brisk_within: Duration,
    /// A receiver that takes longer than this is stuck.
    pub stuck_after: Duration,
    /// If a claim is used up within this time, the next one may be larger.
    pub used_up_within: Duration,
    /// The maximum of settlements written in one transaction.
    pub settled_at_once: usize,
    /// How often the journal is read without a notice that an event is due.
    pub scan: Duration,
    /// The minimum time between two reads of the journal, however often the dispatcher is woken.
    pub pause: Duration,
    /// How long the dispatcher waits after the journal failed.
    pub back_off: Duration,
    /// How long a sender thread waits for work before it ends.
    pub idle_max: Duration,
}

impl DispatcherLimits {
    /// Returns the share of each process if `processes` share the outbox, because a receiver is subject to all of
    /// them together. Each process may make at least one attempt.
    #[must_use]
    pub fn shared_by(self, processes: usize) -> Self {
        let part = |all: usize| all.checked_div(processes).unwrap_or(all).max(1);
        Self {
            in_flight_per_provider: part(self.in_flight_per_provider),
            under_way_per_provider: part(self.under_way_per_provider),
            ..self
        }
    }
}

impl Default for DispatcherLimits {
    fn default() -> Self {
        Self {
            in_flight_per_provider: 64,
            under_way_per_provider: 8,
            claimed_per_provider: 256,
            claimed: 8_192,
            claimed_at_once: 1_024,
            lease: Duration::from_secs(31),
            lease_left_min: Duration::from_secs(20),
            wait_max: Duration::from_secs(1),
            brisk_senders: 8,
            brisk_answer: Duration::from_millis(2),
            other_senders: 480,
            stuck_senders: 416,
            senders: 512,
            brisk_within: Duration::from_millis(50),
            stuck_after: Duration::from_secs(2),
            used_up_within: Duration::from_millis(250),
            settled_at_once: 512,
            scan: Duration::from_secs(1),
            pause: Duration::from_millis(2),
            back_off: Duration::from_secs(1),
            idle_max: Duration::from_secs(10),
        }
    }
}
