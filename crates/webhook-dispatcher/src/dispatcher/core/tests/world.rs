//! Virtual time: a calendar holds future events, and the clock jumps from one entry to the next.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::time::Duration;

use guerdon_domain::ports::{Fate, Ids, Settlement, Timestamp};
use guerdon_domain::values::{EventId, ProviderId};

use super::journal::Memory;
use super::{Counting, START, event_id};
use crate::courier::Outcome;
use crate::dispatcher::core::{Core, Job, Now};
use crate::dispatcher::journal::Journal;
use crate::dispatcher::limits::DispatcherLimits;
use crate::dispatcher::step::{NextLook, step};
use crate::schedule::Schedule;

/// Simulates a receiver: returns how long it takes to respond and whether it confirms.
pub(super) type Receiver = Box<dyn FnMut(ProviderId, EventId, Duration) -> (Duration, bool)>;

enum Happening {
    NewEvent { provider: u64 },
    Ended { post: usize, job: Box<Job>, began: Duration, took: Duration, confirmed: bool },
    Settled { post: usize, batch: Vec<Settlement> },
    Look { post: usize },
    Tick { post: usize },
    Death { post: usize },
    Call(Box<dyn FnOnce(&mut World)>),
}

/// One dispatcher.
struct Post {
    core: Mutex<Core>,
    is_settling: bool,
    look_at: Option<Duration>,
    tick_at: Option<Duration>,
    is_dead: bool,
    in_flight: HashMap<ProviderId, usize>,
}

/// An attempt that was made by any dispatcher.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub(super) post: usize,
    pub(super) event: EventId,
    pub(super) began: Duration,
    pub(super) ended: Duration,
    pub(super) confirmed: bool,
}

pub(super) struct World {
    pub(super) journal: Memory,
    pub(super) now: Duration,
    pub(super) sent: Vec<Sent>,
    /// How long a settlement takes to become durable.
    pub(super) settling_takes: Duration,
    pub(super) tick: Duration,
    pub(super) created: HashMap<EventId, Duration>,
    pub(super) most_under_way: usize,
    limits: DispatcherLimits,
    receiver: Receiver,
    calendar: BTreeMap<(Duration, u64), Happening>,
    entries: u64,
    events: u64,
    posts: Vec<Post>,
    ids: Counting,
}

pub(super) fn wall(at: Duration) -> Timestamp {
    START + at
}

impl World {
    pub(super) fn new(receiver: Receiver) -> Self {
        Self::with_limits(DispatcherLimits::default(), receiver)
    }

    pub(super) fn with_limits(limits: DispatcherLimits, receiver: Receiver) -> Self {
        Self {
            journal: Memory::default(),
            now: Duration::ZERO,
            sent: Vec::new(),
            settling_takes: Duration::from_millis(2),
            tick: Duration::from_millis(10),
            created: HashMap::new(),
            most_under_way: 0,
            limits,
            receiver,
            calendar: BTreeMap::new(),
            entries: 0,
            events: 0,
            posts: Vec::new(),
            ids: Counting::default(),
        }
    }

    fn enter(&mut self, at: Duration, happening: Happening) {
        self.entries += 1;
        self.calendar.insert((at, self.entries), happening);
    }

    pub(super) fn add_dispatcher(&mut self) -> usize {
        self.posts.push(Post {
            core: Mutex::new(Core::new(self.limits, Schedule::default())),
            is_settling: false,
            look_at: None,
            tick_at: None,
            is_dead: false,
            in_flight: HashMap::new(),
        });
        let post = self.posts.len() - 1;
        self.ring(post);
        post
    }

    pub(super) fn event_at(&mut self, at: Duration, provider: u64) {
        self.enter(at, Happening::NewEvent { provider });
    }

    /// Adds events that exist before the start.
    pub(super) fn backlog(&mut self, provider: u64, count: u64) {
        for _ in 0..count {
            self.create(provider);
        }
    }

    pub(super) fn die_at(&mut self, at: Duration, post: usize) {
        self.enter(at, Happening::Death { post });
    }

    pub(super) fn call_at(&mut self, at: Duration, work: impl FnOnce(&mut World) + 'static) {
        self.enter(at, Happening::Call(Box::new(work)));
    }

    pub(super) fn with_core<T>(&self, post: usize, work: impl FnOnce(&mut Core) -> T) -> T {
        work(&mut self.posts[post].core.lock().unwrap())
    }

    pub(super) fn moment(&self) -> Now {
        Now { wall: wall(self.now), steady: self.now }
    }

    pub(super) fn ring(&mut self, post: usize) {
        self.look_at(post, self.now);
    }

    fn create(&mut self, provider: u64) {
        self.events += 1;
        let event = event_id(self.events);
        self.created.insert(event, self.now);
        self.journal.add(event, provider, wall(self.now));
    }

    fn look_at(&mut self, post: usize, at: Duration) {
        if self.posts[post].look_at.is_none_or(|look_at| at < look_at) {
            self.posts[post].look_at = Some(at);
            self.enter(at, Happening::Look { post });
        }
    }

    /// Runs until the calendar is empty or `end` is reached.
    pub(super) fn run_until(&mut self, end: Duration) {
        while let Some(entry) = self.calendar.first_entry() {
            let at = entry.key().0;
            if at > end {
                break;
            }
            let happening = entry.remove();
            self.now = at;
            self.happen(happening);
        }
        self.now = end;
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::NewEvent { provider } => {
                self.create(provider);
                (0..self.posts.len()).for_each(|post| self.ring(post));
            }
            Happening::Call(work) => work(self),
            Happening::Death { post } => self.posts[post].is_dead = true,
            Happening::Ended { post, .. }
            | Happening::Settled { post, .. }
            | Happening::Look { post }
            | Happening::Tick { post }
                if self.posts[post].is_dead => {}
            Happening::Ended { post, job, began, took, confirmed } => {
                self.end(post, &job, began, took, confirmed);
                self.go_on(post);
            }
            Happening::Settled { post, batch } => {
                self.settle(post, batch);
                self.go_on(post);
            }
            Happening::Look { post } => {
                if self.posts[post].look_at == Some(self.now) {
                    self.posts[post].look_at = None;
                    self.look(post);
                    self.go_on(post);
                }
            }
            Happening::Tick { post } => {
                self.posts[post].tick_at = None;
                let now = self.moment();
                self.with_core(post, |core| core.tick(now));
                self.go_on(post);
            }
        }
    }

    fn look(&mut self, post: usize) {
        let now = self.moment();
        let next = step(&self.posts[post].core, &self.journal, &self.ids, &|| now);
        match next {
            Ok(NextLook::Backlog) => self.look_at(post, self.now + self.limits.scan / 4),
            Ok(NextLook::At(Some(due))) => {
                let wait = Duration::try_from(due - now.wall).unwrap_or_default();
                self.look_at(post, self.now + wait.max(Duration::from_micros(1)));
            }
            Ok(NextLook::At(None)) => {}
            Err(_) => self.look_at(post, self.now + self.limits.back_off),
        }
    }

    fn end(&mut self, post: usize, job: &Job, began: Duration, took: Duration, confirmed: bool) {
        let outcome = Outcome {
            started_at: wall(began),
            ended_at: wall(self.now),
            duration: took,
            status: Some(if confirmed { 200 } else { 503 }),
            cause: (!confirmed).then(|| "status 503".to_owned()),
            answer: Vec::new(),
        };
        let attempt = self.ids.next();
        self.with_core(post, |core| core.finish(&job.event, attempt, outcome));
        self.sent.push(Sent { post, event: job.event.id, began, ended: self.now, confirmed });
    }

    fn settle(&mut self, post: usize, batch: Vec<Settlement>) {
        self.posts[post].is_settling = false;
        let now = self.moment();
        if self.journal.settle(&batch).is_err() {
            self.with_core(post, |core| core.not_settled(batch));
            return;
        }
        for settlement in &batch {
            // A periodic scan would find the event; noting it here lets a simulated year pass quickly.
            if let Fate::RetryAt(at) = settlement.fate {
                self.look_at(post, Duration::try_from(at - wall(Duration::ZERO)).unwrap());
            }
        }
        for settlement in batch.iter().filter(|settlement| settlement.attempt.is_some()) {
            let provider = self.journal.with(|book| book.rows[&settlement.event].provider);
            *self.posts[post].in_flight.get_mut(&provider).unwrap() -= 1;
        }
        if self.with_core(post, |core| core.settled(&batch, now)) {
            self.ring(post);
        }
    }

    /// Does what the dispatcher's threads would do now.
    fn go_on(&mut self, post: usize) {
        let now = self.moment();
        while let Some(job) = self.with_core(post, |core| core.start(now)) {
            let in_flight = self.posts[post].in_flight.entry(job.provider.id).or_default();
            *in_flight += 1;
            assert!(*in_flight <= self.limits.in_flight_per_provider, "too many in flight for one provider");
            let (took, confirmed) = (self.receiver)(job.provider.id, job.event.id, self.now);
            let ended = Happening::Ended { post, job: Box::new(job), began: self.now, took, confirmed };
            self.enter(self.now + took, ended);
        }
        let in_flight: usize = self.posts[post].in_flight.values().sum();
        assert_eq!(self.with_core(post, |core| core.in_flight()), in_flight);
        self.most_under_way = self.most_under_way.max(in_flight);
        if !self.posts[post].is_settling && self.with_core(post, |core| core.has_to_settle()) {
            self.posts[post].is_settling = true;
            let batch = self.with_core(post, Core::take_to_settle);
            self.enter(self.now + self.settling_takes, Happening::Settled { post, batch });
        }
        if self.posts[post].tick_at.is_none() && self.with_core(post, |core| core.is_busy()) {
            self.posts[post].tick_at = Some(self.now + self.tick);
            self.enter(self.now + self.tick, Happening::Tick { post });
        }
    }
}
