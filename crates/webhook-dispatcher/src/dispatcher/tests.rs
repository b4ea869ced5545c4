//! Tests of the threads, with a delivery store in memory and scripted senders. The tests wait for conditions and do not
//! depend on timing.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use guerdon_domain::events::EventState;
use guerdon_domain::ports::{Clock, Notifier, ProcessCount, Timestamp};
use guerdon_domain::values::ProviderId;

use super::core::tests::memory_store::MemoryDeliveryStore;
use super::core::tests::{START, SequentialIds, event_id};
use super::{
    AttemptResult, Dispatcher, DispatcherLimits, DispatcherObserver, NoObserver, RunningDispatcher,
    StopResult,
};
use crate::schedule::RetrySchedule;
use crate::sender::{AttemptOutcome, DeliveryRequest, EventSender};

const TIMEOUT: Duration = Duration::from_secs(60);

/// A clock that reads `START` plus a duration that the test sets.
#[derive(Default)]
struct SettableClock(Mutex<Duration>);

impl Clock for SettableClock {
    fn now(&self) -> Timestamp {
        START + *self.0.lock().unwrap()
    }
}

fn attempt_outcome(failure: Option<&str>) -> AttemptOutcome {
    AttemptOutcome {
        started_at: START,
        ended_at: START,
        duration: Duration::from_micros(100),
        status: failure.is_none().then_some(200),
        failure: failure.map(str::to_owned),
        response_headers: None,
        response_body: Vec::new(),
    }
}

/// A sender that calls a closure.
struct FnSender<F>(F);

impl<F: Fn(&DeliveryRequest<'_>) -> AttemptOutcome + Send + Sync> EventSender for FnSender<F> {
    fn attempt_delivery(&self, request: &DeliveryRequest<'_>) -> AttemptOutcome {
        (self.0)(request)
    }
}

/// Sends the result of every attempt to the test.
struct ResultObserver(Mutex<Sender<AttemptResult>>);

impl DispatcherObserver for ResultObserver {
    fn attempt_ended(&self, _provider: ProviderId, result: AttemptResult, _took: Duration) {
        let _nobody_listens = self.0.lock().unwrap().send(result);
    }
}

struct DispatcherHarness {
    store: Arc<MemoryDeliveryStore>,
    clock: Arc<SettableClock>,
    wake: Notifier,
    running: RunningDispatcher,
    ended: Receiver<AttemptResult>,
}

fn start_dispatcher(
    sender: impl Fn(&DeliveryRequest<'_>) -> AttemptOutcome + Send + Sync + 'static,
) -> DispatcherHarness {
    start_with_limits(DispatcherLimits { scan_interval: TIMEOUT * 60, ..DispatcherLimits::default() }, sender)
}

fn start_with_limits(
    limits: DispatcherLimits,
    sender: impl Fn(&DeliveryRequest<'_>) -> AttemptOutcome + Send + Sync + 'static,
) -> DispatcherHarness {
    let (store, clock, wake) =
        (Arc::<MemoryDeliveryStore>::default(), Arc::<SettableClock>::default(), Notifier::default());
    let (results, ended) = channel();
    let dispatcher = Dispatcher {
        store: Arc::<MemoryDeliveryStore>::clone(&store),
        sender: Arc::new(FnSender(sender)),
        clock: Arc::<SettableClock>::clone(&clock),
        ids: Arc::new(SequentialIds::default()),
        schedule: RetrySchedule::default(),
        limits,
        observer: Arc::new(ResultObserver(Mutex::new(results))),
        wake: wake.clone(),
        processes: ProcessCount::default(),
    };
    DispatcherHarness { store, clock, wake, running: dispatcher.start().unwrap(), ended }
}

impl DispatcherHarness {
    fn add_events(&self, events: std::ops::Range<u64>, provider: u64) {
        events.for_each(|number| self.store.add_event(event_id(number), provider, START));
        self.wake.notify_one();
    }

    fn wait_for_attempts(&self, attempts: usize) -> Vec<AttemptResult> {
        (0..attempts).map(|_| self.ended.recv_timeout(TIMEOUT).expect("an attempt is missing")).collect()
    }
}

#[test]
fn due_events_are_delivered_and_settled_when_woken() {
    let harness = start_dispatcher(|_| attempt_outcome(None));
    for round in 0..20 {
        harness.add_events(round * 100..round * 100 + 100, round % 7);
        assert_eq!(harness.wait_for_attempts(100), [AttemptResult::Delivered; 100]);
    }
    assert_eq!(harness.running.stop(TIMEOUT), StopResult { abandoned: 0 });
    assert_eq!(harness.store.count_in_state(EventState::Delivered), 2_000);
}

#[test]
fn a_large_backlog_is_delivered() {
    let harness = start_dispatcher(|_| attempt_outcome(None));
    for provider in 0..5 {
        harness.add_events(provider * 4_000..(provider + 1) * 4_000, provider);
    }
    harness.wait_for_attempts(20_000);
    assert_eq!(harness.running.stop(TIMEOUT), StopResult { abandoned: 0 });
    assert_eq!(harness.store.count_in_state(EventState::Delivered), 20_000);
}

#[test]
fn a_retry_that_falls_due_is_found_without_a_wake_up() {
    let limits = DispatcherLimits { scan_interval: Duration::from_millis(5), ..DispatcherLimits::default() };
    let harness = start_with_limits(limits, |_| attempt_outcome(Some("no response in time")));
    harness.add_events(0..1, 1);
    assert_eq!(harness.wait_for_attempts(1), [AttemptResult::Failed]);
    *harness.clock.0.lock().unwrap() = Duration::from_secs(15);
    assert_eq!(harness.wait_for_attempts(1), [AttemptResult::Failed]);
    assert_eq!(harness.running.stop(TIMEOUT), StopResult { abandoned: 0 });
    harness.store.with_data(|data| assert_eq!(data.rows[&event_id(0)].attempts.len(), 2));
}

#[test]
fn events_are_delivered_after_the_clock_was_set_back() {
    let limits = DispatcherLimits { scan_interval: Duration::from_millis(5), ..DispatcherLimits::default() };
    let harness = start_with_limits(limits, |_| attempt_outcome(None));
    let ahead = Duration::from_secs(7_200);
    *harness.clock.0.lock().unwrap() = ahead;
    harness.add_events(0..1, 1);
    harness.wait_for_attempts(1); // the outbox was read at that time
    harness.store.add_event(event_id(1), 1, START + ahead + TIMEOUT);
    *harness.clock.0.lock().unwrap() = Duration::ZERO;
    assert_eq!(harness.wait_for_attempts(1), [AttemptResult::Delivered]);
    assert_eq!(harness.running.stop(TIMEOUT), StopResult { abandoned: 0 });
}

#[test]
fn receivers_that_hang_delay_no_others() {
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    // During a backlog, the outbox is read more often. This finds the events of providers that had no room at the last
    // read.
    let harness = start_with_limits(DispatcherLimits::default(), move |request| {
        if request.provider.callback_url.as_deref() != Some("https://99.example/hook") {
            let _over = released.lock().unwrap().recv();
        }
        attempt_outcome(None)
    });
    for provider in 0..50 {
        harness.add_events(provider * 100..provider * 100 + 100, provider);
    }
    harness.add_events(90_000..90_500, 99);
    assert_eq!(harness.wait_for_attempts(500), [AttemptResult::Delivered; 500]);
    drop(release);
    harness.wait_for_attempts(5_000);
    assert_eq!(harness.running.stop(TIMEOUT), StopResult { abandoned: 0 });
    assert_eq!(harness.store.count_in_state(EventState::Delivered), 5_500);
}

#[test]
fn stopping_waits_for_attempts_in_progress_and_releases_the_rest() {
    let (started_sender, started) = channel();
    let (release, released) = channel::<()>();
    let (started_sender, released) = (Mutex::new(started_sender), Mutex::new(released));
    let harness = start_dispatcher(move |_| {
        started_sender.lock().unwrap().send(()).unwrap();
        let _over = released.lock().unwrap().recv();
        attempt_outcome(None)
    });
    harness.add_events(0..100, 1);
    (0..8).for_each(|_| started.recv().unwrap());
    let (running, store) = (harness.running, harness.store);
    let stopping = std::thread::spawn(move || running.stop(TIMEOUT));
    drop(release);
    assert_eq!(stopping.join().unwrap(), StopResult { abandoned: 0 });
    let delivered = store.count_in_state(EventState::Delivered);
    assert!(delivered >= 8, "{delivered}");
    store.with_data(|data| {
        let pending = data.rows.values().filter(|row| row.state == EventState::Pending);
        assert!(pending.clone().all(|row| row.due <= START), "an event is still leased");
        assert_eq!(pending.count(), 100 - delivered);
    });
}

#[test]
fn stopping_does_not_wait_beyond_its_deadline() {
    let (started_sender, started) = channel();
    let (_never, released) = channel::<()>();
    let (started_sender, released) = (Mutex::new(started_sender), Mutex::new(released));
    let harness = start_dispatcher(move |_| {
        started_sender.lock().unwrap().send(()).unwrap();
        let _over = released.lock().unwrap().recv();
        attempt_outcome(None)
    });
    harness.add_events(0..3, 1);
    (0..3).for_each(|_| started.recv().unwrap());
    assert_eq!(harness.running.stop(Duration::from_millis(1)), StopResult { abandoned: 3 });
}

#[test]
fn nothing_is_lost_while_the_database_is_unavailable() {
    let limits = DispatcherLimits { error_backoff: Duration::from_millis(5), ..DispatcherLimits::default() };
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let harness = start_with_limits(limits, move |_| {
        let _over = released.lock().unwrap().recv();
        attempt_outcome(None)
    });
    harness.add_events(0..8, 1);
    (0..4).for_each(|_| release.send(()).unwrap());
    harness.wait_for_attempts(4);
    harness.store.with_data(|data| data.is_unavailable = true);
    drop(release);
    harness.wait_for_attempts(4);
    harness.add_events(8..50, 1);
    harness.store.with_data(|data| data.is_unavailable = false);
    harness.wait_for_attempts(42);
    assert_eq!(harness.running.stop(TIMEOUT), StopResult { abandoned: 0 });
    assert_eq!(harness.store.count_in_state(EventState::Delivered), 50);
    harness.store.with_data(|data| assert!(data.rows.values().all(|row| row.attempts.len() == 1)));
}

#[test]
fn a_panic_costs_one_attempt() {
    let harness = start_dispatcher(|request| {
        assert!(request.event != event_id(3), "a fault");
        attempt_outcome(None)
    });
    harness.add_events(0..100, 1);
    let results = harness.wait_for_attempts(100);
    assert_eq!(results.iter().filter(|result| **result == AttemptResult::Failed).count(), 1);
    assert_eq!(harness.running.stop(TIMEOUT), StopResult { abandoned: 0 });
    harness.store.with_data(|data| {
        let attempt = &data.rows[&event_id(3)].attempts[0];
        assert_eq!(attempt.error.as_deref(), Some("an error in this service"));
    });
}

#[test]
fn an_idle_dispatcher_stops_immediately() {
    let dispatcher = Dispatcher {
        store: Arc::<MemoryDeliveryStore>::default(),
        sender: Arc::new(FnSender(|_: &DeliveryRequest<'_>| attempt_outcome(None))),
        clock: Arc::<SettableClock>::default(),
        ids: Arc::new(SequentialIds::default()),
        schedule: RetrySchedule::default(),
        limits: DispatcherLimits::default(),
        observer: Arc::new(NoObserver),
        wake: Notifier::default(),
        processes: ProcessCount::default(),
    };
    assert_eq!(dispatcher.start().unwrap().stop(TIMEOUT), StopResult { abandoned: 0 });
}
