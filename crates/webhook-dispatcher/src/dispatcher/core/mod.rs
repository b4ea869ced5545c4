//! The dispatcher's state machine, without threads, clock or I/O. The caller passes the time and the results of
//! attempts, so a test can run a year in seconds.
//!
//! An event passes through these states: claimed, waiting, in progress, to be settled, being settled, forgotten. The
//! core holds it until its settlement is durable, and counts it as in flight if an attempt was made. So if the
//! process dies, no provider receives more duplicates than it had events in flight.

mod claiming;
mod line;
mod senders;
mod settling;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::ports::{Attempt, ClaimedEvent, Fate, Settlement, Timestamp};
use guerdon_domain::providers::Provider;
use guerdon_domain::values::{EventId, ProviderId};
use uuid::Uuid;

use self::line::{Pace, ProviderLine, Waiting};
use self::senders::Senders;
use super::limits::DispatcherLimits;
use crate::courier::Outcome;
use crate::schedule::Schedule;

/// A time by two clocks. The wall clock, which may be set, is for stored times; the monotonic clock is for decisions
/// in the core.
#[derive(Debug, Clone, Copy)]
pub(in crate::dispatcher) struct Now {
    pub(in crate::dispatcher) wall: Timestamp,
    pub(in crate::dispatcher) steady: Duration,
}

/// An attempt that has begun.
#[derive(Debug, Clone)]
pub(in crate::dispatcher) struct Job {
    pub(in crate::dispatcher) provider: Arc<Provider>,
    pub(in crate::dispatcher) event: ClaimedEvent,
}

/// The result of an attempt.
#[derive(Debug, Clone, Copy)]
pub(in crate::dispatcher) struct Report {
    pub(in crate::dispatcher) number: u32,
    pub(in crate::dispatcher) fate: Fate,
}

struct Held {
    provider: ProviderId,
    /// The latest lease under which the event was claimed.
    lease: Uuid,
    /// When the event was claimed under that lease.
    claimed_at: Timestamp,
    /// Whether the event's settlement is being written.
    is_settling: bool,
}

struct UnderWay {
    provider: ProviderId,
    pace: Pace,
    since: Duration,
}

pub(in crate::dispatcher) struct Core {
    /// The limits of this process, and those that it shares with the other processes on the outbox.
    limits: DispatcherLimits,
    limits_of_all: DispatcherLimits,
    schedule: Schedule,
    lines: HashMap<ProviderId, ProviderLine>,
    /// Providers that have an event waiting and may have another attempt in flight; each once, in order of turn.
    queue: VecDeque<ProviderId>,
    held: HashMap<EventId, Held>,
    /// Events claimed again while their settlement was being written: the settlement is durable, and the event was
    /// due again immediately.
    claimed_anew: HashMap<EventId, Waiting>,
    under_way: HashMap<EventId, UnderWay>,
    senders: Senders,
    to_settle: VecDeque<Settlement>,
    settling: usize,
    settled_at_once: usize,
    in_flight: usize,
    /// The last provider in the latest round of claims.
    claimed_last: Option<ProviderId>,
    is_stopping: bool,
}

impl Core {
    pub(in crate::dispatcher) fn new(limits: DispatcherLimits, schedule: Schedule) -> Self {
        Self {
            limits,
            limits_of_all: limits,
            schedule,
            lines: HashMap::new(),
            queue: VecDeque::new(),
            held: HashMap::new(),
            claimed_anew: HashMap::new(),
            under_way: HashMap::new(),
            senders: Senders::default(),
            to_settle: VecDeque::new(),
            settling: 0,
            settled_at_once: limits.settled_at_once,
            in_flight: 0,
            claimed_last: None,
            is_stopping: false,
        }
    }

    /// Sets the number of processes that share the outbox.
    pub(in crate::dispatcher) fn share(&mut self, processes: usize) {
        self.limits = self.limits_of_all.shared_by(processes);
    }

    /// Returns the number of attempts in progress or not yet settled.
    pub(in crate::dispatcher) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Whether the passing of time may change the state: an attempt is in progress or an event waits.
    pub(in crate::dispatcher) fn is_busy(&self) -> bool {
        self.held.len() > self.to_settle.len().saturating_add(self.settling)
    }

    /// Whether no events are held.
    pub(in crate::dispatcher) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether an attempt may begin now.
    pub(in crate::dispatcher) fn can_start(&self) -> bool {
        self.next_in_turn().is_some()
    }

    /// Begins the next attempt, if one may begin now.
    pub(in crate::dispatcher) fn start(&mut self, now: Now) -> Option<Job> {
        loop {
            let id = self.queue.remove(self.next_in_turn()?)?;
            let Some(line) = self.lines.get_mut(&id) else { continue };
            line.is_queued = false;
            let Some(waiting) = line.waiting.pop_front() else { continue };
            if waiting.until < now.steady {
                self.release(&waiting.event, now);
                self.enqueue(id);
                continue;
            }
            line.in_flight += 1;
            line.under_way += 1;
            self.in_flight += 1;
            let job = Job { provider: Arc::clone(&line.provider), event: waiting.event };
            let under_way = UnderWay { provider: id, pace: line.pace(), since: now.steady };
            self.senders.begin(under_way.pace);
            self.under_way.insert(job.event.id, under_way);
            self.enqueue(id);
            return Some(job);
        }
    }

    /// Ends an attempt and queues the settlement of its event.
    pub(in crate::dispatcher) fn finish(
        &mut self,
        event: &ClaimedEvent,
        attempt: Uuid,
        outcome: Outcome,
    ) -> Report {
        let delivered = outcome.cause.is_none();
        if let Some(under_way) = self.under_way.remove(&event.id) {
            self.senders.end(under_way.pace, outcome.duration);
            if let Some(line) = self.lines.get_mut(&under_way.provider) {
                line.under_way -= 1;
                line.answered(outcome.duration, delivered, &self.limits);
            }
            self.enqueue(under_way.provider);
        }
        let before = event.attempts.saturating_sub(event.attempts_before_replay);
        let fate = match self.schedule.wait(before) {
            _ if delivered => Fate::Delivered,
            Some(wait) => Fate::RetryAt(outcome.ended_at.saturating_add(wait)),
            None => Fate::Exhausted,
        };
        let attempt = Attempt {
            id: attempt,
            company_id: event.company_id,
            number: event.attempts.saturating_add(1),
            started_at: outcome.started_at,
            duration: outcome.duration,
            status: outcome.status,
            cause: outcome.cause,
            answer: outcome.answer,
        };
        let report = Report { number: attempt.number, fate };
        self.to_settle.push_back(self.settlement(event.id, Some(attempt), fate));
        report
    }

    /// Advances time: slow attempts make room for others, and events that waited too long are released.
    pub(in crate::dispatcher) fn tick(&mut self, now: Now) {
        for under_way in self.under_way.values_mut() {
            let took = now.steady.saturating_sub(under_way.since);
            let pace = match under_way.pace {
                _ if took >= self.limits.stuck_after => Pace::Stuck,
                Pace::Brisk if took >= self.limits.brisk_within => Pace::Steady,
                pace => pace,
            };
            if pace != under_way.pace {
                self.senders.end(under_way.pace, took);
                self.senders.begin(pace);
                under_way.pace = pace;
                if let Some(line) = self.lines.get_mut(&under_way.provider) {
                    line.lags(took, &self.limits);
                }
            }
        }
        if self.is_busy() {
            self.release_waiting(now, |until| until < now.steady);
        }
    }

    /// Stops: from now on no attempt begins and no event is accepted. Waiting events are released.
    pub(in crate::dispatcher) fn stop(&mut self, now: Now) {
        self.is_stopping = true;
        self.release_waiting(now, |_until| true);
    }

    fn next_in_turn(&self) -> Option<usize> {
        self.queue.iter().position(|id| {
            self.lines.get(id).is_some_and(|line| self.senders.room(line.pace(), &self.limits) > 0)
        })
    }

    /// Adds a provider to the queue, unless it is already queued or cannot start an attempt.
    fn enqueue(&mut self, id: ProviderId) {
        if let Some(line) = self.lines.get_mut(&id)
            && !line.is_queued
            && line.wants_a_turn(&self.limits)
        {
            line.is_queued = true;
            self.queue.push_back(id);
        }
    }

    fn release_waiting(&mut self, now: Now, is_over: impl Fn(Duration) -> bool) {
        let mut released = Vec::new();
        for line in self.lines.values_mut() {
            while let Some(waiting) = line.waiting.pop_front_if(|waiting| is_over(waiting.until)) {
                released.push(waiting.event);
            }
        }
        for event in released {
            self.release(&event, now);
        }
    }

    fn release(&mut self, event: &ClaimedEvent, now: Now) {
        let settlement = self.settlement(event.id, None, Fate::Released(now.wall));
        self.to_settle.push_back(settlement);
    }

    fn settlement(&self, event: EventId, attempt: Option<Attempt>, fate: Fate) -> Settlement {
        let lease = self.held.get(&event).map_or(Uuid::nil(), |held| held.lease);
        Settlement { event, lease, attempt, fate }
    }
}

#[cfg(test)]
pub(in crate::dispatcher) mod tests;
