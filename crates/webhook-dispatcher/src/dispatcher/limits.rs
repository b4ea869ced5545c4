//! How much the dispatcher takes on at a time.

use std::time::Duration;

/// How much the dispatcher takes on at a time. The defaults keep what is promised (behaviour 23.9); tests shorten them.
#[derive(Debug, Clone, Copy)]
pub struct DispatcherLimits {
    /// Attempts in flight for one provider, of all processes together, from their start until their settlement is durable:
    /// so many of its events can at most be sent twice because processes died. More let a single receiver be served faster
    /// than the database settles.
    pub in_flight_per_provider: usize,
    /// Of those, attempts under way.
    pub under_way_per_provider: usize,
    /// Events claimed for one provider whose receiver answers well, those in flight included. Others are claimed as
    /// many as may be in flight.
    pub claimed_per_provider: usize,
    /// Events claimed in all.
    pub claimed: usize,
    /// Events claimed in one transaction.
    pub claimed_at_once: usize,
    /// For how long an event is claimed. More than twice an attempt's time limit, so that no lease ends under an
    /// attempt.
    pub lease: Duration,
    /// How much of its lease an event must have left for an attempt to begin: more than an attempt's time limit,
    /// and time to settle it.
    pub lease_left_min: Duration,
    /// How long a claimed event may wait for its turn. A longer one is claimed anew, so that URL and secret are
    /// those in force (behaviour 23.10).
    pub wait_max: Duration,
    /// Attempts under way at receivers that answer at once, as long as these take no longer than
    /// [`brisk_answer`](Self::brisk_answer) on average: there the processors are what is short, and few busy threads
    /// send more than many. If they take twice as long, twice as many.
    pub brisk_senders: usize,
    /// See [`brisk_senders`](Self::brisk_senders).
    pub brisk_answer: Duration,
    /// Attempts under way at all others, beyond which none is begun.
    pub other_senders: usize,
    /// Of those, attempts at receivers that lately were stuck. The rest is for whoever turns up meanwhile.
    pub stuck_senders: usize,
    /// Attempts under way in all. What lies above the others is for the replacements of brisk ones that turned slow.
    pub senders: usize,
    /// Who answers within this time is brisk; an attempt that takes longer leaves the brisk senders, and is
    /// replaced there.
    pub brisk_within: Duration,
    /// Who takes longer than this is stuck.
    pub stuck_after: Duration,
    /// A claim that is used up within this time may be larger the next time.
    pub used_up_within: Duration,
    /// Settlements written in one transaction.
    pub settled_at_once: usize,
    /// How often the journal is looked through when nothing says that an event is due.
    pub scan: Duration,
    /// How long the journal is left alone between two looks into it, however often the bell rings.
    pub pause: Duration,
    /// How long the journal is left alone after it failed.
    pub back_off: Duration,
    /// How long a thread that sends waits for work before it ends.
    pub idle_max: Duration,
}

impl DispatcherLimits {
    /// What is left of this for each of so many processes on one outbox: a receiver feels all of them. At least one attempt.
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
