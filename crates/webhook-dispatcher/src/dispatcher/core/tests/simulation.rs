//! A simulation in virtual time: a calendar holds the future events, and the clock jumps from one to the next.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::time::Duration;

use guerdon_domain::ports::{DeliveryOutcome, IdGenerator, Settlement, Timestamp};
use guerdon_domain::values::{EventId, ProviderId};

use super::memory_store::MemoryDeliveryStore;
use super::{START, SequentialIds, event_id};
use crate::dispatcher::claim_step::{NextRead, claim_once};
use crate::dispatcher::core::{ClockReading, Core, StartedAttempt};
use crate::dispatcher::delivery_store::DeliveryStore;
use crate::dispatcher::limits::DispatcherLimits;
use crate::schedule::RetrySchedule;
use crate::sender::AttemptOutcome;

/// A simulated receiver. Returns how long it takes to respond, and whether it confirms the event.
pub(super) type SimulatedReceiver = Box<dyn FnMut(ProviderId, EventId, Duration) -> (Duration, bool)>;

enum Action {
    NewEvent {
        provider: u64,
    },
    AttemptEnded {
        dispatcher: usize,
        started: Box<StartedAttempt>,
        began: Duration,
        duration: Duration,
        confirmed: bool,
    },
    BatchSettled {
        dispatcher: usize,
        batch: Vec<Settlement>,
    },
    Claim {
        dispatcher: usize,
    },
    Tick {
        dispatcher: usize,
    },
    Crash {
        dispatcher: usize,
    },
    Call(Box<dyn FnOnce(&mut Simulation)>),
}

/// One of the simulated dispatchers.
struct SimulatedDispatcher {
    core: Mutex<Core>,
    is_settling: bool,
    claim_at: Option<Duration>,
    tick_at: Option<Duration>,
    is_dead: bool,
    in_flight: HashMap<ProviderId, usize>,
}

/// An attempt of any dispatcher.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentAttempt {
    pub(super) dispatcher: usize,
    pub(super) event: EventId,
    pub(super) started: Duration,
    pub(super) ended: Duration,
    pub(super) confirmed: bool,
}

pub(super) struct Simulation {
    pub(super) store: MemoryDeliveryStore,
    pub(super) now: Duration,
    pub(super) sent: Vec<SentAttempt>,
    /// How long a settlement takes to become durable.
    pub(super) settlement_time: Duration,
    pub(super) tick: Duration,
    pub(super) created: HashMap<EventId, Duration>,
    pub(super) in_flight_peak: usize,
    limits: DispatcherLimits,
    receiver: SimulatedReceiver,
    calendar: BTreeMap<(Duration, u64), Action>,
    entry_count: u64,
    event_count: u64,
    dispatchers: Vec<SimulatedDispatcher>,
    ids: SequentialIds,
}

pub(super) fn wall_time(at: Duration) -> Timestamp {
    START + at
}

impl Simulation {
    pub(super) fn new(receiver: SimulatedReceiver) -> Self {
        Self::with_limits(DispatcherLimits::default(), receiver)
    }

    pub(super) fn with_limits(limits: DispatcherLimits, receiver: SimulatedReceiver) -> Self {
        Self {
            store: MemoryDeliveryStore::default(),
            now: Duration::ZERO,
            sent: Vec::new(),
            settlement_time: Duration::from_millis(2),
            tick: Duration::from_millis(10),
            created: HashMap::new(),
            in_flight_peak: 0,
            limits,
            receiver,
            calendar: BTreeMap::new(),
            entry_count: 0,
            event_count: 0,
            dispatchers: Vec::new(),
            ids: SequentialIds::default(),
        }
    }

    fn schedule_action(&mut self, at: Duration, action: Action) {
        self.entry_count += 1;
        self.calendar.insert((at, self.entry_count), action);
    }

    pub(super) fn add_dispatcher(&mut self) -> usize {
        self.dispatchers.push(SimulatedDispatcher {
            core: Mutex::new(Core::new(self.limits, RetrySchedule::default())),
            is_settling: false,
            claim_at: None,
            tick_at: None,
            is_dead: false,
            in_flight: HashMap::new(),
        });
        let dispatcher = self.dispatchers.len() - 1;
        self.wake_dispatcher(dispatcher);
        dispatcher
    }

    pub(super) fn add_event_at(&mut self, at: Duration, provider: u64) {
        self.schedule_action(at, Action::NewEvent { provider });
    }

    /// Adds events that exist before the simulation starts.
    pub(super) fn add_backlog(&mut self, provider: u64, count: u64) {
        for _ in 0..count {
            self.create_event(provider);
        }
    }

    pub(super) fn crash_at(&mut self, at: Duration, dispatcher: usize) {
        self.schedule_action(at, Action::Crash { dispatcher });
    }

    pub(super) fn call_at(&mut self, at: Duration, work: impl FnOnce(&mut Simulation) + 'static) {
        self.schedule_action(at, Action::Call(Box::new(work)));
    }

    pub(super) fn with_core<T>(&self, dispatcher: usize, work: impl FnOnce(&mut Core) -> T) -> T {
        work(&mut self.dispatchers[dispatcher].core.lock().unwrap())
    }

    pub(super) fn current_time(&self) -> ClockReading {
        ClockReading { wall: wall_time(self.now), monotonic: self.now }
    }

    pub(super) fn wake_dispatcher(&mut self, dispatcher: usize) {
        self.claim_at(dispatcher, self.now);
    }

    fn create_event(&mut self, provider: u64) {
        self.event_count += 1;
        let event = event_id(self.event_count);
        self.created.insert(event, self.now);
        self.store.add_event(event, provider, wall_time(self.now));
    }

    fn claim_at(&mut self, dispatcher: usize, at: Duration) {
        if self.dispatchers[dispatcher].claim_at.is_none_or(|claim_at| at < claim_at) {
            self.dispatchers[dispatcher].claim_at = Some(at);
            self.schedule_action(at, Action::Claim { dispatcher });
        }
    }

    /// Runs until the calendar is empty or the time `end` is reached.
    pub(super) fn run_until(&mut self, end: Duration) {
        while let Some(entry) = self.calendar.first_entry() {
            let at = entry.key().0;
            if at > end {
                break;
            }
            let action = entry.remove();
            self.now = at;
            self.perform_action(action);
        }
        self.now = end;
    }

    fn perform_action(&mut self, action: Action) {
        match action {
            Action::NewEvent { provider } => {
                self.create_event(provider);
                (0..self.dispatchers.len()).for_each(|dispatcher| self.wake_dispatcher(dispatcher));
            }
            Action::Call(work) => work(self),
            Action::Crash { dispatcher } => self.dispatchers[dispatcher].is_dead = true,
            Action::AttemptEnded { dispatcher, .. }
            | Action::BatchSettled { dispatcher, .. }
            | Action::Claim { dispatcher }
            | Action::Tick { dispatcher }
                if self.dispatchers[dispatcher].is_dead => {}
            Action::AttemptEnded { dispatcher, started, began, duration, confirmed } => {
                self.end_attempt(dispatcher, &started, began, duration, confirmed);
                self.run_threads(dispatcher);
            }
            Action::BatchSettled { dispatcher, batch } => {
                self.finish_settlement(dispatcher, batch);
                self.run_threads(dispatcher);
            }
            Action::Claim { dispatcher } => {
                if self.dispatchers[dispatcher].claim_at == Some(self.now) {
                    self.dispatchers[dispatcher].claim_at = None;
                    self.claim_events(dispatcher);
                    self.run_threads(dispatcher);
                }
            }
            Action::Tick { dispatcher } => {
                self.dispatchers[dispatcher].tick_at = None;
                let now = self.current_time();
                self.with_core(dispatcher, |core| core.advance_time(now));
                self.run_threads(dispatcher);
            }
        }
    }

    fn claim_events(&mut self, dispatcher: usize) {
        let now = self.current_time();
        let read = claim_once(&self.dispatchers[dispatcher].core, &self.store, &self.ids, &|| now);
        let next = read.map(|read| read.next);
        match next {
            Ok(NextRead::Backlog) => self.claim_at(dispatcher, self.now + self.limits.scan_interval / 4),
            Ok(NextRead::At(Some(due))) => {
                let wait = Duration::try_from(due - now.wall).unwrap_or_default();
                self.claim_at(dispatcher, self.now + wait.max(Duration::from_micros(1)));
            }
            Ok(NextRead::At(None)) => {}
            Err(_) => self.claim_at(dispatcher, self.now + self.limits.error_backoff),
        }
    }

    fn end_attempt(
        &mut self,
        dispatcher: usize,
        started: &StartedAttempt,
        began: Duration,
        duration: Duration,
        confirmed: bool,
    ) {
        let outcome = AttemptOutcome {
            started_at: wall_time(began),
            ended_at: wall_time(self.now),
            duration,
            status: Some(if confirmed { 200 } else { 503 }),
            failure: (!confirmed).then(|| "status 503".to_owned()),
            response_headers: None,
            response_body: Vec::new(),
        };
        let attempt = self.ids.next_id();
        self.with_core(dispatcher, |core| core.finish_attempt(&started.event, attempt, outcome));
        self.sent.push(SentAttempt {
            dispatcher,
            event: started.event.id,
            started: began,
            ended: self.now,
            confirmed,
        });
    }

    fn finish_settlement(&mut self, dispatcher: usize, batch: Vec<Settlement>) {
        self.dispatchers[dispatcher].is_settling = false;
        let now = self.current_time();
        if self.store.record_settlements(&batch).is_err() {
            self.with_core(dispatcher, |core| core.requeue_settlements(batch));
            return;
        }
        for settlement in &batch {
            // A periodic scan would find the event. Entering it into the calendar instead makes a simulated year pass
            // quickly.
            if let DeliveryOutcome::RetryAt(at) = settlement.outcome {
                self.claim_at(dispatcher, Duration::try_from(at - wall_time(Duration::ZERO)).unwrap());
            }
        }
        for settlement in batch.iter().filter(|settlement| settlement.attempt.is_some()) {
            let provider = self.store.with_data(|data| data.rows[&settlement.event].provider);
            *self.dispatchers[dispatcher].in_flight.get_mut(&provider).unwrap() -= 1;
        }
        if self.with_core(dispatcher, |core| core.confirm_settlements(&batch, now)) {
            self.wake_dispatcher(dispatcher);
        }
    }

    /// Does what the dispatcher's threads would do now.
    fn run_threads(&mut self, dispatcher: usize) {
        let now = self.current_time();
        while let Some(started) = self.with_core(dispatcher, |core| core.start_attempt(now)) {
            let in_flight = self.dispatchers[dispatcher].in_flight.entry(started.provider.id).or_default();
            *in_flight += 1;
            assert!(*in_flight <= self.limits.in_flight_per_provider, "too many in flight for one provider");
            let (duration, confirmed) = (self.receiver)(started.provider.id, started.event.id, self.now);
            let ended = Action::AttemptEnded {
                dispatcher,
                started: Box::new(started),
                began: self.now,
                duration,
                confirmed,
            };
            self.schedule_action(self.now + duration, ended);
        }
        let in_flight: usize = self.dispatchers[dispatcher].in_flight.values().sum();
        assert_eq!(self.with_core(dispatcher, |core| core.in_flight()), in_flight);
        self.in_flight_peak = self.in_flight_peak.max(in_flight);
        if !self.dispatchers[dispatcher].is_settling
            && self.with_core(dispatcher, |core| core.has_settlements())
        {
            self.dispatchers[dispatcher].is_settling = true;
            let batch = self.with_core(dispatcher, Core::take_settlement_batch);
            self.schedule_action(self.now + self.settlement_time, Action::BatchSettled { dispatcher, batch });
        }
        if self.dispatchers[dispatcher].tick_at.is_none() && self.with_core(dispatcher, |core| core.is_busy())
        {
            self.dispatchers[dispatcher].tick_at = Some(self.now + self.tick);
            self.schedule_action(self.now + self.tick, Action::Tick { dispatcher });
        }
    }
}
