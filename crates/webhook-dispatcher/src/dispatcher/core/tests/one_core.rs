//! Tests of a single core, one step after the other.

use std::time::Duration;

use guerdon_domain::ports::{ClaimRequest, ClaimedBatch, ClaimedEvent, DeliveryOutcome, Settlement};
use guerdon_domain::values::CompanyId;
use uuid::Uuid;

use super::{SequentialIds, build_provider, event_id, provider_id};
use crate::dispatcher::core::{ClockReading, Core, StartedAttempt};
use crate::dispatcher::delivery_store::ClaimResult;
use crate::dispatcher::limits::DispatcherLimits;
use crate::schedule::RetrySchedule;
use crate::sender::AttemptOutcome;

#[test]
fn processes_that_share_an_outbox_share_the_limits_per_receiver() {
    let attempts = |processes: usize| {
        let mut harness = CoreHarness::new();
        harness.core.set_process_count(processes);
        while harness.claim_events(1).is_some() {}
        harness.start_all().len()
    };
    assert_eq!([1, 2, 3, 8, 100].map(attempts), [8, 4, 2, 1, 1]);
    let mut harness = CoreHarness::new();
    harness.core.set_process_count(4);
    harness.core.set_process_count(1);
    harness.claim_events(1);
    assert_eq!(harness.start_all().len(), 8, "a process that is left alone has the whole limit");
}

struct CoreHarness {
    core: Core,
    ids: SequentialIds,
    now: Duration,
    events: u64,
}

impl CoreHarness {
    fn new() -> Self {
        Self {
            core: Core::new(DispatcherLimits::default(), RetrySchedule::default()),
            ids: SequentialIds::default(),
            now: Duration::ZERO,
            events: 0,
        }
    }

    fn current_time(&self) -> ClockReading {
        ClockReading { wall: super::START + self.now, monotonic: self.now }
    }

    fn plan_claims(&mut self, provider: u64) -> Vec<ClaimRequest> {
        self.core.plan_claims(&[provider_id(provider)], self.current_time(), &self.ids)
    }

    /// Plans a claim for a provider and accepts as many events as it allows.
    fn claim_events(&mut self, provider: u64) -> Option<ClaimRequest> {
        let claim = self.plan_claims(provider).first().copied()?;
        let first = self.events + 1;
        self.events += u64::from(claim.limit);
        self.accept_claimed(claim, first..=self.events, self.current_time());
        Some(claim)
    }

    fn accept_claimed(
        &mut self,
        claim: ClaimRequest,
        events: impl Iterator<Item = u64>,
        before: ClockReading,
    ) {
        let events = events.map(|number| ClaimedEvent {
            company_id: CompanyId::from_uuid(Uuid::nil()),
            id: event_id(number),
            body: Vec::new(),
            attempts: 0,
            attempts_before_replay: 0,
        });
        let number = (0..1_000).find(|number| provider_id(*number) == claim.provider).unwrap();
        let claimed = ClaimedBatch { provider: build_provider(number), events: events.collect() };
        let due = ClaimResult { due_providers: vec![claim.provider], claimed: vec![claimed], next_due: None };
        self.core.accept_claimed(due, &[claim], before, self.current_time());
    }

    fn start_all(&mut self) -> Vec<StartedAttempt> {
        let now = self.current_time();
        std::iter::from_fn(|| self.core.start_attempt(now)).collect()
    }

    fn finish_attempt(&mut self, started: &StartedAttempt, duration: Duration, confirmed: bool) {
        let wall = self.current_time().wall;
        let outcome = AttemptOutcome {
            started_at: wall - duration,
            ended_at: wall,
            duration,
            status: confirmed.then_some(200),
            failure: (!confirmed).then(|| "no response in time".to_owned()),
            response_headers: None,
            response_body: Vec::new(),
        };
        self.core.finish_attempt(&started.event, uuid::Uuid::nil(), outcome);
    }

    fn settle_all(&mut self) -> Vec<Settlement> {
        let now = self.current_time();
        let batch = self.core.take_settlement_batch();
        let _needs_claim = self.core.confirm_settlements(&batch, now);
        batch
    }

    /// Claims and delivers ten times with attempts that take `duration`, and returns the limits of the claims.
    fn warm_up(&mut self, provider: u64, duration: Duration) -> Vec<u16> {
        (0..10)
            .map(|_| {
                let claim = self.claim_events(provider).unwrap();
                loop {
                    let attempts = self.start_all();
                    if attempts.is_empty() {
                        return claim.limit;
                    }
                    self.now += duration;
                    attempts.iter().for_each(|started| self.finish_attempt(started, duration, true));
                    self.settle_all();
                }
            })
            .collect()
    }
}

#[test]
fn an_attempt_is_in_flight_until_its_settlement_is_durable() {
    let mut harness = CoreHarness::new();
    harness.warm_up(1, Duration::from_millis(1));
    harness.claim_events(1);
    for ended in [8, 16, 24, 32, 40, 48, 56, 64] {
        let attempts = harness.start_all();
        assert_eq!(attempts.len(), 8, "eight attempts are in progress at a time");
        attempts.iter().for_each(|started| harness.finish_attempt(started, Duration::from_millis(1), true));
        assert_eq!(harness.core.in_flight(), ended);
    }
    assert!(harness.start_all().is_empty(), "sixty-four attempts are not settled yet");
    let batch = harness.core.take_settlement_batch();
    assert!(harness.start_all().is_empty(), "the attempts are being settled");
    let now = harness.current_time();
    let _needs_claim = harness.core.confirm_settlements(&batch[..3], now);
    assert_eq!(harness.start_all().len(), 3);
    assert_eq!(harness.core.in_flight(), 64);
}

#[test]
fn a_provider_that_uses_up_its_claims_quickly_gets_larger_ones() {
    let quick = CoreHarness::new().warm_up(1, Duration::from_millis(1));
    assert_eq!(quick, [8, 16, 32, 64, 128, 256, 256, 256, 256, 256]);
    let leisurely = CoreHarness::new().warm_up(1, Duration::from_millis(300));
    assert_eq!(leisurely, [8; 10]);
}

#[test]
fn a_failure_reduces_the_claims_again() {
    let mut harness = CoreHarness::new();
    harness.warm_up(1, Duration::from_millis(1));
    harness.claim_events(1);
    let attempts = harness.start_all();
    harness.finish_attempt(&attempts[0], Duration::from_millis(1), false);
    assert!(harness.plan_claims(1).is_empty(), "the provider holds more events than it may");
}

#[test]
fn a_slow_attempt_makes_room_for_a_fast_one() {
    let mut harness = CoreHarness::new();
    harness.warm_up(1, Duration::from_millis(1));
    harness.warm_up(2, Duration::from_millis(1));
    harness.claim_events(1);
    let hanging = harness.start_all();
    assert_eq!(hanging.len(), 8);
    harness.claim_events(2);
    assert!(harness.start_all().is_empty(), "all fast senders are busy");
    harness.now += DispatcherLimits::default().fast_latency_max;
    let now = harness.current_time();
    harness.core.advance_time(now);
    let started: Vec<_> = harness.start_all().iter().map(|started| started.provider.id).collect();
    assert_eq!(started, [provider_id(2); 8]);
}

#[test]
fn slow_receivers_leave_senders_for_others() {
    let limits = DispatcherLimits::default();
    let mut harness = CoreHarness::new();
    for provider in 1..=100 {
        harness.claim_events(provider);
        harness.start_all();
    }
    assert_eq!(harness.core.in_flight(), limits.normal_senders);
    harness.now += Duration::from_secs(15);
    let now = harness.current_time();
    harness.core.advance_time(now);
    assert!(harness.plan_claims(200).is_empty(), "no sender is free");
    let attempts: Vec<_> = harness.core.running.keys().copied().collect();
    for event in attempts {
        let event = ClaimedEvent {
            company_id: CompanyId::from_uuid(Uuid::nil()),
            id: event,
            body: Vec::new(),
            attempts: 0,
            attempts_before_replay: 0,
        };
        harness.finish_attempt(
            &StartedAttempt { provider: build_provider(1).into(), event },
            Duration::from_secs(15),
            false,
        );
    }
    while harness.core.has_settlements() {
        harness.settle_all();
    }
    for provider in 1..=60 {
        harness.claim_events(provider);
        harness.start_all();
    }
    assert_eq!(harness.core.in_flight(), limits.slow_senders);
    harness.claim_events(200);
    assert_eq!(harness.start_all().len(), 8);
}

#[test]
fn an_event_that_waits_too_long_is_released_unsent() {
    let mut harness = CoreHarness::new();
    harness.warm_up(1, Duration::from_millis(1));
    harness.claim_events(1);
    let running = harness.start_all().len();
    harness.now += DispatcherLimits::default().queue_wait_max + Duration::from_micros(1);
    let now = harness.current_time();
    harness.core.advance_time(now);
    assert!(harness.start_all().is_empty());
    let settled = harness.settle_all();
    assert_eq!(settled.len(), 256 - running);
    assert!(settled.iter().all(|settlement| settlement.attempt.is_none()
        && settlement.outcome == DeliveryOutcome::Released(now.wall)));
}

#[test]
fn an_event_whose_lease_is_nearly_over_is_released_unsent() {
    let limits = DispatcherLimits::default();
    let check = |claim_duration: Duration, sent: usize| {
        let mut harness = CoreHarness::new();
        let before = harness.current_time();
        let claim = harness.plan_claims(1)[0];
        harness.now += claim_duration;
        harness.accept_claimed(claim, 1..=8, before);
        assert_eq!(harness.start_all().len(), sent, "{claim_duration:?}");
        assert_eq!(harness.settle_all().len(), 8 - sent);
    };
    check(limits.lease - limits.lease_remaining_min, 8);
    check(limits.lease - limits.lease_remaining_min + Duration::from_micros(1), 0);
}

#[test]
fn an_event_that_is_claimed_again_is_settled_under_the_new_lease() {
    let mut harness = CoreHarness::new();
    let first = harness.plan_claims(1)[0];
    harness.accept_claimed(first, 1..=2, harness.current_time());
    let attempts = harness.start_all();
    harness.finish_attempt(&attempts[0], Duration::from_millis(1), true);
    let second = harness.plan_claims(1)[0];
    harness.accept_claimed(second, 1..=2, harness.current_time());
    assert!(harness.start_all().is_empty(), "both attempts are in progress or to be settled");
    harness.finish_attempt(&attempts[1], Duration::from_millis(1), true);
    let leases: Vec<_> = harness.settle_all().iter().map(|settlement| settlement.lease).collect();
    assert_ne!(first.lease, second.lease);
    assert_eq!(leases, [second.lease; 2]);
    assert!(harness.core.is_empty());
}

#[test]
fn a_stopping_core_starts_no_attempt_and_releases_waiting_events() {
    let mut harness = CoreHarness::new();
    harness.warm_up(1, Duration::from_millis(1));
    let claim = harness.claim_events(1).unwrap();
    let running = harness.start_all();
    let now = harness.current_time();
    harness.core.begin_stop(now);
    assert!(harness.start_all().is_empty() && harness.plan_claims(2).is_empty());
    // Events of a claim in progress are released too.
    harness.accept_claimed(ClaimRequest { provider: provider_id(2), ..claim }, 9_001..=9_003, now);
    let released = harness.settle_all();
    assert_eq!(released.len(), 256 - running.len() + 3);
    assert!(released.iter().all(|settlement| settlement.outcome == DeliveryOutcome::Released(now.wall)));
    running.iter().for_each(|started| harness.finish_attempt(started, Duration::from_millis(1), true));
    assert!(harness.settle_all().iter().all(|settlement| settlement.outcome == DeliveryOutcome::Delivered));
    assert!(harness.core.is_empty());
}

#[test]
fn an_event_claimed_again_before_its_settlement_is_confirmed_is_sent() {
    let mut harness = CoreHarness::new();
    let claim = harness.plan_claims(1)[0];
    harness.accept_claimed(claim, 1..=1, harness.current_time());
    let started = harness.start_all().remove(0);
    harness.finish_attempt(&started, Duration::from_millis(1), false);
    let batch = harness.core.take_settlement_batch();
    // The settlement is durable, and the event is due and claimed again before the core learns that the settlement is
    // durable.
    let again = harness.plan_claims(1)[0];
    harness.accept_claimed(again, 1..=1, harness.current_time());
    assert!(harness.start_all().is_empty(), "the event is still being settled");
    let now = harness.current_time();
    let _needs_claim = harness.core.confirm_settlements(&batch, now);
    assert_eq!(harness.core.in_flight(), 0);
    let attempts = harness.start_all();
    assert_eq!(attempts.iter().map(|started| started.event.id).collect::<Vec<_>>(), [event_id(1)]);
    harness.finish_attempt(&attempts[0], Duration::from_millis(1), true);
    assert_eq!(harness.settle_all()[0].lease, again.lease);
    assert!(harness.core.is_empty());
}
