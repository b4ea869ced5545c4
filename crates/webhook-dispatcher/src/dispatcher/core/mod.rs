//! The dispatcher's state, and what may happen to it. No thread, no clock, no I/O: whoever holds it tells it the
//! time and what came of things, so that a test can run a year in seconds.
//!
//! An event goes one way: claimed, waiting, under way, to be settled, being settled, forgotten. Until its settlement
//! is durable it is held here, and counts as in flight if an attempt was made. So when the process dies, no provider
//! gets more events a second time than were in flight for it.

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

/// A moment by two clocks: one tells the date and may be set, the other only ever goes on. What is written down goes
/// by the first, what is decided here by the second.
#[derive(Debug, Clone, Copy)]
pub(in crate::dispatcher) struct Now {
    pub(in crate::dispatcher) wall: Timestamp,
    pub(in crate::dispatcher) steady: Duration,
}

/// An attempt that was begun.
#[derive(Debug, Clone)]
pub(in crate::dispatcher) struct Job {
    pub(in crate::dispatcher) provider: Arc<Provider>,
    pub(in crate::dispatcher) event: ClaimedEvent,
}

/// What an attempt came to.
#[derive(Debug, Clone, Copy)]
pub(in crate::dispatcher) struct Report {
    pub(in crate::dispatcher) number: u32,
    pub(in crate::dispatcher) fate: Fate,
}

struct Held {
    provider: ProviderId,
    /// The latest under which it was claimed.
    lease: Uuid,
    /// When that was.
    claimed_at: Timestamp,
    /// Whether its settlement is being written.
    is_settling: bool,
}

struct UnderWay {
    provider: ProviderId,
    pace: Pace,
    since: Duration,
}

pub(in crate::dispatcher) struct Core {
    /// Of this process, and of all that share the outbox.
    limits: DispatcherLimits,
    limits_of_all: DispatcherLimits,
    schedule: Schedule,
    lines: HashMap<ProviderId, ProviderLine>,
    /// Who has an event waiting and may have another attempt in flight; each once, in the order of their turns.
    queue: VecDeque<ProviderId>,
    held: HashMap<EventId, Held>,
    /// What was claimed while its settlement was being written: that is durable by then, and was due again at once.
    claimed_anew: HashMap<EventId, Waiting>,
    under_way: HashMap<EventId, UnderWay>,
    senders: Senders,
    to_settle: VecDeque<Settlement>,
    settling: usize,
    settled_at_once: usize,
    in_flight: usize,
    /// Who was the last in the latest round of claims.
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

    /// From now on so many processes share the outbox.
    pub(in crate::dispatcher) fn share(&mut self, processes: usize) {
        self.limits = self.limits_of_all.shared_by(processes);
    }

    /// Attempts under way, or not settled yet.
    pub(in crate::dispatcher) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Whether time alone may change something: an attempt is under way, or an event waits.
    pub(in crate::dispatcher) fn is_busy(&self) -> bool {
        self.held.len() > self.to_settle.len().saturating_add(self.settling)
    }

    /// Whether nothing is held any more.
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

    /// Ends an attempt: what becomes of its event is to be settled from now on.
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

    /// Lets time pass: attempts that take long make room for others, events that have waited too long are released.
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

    /// Begins no attempt and accepts no event from now on; what waits is released.
    pub(in crate::dispatcher) fn stop(&mut self, now: Now) {
        self.is_stopping = true;
        self.release_waiting(now, |_until| true);
    }

    fn next_in_turn(&self) -> Option<usize> {
        self.queue.iter().position(|id| {
            self.lines.get(id).is_some_and(|line| self.senders.room(line.pace(), &self.limits) > 0)
        })
    }

    /// Has a provider wait for its turn, unless it does already or has no use for one.
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
            while let Some(waiting) = line.waiting.pop_front_if(|it| is_over(it.until)) {
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
        let lease = self.held.get(&event).map_or(Uuid::nil(), |it| it.lease);
        Settlement { event, lease, attempt, fate }
    }
}

#[cfg(test)]
pub(in crate::dispatcher) mod tests;
