use std::time::Duration;

use guerdon_domain::events::EventState;

use super::event_id;
use super::simulation::{Simulation, wall_time};
use crate::schedule::RetrySchedule;

const ATTEMPT_DURATION: Duration = Duration::from_millis(1_234);
const RETRY_PERIOD: Duration = Duration::from_secs(30 * 86_400);

#[test]
fn a_receiver_that_always_fails_gets_eleven_attempts_with_the_exact_waits() {
    let mut simulation = Simulation::new(Box::new(|_, _, _| (ATTEMPT_DURATION, false)));
    simulation.add_dispatcher();
    simulation.add_event_at(Duration::from_secs(5), 1);
    simulation.run_until(RETRY_PERIOD);

    assert_eq!(simulation.sent.len(), 11);
    assert_eq!(simulation.sent[0].started, Duration::from_secs(5));
    for (retry, pair) in (0..).zip(simulation.sent.windows(2)) {
        assert_eq!(
            Some(pair[1].started - pair[0].ended),
            RetrySchedule::default().retry_wait(retry),
            "retry {retry}"
        );
    }
    simulation.store.with_data(|data| {
        let row = &data.rows[&event_id(1)];
        assert_eq!(row.state, EventState::Exhausted);
        let numbers: Vec<_> = row.attempts.iter().map(|attempt| attempt.number).collect();
        assert_eq!(numbers, (1..=11).collect::<Vec<_>>());
        for (attempt, sent) in row.attempts.iter().zip(&simulation.sent) {
            assert_eq!((attempt.started_at, attempt.duration), (wall_time(sent.started), ATTEMPT_DURATION));
            assert_eq!((attempt.status, attempt.error.as_deref()), (Some(503), Some("status 503")));
        }
    });
}

#[test]
fn a_confirmed_event_is_sent_once() {
    let mut simulation = Simulation::new(Box::new(|_, _, _| (ATTEMPT_DURATION, true)));
    simulation.add_dispatcher();
    simulation.add_event_at(Duration::ZERO, 1);
    simulation.run_until(RETRY_PERIOD);
    assert_eq!(simulation.sent.len(), 1);
    simulation.store.with_data(|data| {
        let row = &data.rows[&event_id(1)];
        assert_eq!((row.state, row.attempts.len()), (EventState::Delivered, 1));
        assert_eq!((row.attempts[0].number, row.attempts[0].error.as_ref()), (1, None));
    });
}

#[test]
fn a_confirmation_ends_the_schedule_at_every_attempt() {
    for confirmed_at in 1..=11 {
        let mut attempts = 0;
        let receiver = move |_, _, _| {
            attempts += 1;
            (ATTEMPT_DURATION, attempts == confirmed_at)
        };
        let mut simulation = Simulation::new(Box::new(receiver));
        simulation.add_dispatcher();
        simulation.add_event_at(Duration::ZERO, 1);
        simulation.run_until(RETRY_PERIOD);
        assert_eq!(simulation.sent.len(), confirmed_at);
        assert_eq!(simulation.store.count_in_state(EventState::Delivered), 1);
    }
}

#[test]
fn a_replay_restarts_the_schedule_and_continues_the_attempt_numbers() {
    let mut simulation = Simulation::new(Box::new(|_, _, _| (ATTEMPT_DURATION, false)));
    let dispatcher = simulation.add_dispatcher();
    simulation.add_event_at(Duration::ZERO, 1);
    simulation.run_until(RETRY_PERIOD);
    simulation.store.replay_event(event_id(1), wall_time(simulation.now));
    simulation.wake_dispatcher(dispatcher);
    simulation.run_until(RETRY_PERIOD * 2);
    assert_eq!(simulation.sent.len(), 22);
    for (retry, pair) in (0..).zip(simulation.sent[11..].windows(2)) {
        assert_eq!(
            Some(pair[1].started - pair[0].ended),
            RetrySchedule::default().retry_wait(retry),
            "retry {retry}"
        );
    }
    simulation.store.with_data(|data| {
        let row = &data.rows[&event_id(1)];
        assert_eq!((row.state, row.attempts.len()), (EventState::Exhausted, 22));
        assert_eq!(row.attempts.last().unwrap().number, 22);
    });
}

#[test]
fn an_event_without_a_callback_url_is_not_attempted() {
    let mut simulation = Simulation::new(Box::new(|_, _, _| (ATTEMPT_DURATION, true)));
    let dispatcher = simulation.add_dispatcher();
    simulation.add_backlog(1, 100);
    simulation.store.with_data(|data| {
        data.providers.values_mut().for_each(|provider| provider.callback_url = None);
    });
    simulation.wake_dispatcher(dispatcher);
    simulation.run_until(RETRY_PERIOD);
    assert!(simulation.sent.is_empty());
    assert_eq!(simulation.store.count_in_state(EventState::Unaddressed), 100);
}

#[test]
fn an_unavailable_database_loses_and_duplicates_nothing() {
    let mut simulation = Simulation::new(Box::new(|_, _, _| (Duration::from_millis(10), true)));
    simulation.add_dispatcher();
    for event in 0..200 {
        simulation.add_event_at(Duration::from_millis(event), 1);
    }
    for (at, is_away) in [(50, true), (30_000, false), (30_050, true), (130_000, false)] {
        simulation.call_at(Duration::from_millis(at), move |simulation| {
            simulation.store.with_data(|data| data.is_unavailable = is_away);
        });
    }
    simulation.run_until(RETRY_PERIOD);
    assert_eq!(simulation.store.count_in_state(EventState::Delivered), 200);
    assert_eq!(simulation.sent.len(), 200);
}

#[test]
fn a_settlement_that_the_store_rejects_does_not_block_others() {
    let mut simulation = Simulation::new(Box::new(|_, _, _| (Duration::from_millis(10), true)));
    let dispatcher = simulation.add_dispatcher();
    simulation.add_backlog(1, 500);
    simulation.store.with_data(|data| data.failing_event = Some(event_id(3)));
    simulation.wake_dispatcher(dispatcher);
    simulation.run_until(Duration::from_secs(50));
    assert_eq!(simulation.store.count_in_state(EventState::Delivered), 499);
    simulation.store.with_data(|data| data.failing_event = None);
    simulation.run_until(RETRY_PERIOD);
    assert_eq!(simulation.store.count_in_state(EventState::Delivered), 500);
    assert_eq!(simulation.sent.len(), 500);
}
