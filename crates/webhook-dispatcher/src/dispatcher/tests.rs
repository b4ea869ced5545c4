//! Tests of the threads, with a journal in memory and scripted couriers. Tests wait for conditions; none depends on
//! timing.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use guerdon_domain::events::EventState;
use guerdon_domain::ports::{Clock, Processes, Timestamp, Wake};
use guerdon_domain::values::ProviderId;

use super::core::tests::journal::Memory;
use super::core::tests::{Counting, START, event_id};
use super::{AttemptResult, Dispatcher, DispatcherLimits, NoObserver, Observer, Running, Stopped};
use crate::courier::{Courier, Order, Outcome};
use crate::schedule::Schedule;

const LONG: Duration = Duration::from_secs(60);

/// A clock that shows `START` plus a duration that the test sets.
#[derive(Default)]
struct Told(Mutex<Duration>);

impl Clock for Told {
    fn now(&self) -> Timestamp {
        START + *self.0.lock().unwrap()
    }
}

fn outcome(cause: Option<&str>) -> Outcome {
    Outcome {
        started_at: START,
        ended_at: START,
        duration: Duration::from_micros(100),
        status: cause.is_none().then_some(200),
        cause: cause.map(str::to_owned),
        answer: Vec::new(),
    }
}

/// A courier over a closure.
struct By<F>(F);

impl<F: Fn(&Order<'_>) -> Outcome + Send + Sync> Courier for By<F> {
    fn attempt(&self, order: &Order<'_>) -> Outcome {
        (self.0)(order)
    }
}

/// Reports every attempt that ended.
struct TellsEnds(Mutex<Sender<AttemptResult>>);

impl Observer for TellsEnds {
    fn attempt_ended(&self, _provider: ProviderId, result: AttemptResult, _took: Duration) {
        let _nobody_listens = self.0.lock().unwrap().send(result);
    }
}

struct Bench {
    journal: Arc<Memory>,
    clock: Arc<Told>,
    wake: Wake,
    running: Running,
    ended: Receiver<AttemptResult>,
}

fn bench(courier: impl Fn(&Order<'_>) -> Outcome + Send + Sync + 'static) -> Bench {
    bench_with(DispatcherLimits { scan: LONG * 60, ..DispatcherLimits::default() }, courier)
}

fn bench_with(
    limits: DispatcherLimits,
    courier: impl Fn(&Order<'_>) -> Outcome + Send + Sync + 'static,
) -> Bench {
    let (journal, clock, wake) = (Arc::<Memory>::default(), Arc::<Told>::default(), Wake::default());
    let (tell, ended) = channel();
    let dispatcher = Dispatcher {
        journal: Arc::<Memory>::clone(&journal),
        courier: Arc::new(By(courier)),
        clock: Arc::<Told>::clone(&clock),
        ids: Arc::new(Counting::default()),
        schedule: Schedule::default(),
        limits,
        observer: Arc::new(TellsEnds(Mutex::new(tell))),
        wake: wake.clone(),
        processes: Processes::default(),
    };
    Bench { journal, clock, wake, running: dispatcher.start().unwrap(), ended }
}

impl Bench {
    fn add(&self, events: std::ops::Range<u64>, provider: u64) {
        events.for_each(|number| self.journal.add(event_id(number), provider, START));
        self.wake.wake();
    }

    fn wait_for(&self, attempts: usize) -> Vec<AttemptResult> {
        (0..attempts).map(|_| self.ended.recv_timeout(LONG).expect("an attempt is missing")).collect()
    }
}

#[test]
fn what_is_due_is_delivered_and_settled_when_the_bell_rings() {
    let bench = bench(|_| outcome(None));
    for round in 0..20 {
        bench.add(round * 100..round * 100 + 100, round % 7);
        assert_eq!(bench.wait_for(100), [AttemptResult::Delivered; 100]);
    }
    assert_eq!(bench.running.stop(LONG), Stopped { abandoned: 0 });
    assert_eq!(bench.journal.count(EventState::Delivered), 2_000);
}

#[test]
fn a_large_backlog_is_worked_off() {
    let bench = bench(|_| outcome(None));
    for provider in 0..5 {
        bench.add(provider * 4_000..(provider + 1) * 4_000, provider);
    }
    bench.wait_for(20_000);
    assert_eq!(bench.running.stop(LONG), Stopped { abandoned: 0 });
    assert_eq!(bench.journal.count(EventState::Delivered), 20_000);
}

#[test]
fn a_retry_that_falls_due_is_found_without_a_bell() {
    let limits = DispatcherLimits { scan: Duration::from_millis(5), ..DispatcherLimits::default() };
    let bench = bench_with(limits, |_| outcome(Some("no answer in time")));
    bench.add(0..1, 1);
    assert_eq!(bench.wait_for(1), [AttemptResult::Failed]);
    *bench.clock.0.lock().unwrap() = Duration::from_secs(15);
    assert_eq!(bench.wait_for(1), [AttemptResult::Failed]);
    assert_eq!(bench.running.stop(LONG), Stopped { abandoned: 0 });
    bench.journal.with(|book| assert_eq!(book.rows[&event_id(0)].attempts.len(), 2));
}

#[test]
fn what_waits_by_a_clock_that_is_set_back_is_delivered() {
    let limits = DispatcherLimits { scan: Duration::from_millis(5), ..DispatcherLimits::default() };
    let bench = bench_with(limits, |_| outcome(None));
    let ahead = Duration::from_secs(7_200);
    *bench.clock.0.lock().unwrap() = ahead;
    bench.add(0..1, 1);
    bench.wait_for(1); // the outbox was read at that time
    bench.journal.add(event_id(1), 1, START + ahead + LONG);
    *bench.clock.0.lock().unwrap() = Duration::ZERO;
    assert_eq!(bench.wait_for(1), [AttemptResult::Delivered]);
    assert_eq!(bench.running.stop(LONG), Stopped { abandoned: 0 });
}

#[test]
fn receivers_that_hang_hold_up_nobody() {
    let (go_on, held) = channel::<()>();
    let held = Mutex::new(held);
    // Providers that had no room when the outbox was read are found by the more frequent reads during a backlog.
    let bench = bench_with(DispatcherLimits::default(), move |order| {
        if order.provider.callback_url.as_deref() != Some("https://99.example/hook") {
            let _over = held.lock().unwrap().recv();
        }
        outcome(None)
    });
    for provider in 0..50 {
        bench.add(provider * 100..provider * 100 + 100, provider);
    }
    bench.add(90_000..90_500, 99);
    assert_eq!(bench.wait_for(500), [AttemptResult::Delivered; 500]);
    drop(go_on);
    bench.wait_for(5_000);
    assert_eq!(bench.running.stop(LONG), Stopped { abandoned: 0 });
    assert_eq!(bench.journal.count(EventState::Delivered), 5_500);
}

#[test]
fn stopping_waits_for_attempts_under_way_and_gives_the_rest_back() {
    let (begun, begins) = channel();
    let (go_on, held) = channel::<()>();
    let (begun, held) = (Mutex::new(begun), Mutex::new(held));
    let bench = bench(move |_| {
        begun.lock().unwrap().send(()).unwrap();
        let _over = held.lock().unwrap().recv();
        outcome(None)
    });
    bench.add(0..100, 1);
    (0..8).for_each(|_| begins.recv().unwrap());
    let (running, journal) = (bench.running, bench.journal);
    let stopping = std::thread::spawn(move || running.stop(LONG));
    drop(go_on);
    assert_eq!(stopping.join().unwrap(), Stopped { abandoned: 0 });
    let delivered = journal.count(EventState::Delivered);
    assert!(delivered >= 8, "{delivered}");
    journal.with(|book| {
        let pending = book.rows.values().filter(|row| row.state == EventState::Pending);
        assert!(pending.clone().all(|row| row.due <= START), "something is still leased");
        assert_eq!(pending.count(), 100 - delivered);
    });
}

#[test]
fn stopping_does_not_wait_beyond_its_deadline() {
    let (begun, begins) = channel();
    let (_never, held) = channel::<()>();
    let (begun, held) = (Mutex::new(begun), Mutex::new(held));
    let bench = bench(move |_| {
        begun.lock().unwrap().send(()).unwrap();
        let _over = held.lock().unwrap().recv();
        outcome(None)
    });
    bench.add(0..3, 1);
    (0..3).for_each(|_| begins.recv().unwrap());
    assert_eq!(bench.running.stop(Duration::from_millis(1)), Stopped { abandoned: 3 });
}

#[test]
fn a_database_that_comes_back_finds_nothing_lost() {
    let limits = DispatcherLimits { back_off: Duration::from_millis(5), ..DispatcherLimits::default() };
    let (go_on, held) = channel::<()>();
    let held = Mutex::new(held);
    let bench = bench_with(limits, move |_| {
        let _over = held.lock().unwrap().recv();
        outcome(None)
    });
    bench.add(0..8, 1);
    (0..4).for_each(|_| go_on.send(()).unwrap());
    bench.wait_for(4);
    bench.journal.with(|book| book.is_away = true);
    drop(go_on);
    bench.wait_for(4);
    bench.add(8..50, 1);
    bench.journal.with(|book| book.is_away = false);
    bench.wait_for(42);
    assert_eq!(bench.running.stop(LONG), Stopped { abandoned: 0 });
    assert_eq!(bench.journal.count(EventState::Delivered), 50);
    bench.journal.with(|book| assert!(book.rows.values().all(|row| row.attempts.len() == 1)));
}

#[test]
fn a_fault_of_ours_costs_one_attempt() {
    let bench = bench(|order| {
        assert!(order.event != event_id(3), "a fault");
        outcome(None)
    });
    bench.add(0..100, 1);
    let results = bench.wait_for(100);
    assert_eq!(results.iter().filter(|result| **result == AttemptResult::Failed).count(), 1);
    assert_eq!(bench.running.stop(LONG), Stopped { abandoned: 0 });
    bench.journal.with(|book| {
        let attempt = &book.rows[&event_id(3)].attempts[0];
        assert_eq!(attempt.cause.as_deref(), Some("a fault of the service"));
    });
}

#[test]
fn one_that_nobody_uses_stops_at_once() {
    let dispatcher = Dispatcher {
        journal: Arc::<Memory>::default(),
        courier: Arc::new(By(|_: &Order<'_>| outcome(None))),
        clock: Arc::<Told>::default(),
        ids: Arc::new(Counting::default()),
        schedule: Schedule::default(),
        limits: DispatcherLimits::default(),
        observer: Arc::new(NoObserver),
        wake: Wake::default(),
        processes: Processes::default(),
    };
    assert_eq!(dispatcher.start().unwrap().stop(LONG), Stopped { abandoned: 0 });
}
