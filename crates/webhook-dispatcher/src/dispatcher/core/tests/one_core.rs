//! Tests of a single core, one step after the other.

use std::time::Duration;

use guerdon_domain::ports::{Claim, Claimed, ClaimedEvent, Fate, Settlement};
use guerdon_domain::values::CompanyId;
use uuid::Uuid;

use super::{Counting, event_id, provider, provider_id};
use crate::courier::Outcome;
use crate::dispatcher::core::{Core, Job, Now};
use crate::dispatcher::journal::Look;
use crate::dispatcher::limits::DispatcherLimits;
use crate::schedule::Schedule;

#[test]
fn processes_that_share_an_outbox_share_what_one_receiver_is_sent() {
    let attempts = |processes: usize| {
        let mut bench = Bench::new();
        bench.core.share(processes);
        while bench.claim(1).is_some() {}
        bench.start_all().len()
    };
    assert_eq!([1, 2, 3, 8, 100].map(attempts), [8, 4, 2, 1, 1]);
    let mut bench = Bench::new();
    bench.core.share(4);
    bench.core.share(1);
    bench.claim(1);
    assert_eq!(bench.start_all().len(), 8, "whoever is left alone has all of it");
}

struct Bench {
    core: Core,
    ids: Counting,
    now: Duration,
    events: u64,
}

impl Bench {
    fn new() -> Self {
        Self {
            core: Core::new(DispatcherLimits::default(), Schedule::default()),
            ids: Counting::default(),
            now: Duration::ZERO,
            events: 0,
        }
    }

    fn moment(&self) -> Now {
        Now { wall: super::START + self.now, steady: self.now }
    }

    fn plan(&mut self, provider: u64) -> Vec<Claim> {
        self.core.plan(&[provider_id(provider)], self.moment(), &self.ids)
    }

    /// A claim that returns as many events as it may.
    fn claim(&mut self, provider: u64) -> Option<Claim> {
        let claim = self.plan(provider).first().copied()?;
        let first = self.events + 1;
        self.events += u64::from(claim.limit);
        self.accept(claim, first..=self.events, self.moment());
        Some(claim)
    }

    fn accept(&mut self, claim: Claim, events: impl Iterator<Item = u64>, before: Now) {
        let events = events.map(|it| ClaimedEvent {
            company_id: CompanyId::from_uuid(Uuid::nil()),
            id: event_id(it),
            body: Vec::new(),
            attempts: 0,
            attempts_before_replay: 0,
        });
        let number = (0..1_000).find(|number| provider_id(*number) == claim.provider).unwrap();
        let claimed = Claimed { provider: provider(number), events: events.collect() };
        let due = Look { providers: vec![claim.provider], claimed: vec![claimed], next: None };
        self.core.accept(due, &[claim], before, self.moment());
    }

    fn start_all(&mut self) -> Vec<Job> {
        let now = self.moment();
        std::iter::from_fn(|| self.core.start(now)).collect()
    }

    fn finish(&mut self, job: &Job, took: Duration, confirmed: bool) {
        let wall = self.moment().wall;
        let outcome = Outcome {
            started_at: wall - took,
            ended_at: wall,
            duration: took,
            status: confirmed.then_some(200),
            cause: (!confirmed).then(|| "no answer in time".to_owned()),
            answer: Vec::new(),
        };
        self.core.finish(&job.event, uuid::Uuid::nil(), outcome);
    }

    fn settle_all(&mut self) -> Vec<Settlement> {
        let now = self.moment();
        let batch = self.core.take_to_settle();
        let _is_hungry = self.core.settled(&batch, now);
        batch
    }

    /// Claims and delivers ten times with attempts that take `took`, and returns the limits of the claims.
    fn warm_up(&mut self, provider: u64, took: Duration) -> Vec<u16> {
        (0..10)
            .map(|_| {
                let claim = self.claim(provider).unwrap();
                loop {
                    let jobs = self.start_all();
                    if jobs.is_empty() {
                        return claim.limit;
                    }
                    self.now += took;
                    jobs.iter().for_each(|job| self.finish(job, took, true));
                    self.settle_all();
                }
            })
            .collect()
    }
}

#[test]
fn an_attempt_is_in_flight_until_its_settlement_is_durable() {
    let mut bench = Bench::new();
    bench.warm_up(1, Duration::from_millis(1));
    bench.claim(1);
    for ended in [8, 16, 24, 32, 40, 48, 56, 64] {
        let jobs = bench.start_all();
        assert_eq!(jobs.len(), 8, "eight at a time are under way");
        jobs.iter().for_each(|job| bench.finish(job, Duration::from_millis(1), true));
        assert_eq!(bench.core.in_flight(), ended);
    }
    assert!(bench.start_all().is_empty(), "sixty-four are not settled yet");
    let batch = bench.core.take_to_settle();
    assert!(bench.start_all().is_empty(), "they are being settled");
    let now = bench.moment();
    let _is_hungry = bench.core.settled(&batch[..3], now);
    assert_eq!(bench.start_all().len(), 3);
    assert_eq!(bench.core.in_flight(), 64);
}

#[test]
fn whoever_uses_claims_up_quickly_gets_larger_ones() {
    let quick = Bench::new().warm_up(1, Duration::from_millis(1));
    assert_eq!(quick, [8, 16, 32, 64, 128, 256, 256, 256, 256, 256]);
    let leisurely = Bench::new().warm_up(1, Duration::from_millis(300));
    assert_eq!(leisurely, [8; 10]);
}

#[test]
fn a_failure_takes_the_larger_claims_away() {
    let mut bench = Bench::new();
    bench.warm_up(1, Duration::from_millis(1));
    bench.claim(1);
    let jobs = bench.start_all();
    bench.finish(&jobs[0], Duration::from_millis(1), false);
    assert!(bench.plan(1).is_empty(), "it holds more than it may");
}

#[test]
fn a_slow_attempt_makes_room_for_a_quick_one() {
    let mut bench = Bench::new();
    bench.warm_up(1, Duration::from_millis(1));
    bench.warm_up(2, Duration::from_millis(1));
    bench.claim(1);
    let hanging = bench.start_all();
    assert_eq!(hanging.len(), 8);
    bench.claim(2);
    assert!(bench.start_all().is_empty(), "all brisk senders are busy");
    bench.now += DispatcherLimits::default().brisk_within;
    let now = bench.moment();
    bench.core.tick(now);
    let started: Vec<_> = bench.start_all().iter().map(|job| job.provider.id).collect();
    assert_eq!(started, [provider_id(2); 8]);
}

#[test]
fn those_that_are_stuck_leave_senders_for_others() {
    let limits = DispatcherLimits::default();
    let mut bench = Bench::new();
    for provider in 1..=100 {
        bench.claim(provider);
        bench.start_all();
    }
    assert_eq!(bench.core.in_flight(), limits.other_senders);
    bench.now += Duration::from_secs(15);
    let now = bench.moment();
    bench.core.tick(now);
    assert!(bench.plan(200).is_empty(), "nobody is free");
    let jobs: Vec<_> = bench.core.under_way.keys().copied().collect();
    for event in jobs {
        let event = ClaimedEvent {
            company_id: CompanyId::from_uuid(Uuid::nil()),
            id: event,
            body: Vec::new(),
            attempts: 0,
            attempts_before_replay: 0,
        };
        bench.finish(&Job { provider: provider(1).into(), event }, Duration::from_secs(15), false);
    }
    while bench.core.has_to_settle() {
        bench.settle_all();
    }
    for provider in 1..=60 {
        bench.claim(provider);
        bench.start_all();
    }
    assert_eq!(bench.core.in_flight(), limits.stuck_senders);
    bench.claim(200);
    assert_eq!(bench.start_all().len(), 8);
}

#[test]
fn an_event_that_waits_too_long_is_released_unsent() {
    let mut bench = Bench::new();
    bench.warm_up(1, Duration::from_millis(1));
    bench.claim(1);
    let under_way = bench.start_all().len();
    bench.now += DispatcherLimits::default().wait_max + Duration::from_micros(1);
    let now = bench.moment();
    bench.core.tick(now);
    assert!(bench.start_all().is_empty());
    let settled = bench.settle_all();
    assert_eq!(settled.len(), 256 - under_way);
    assert!(
        settled
            .iter()
            .all(|settlement| settlement.attempt.is_none() && settlement.fate == Fate::Released(now.wall))
    );
}

#[test]
fn an_event_whose_lease_is_nearly_over_is_released_unsent() {
    let limits = DispatcherLimits::default();
    let check = |claiming_took: Duration, sent: usize| {
        let mut bench = Bench::new();
        let before = bench.moment();
        let claim = bench.plan(1)[0];
        bench.now += claiming_took;
        bench.accept(claim, 1..=8, before);
        assert_eq!(bench.start_all().len(), sent, "{claiming_took:?}");
        assert_eq!(bench.settle_all().len(), 8 - sent);
    };
    check(limits.lease - limits.lease_left_min, 8);
    check(limits.lease - limits.lease_left_min + Duration::from_micros(1), 0);
}

#[test]
fn an_event_claimed_anew_while_it_is_held_is_settled_under_the_new_lease() {
    let mut bench = Bench::new();
    let first = bench.plan(1)[0];
    bench.accept(first, 1..=2, bench.moment());
    let jobs = bench.start_all();
    bench.finish(&jobs[0], Duration::from_millis(1), true);
    let second = bench.plan(1)[0];
    bench.accept(second, 1..=2, bench.moment());
    assert!(bench.start_all().is_empty(), "both are under way, or to be settled");
    bench.finish(&jobs[1], Duration::from_millis(1), true);
    let leases: Vec<_> = bench.settle_all().iter().map(|settlement| settlement.lease).collect();
    assert_ne!(first.lease, second.lease);
    assert_eq!(leases, [second.lease; 2]);
    assert!(bench.core.is_empty());
}

#[test]
fn one_that_stops_begins_nothing_and_gives_back_what_waits() {
    let mut bench = Bench::new();
    bench.warm_up(1, Duration::from_millis(1));
    let claim = bench.claim(1).unwrap();
    let under_way = bench.start_all();
    let now = bench.moment();
    bench.core.stop(now);
    assert!(bench.start_all().is_empty() && bench.plan(2).is_empty());
    // Events of a claim in progress are released too.
    bench.accept(Claim { provider: provider_id(2), ..claim }, 9_001..=9_003, now);
    let released = bench.settle_all();
    assert_eq!(released.len(), 256 - under_way.len() + 3);
    assert!(released.iter().all(|settlement| settlement.fate == Fate::Released(now.wall)));
    under_way.iter().for_each(|job| bench.finish(job, Duration::from_millis(1), true));
    assert!(bench.settle_all().iter().all(|settlement| settlement.fate == Fate::Delivered));
    assert!(bench.core.is_empty());
}

#[test]
fn an_event_that_is_due_and_claimed_again_before_its_settlement_is_noted_is_sent() {
    let mut bench = Bench::new();
    let claim = bench.plan(1)[0];
    bench.accept(claim, 1..=1, bench.moment());
    let job = bench.start_all().remove(0);
    bench.finish(&job, Duration::from_millis(1), false);
    let batch = bench.core.take_to_settle();
    // The settlement is durable, the wait is over and the event is claimed again before the core learns of it.
    let again = bench.plan(1)[0];
    bench.accept(again, 1..=1, bench.moment());
    assert!(bench.start_all().is_empty(), "it is still being settled");
    let now = bench.moment();
    let _is_hungry = bench.core.settled(&batch, now);
    assert_eq!(bench.core.in_flight(), 0);
    let jobs = bench.start_all();
    assert_eq!(jobs.iter().map(|job| job.event.id).collect::<Vec<_>>(), [event_id(1)]);
    bench.finish(&jobs[0], Duration::from_millis(1), true);
    assert_eq!(bench.settle_all()[0].lease, again.lease);
    assert!(bench.core.is_empty());
}
