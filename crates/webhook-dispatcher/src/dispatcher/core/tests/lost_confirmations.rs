//! Tests of settlements that are written but whose confirmation is lost. They are written again, possibly after their
//! events were claimed again.

use std::collections::HashMap;
use std::time::Duration;

use guerdon_domain::events::EventState;
use guerdon_test_support::Random;

use super::event_id;
use super::simulation::{Simulation, wall_time};

const RETRY_PERIOD: Duration = Duration::from_secs(30 * 86_400);

/// Loses the confirmation of every write in this period.
fn lose_confirmations(simulation: &mut Simulation, start: Duration, end: Duration) {
    for (at, loses) in [(start, true), (end, false)] {
        simulation.call_at(at, move |simulation| {
            simulation.store.with_data(|data| data.loses_confirmations = loses)
        });
    }
}

fn make_unavailable(simulation: &mut Simulation, start: Duration, end: Duration) {
    for (at, away) in [(start, true), (end, false)] {
        simulation
            .call_at(at, move |simulation| simulation.store.with_data(|data| data.is_unavailable = away));
    }
}

/// Checks that every event has a final state, was sent as often as attempts are recorded, has consecutive attempt
/// numbers, and that nothing is in flight.
fn assert_consistent(simulation: &Simulation, dispatchers: &[usize], seed: u64) {
    let mut sent: HashMap<_, usize> = HashMap::new();
    simulation.sent.iter().for_each(|attempt| *sent.entry(attempt.event).or_default() += 1);
    simulation.store.with_data(|data| {
        assert!(data.confirmations_lost > 0, "seed {seed} loses no confirmation");
        for (event, row) in &data.rows {
            assert_ne!(row.state, EventState::Pending, "seed {seed}: {event} is stuck");
            assert_eq!(row.lease, None);
            assert_eq!(row.attempts.len(), sent[event], "seed {seed}: {event}");
            assert_eq!(
                usize::try_from(row.attempts_made).unwrap(),
                sent[event],
                "seed {seed}: {event} has a wrong count"
            );
            let numbers: Vec<_> = row.attempts.iter().map(|attempt| attempt.number).collect();
            assert_eq!(numbers, (1..=row.attempts_made).collect::<Vec<_>>(), "seed {seed}: {event}");
        }
    });
    for dispatcher in dispatchers {
        simulation.with_core(*dispatcher, |core| {
            assert_eq!(core.in_flight(), 0, "seed {seed}: attempts are still in flight");
            assert!(core.is_empty(), "seed {seed}: events are still held");
        });
    }
}

#[test]
fn a_lost_confirmation_blocks_no_sender_and_duplicates_nothing() {
    let mut simulation = Simulation::new(Box::new(|_, _, _| (Duration::from_millis(10), true)));
    let dispatcher = simulation.add_dispatcher();
    simulation.add_backlog(1, 500);
    lose_confirmations(&mut simulation, Duration::ZERO, Duration::from_secs(5));
    simulation.wake_dispatcher(dispatcher);
    simulation.run_until(RETRY_PERIOD);
    assert_eq!(simulation.store.count_in_state(EventState::Delivered), 500);
    assert_eq!(simulation.sent.len(), 500);
    assert_consistent(&simulation, &[dispatcher], 0);
}

/// Retries fall due before the core learns that the earlier attempts were written, so events are claimed again before
/// that.
#[test]
fn attempts_count_once_despite_many_lost_confirmations() {
    for seed in 0..8 {
        let mut dice = Random(seed);
        let receiver =
            move |_, _, _| (Duration::from_millis(1 + dice.number_below(40)), dice.number_below(3) > 0);
        let mut simulation = Simulation::new(Box::new(receiver));
        let dispatcher = simulation.add_dispatcher();
        // The events are so few that no provider reaches its limit of attempts in flight before its first retries fall
        // due.
        for event in 0..600 {
            simulation.add_event_at(Duration::from_millis(300 * event), 1 + event % 7);
        }
        let mut dice = Random(seed ^ 0x5eed);
        for round in 0..12 {
            let start = Duration::from_secs(16 * round) + Duration::from_millis(dice.number_below(16_000));
            let end = start + Duration::from_millis(dice.number_below(40_000));
            if dice.number_below(3) > 0 {
                lose_confirmations(&mut simulation, start, end);
            } else {
                // Shorter than a lease, because an event whose lease expires is claimed and sent again.
                make_unavailable(
                    &mut simulation,
                    start,
                    start + Duration::from_millis(dice.number_below(4_000)),
                );
            }
        }
        simulation.call_at(Duration::from_secs(260), |simulation| {
            simulation
                .store
                .with_data(|data| (data.loses_confirmations, data.is_unavailable) = (false, false));
        });
        simulation.run_until(RETRY_PERIOD);
        assert_consistent(&simulation, &[dispatcher], seed);
        assert!(simulation.store.count_in_state(EventState::Delivered) > 550);
    }
}

#[test]
fn an_event_replayed_before_its_settlement_is_confirmed_is_sent_again() {
    let mut simulation = Simulation::new(Box::new(|_, _, _| (Duration::from_millis(10), true)));
    let dispatcher = simulation.add_dispatcher();
    simulation.add_event_at(Duration::ZERO, 1);
    lose_confirmations(&mut simulation, Duration::ZERO, Duration::from_secs(8));
    simulation.run_until(Duration::from_secs(1));
    assert_eq!(simulation.store.count_in_state(EventState::Delivered), 1, "written, but not confirmed");
    simulation.store.replay_event(event_id(1), wall_time(simulation.now));
    simulation.wake_dispatcher(dispatcher);
    simulation.run_until(RETRY_PERIOD);
    assert_eq!(simulation.sent.len(), 2, "the event is sent again for the replay");
    assert_consistent(&simulation, &[dispatcher], 0);
}

#[test]
fn an_event_that_gets_a_callback_url_before_its_settlement_is_confirmed_is_sent() {
    let mut simulation = Simulation::new(Box::new(|_, _, _| (Duration::from_millis(10), true)));
    let dispatcher = simulation.add_dispatcher();
    simulation.add_backlog(1, 1);
    simulation.store.with_data(|data| {
        data.providers.values_mut().for_each(|provider| provider.callback_url = None);
    });
    lose_confirmations(&mut simulation, Duration::ZERO, Duration::from_secs(8));
    simulation.wake_dispatcher(dispatcher);
    simulation.run_until(Duration::from_secs(1));
    assert_eq!(simulation.store.count_in_state(EventState::Unaddressed), 1, "written, but not confirmed");
    simulation.store.with_data(|data| {
        data.providers
            .values_mut()
            .for_each(|provider| provider.callback_url = Some("https://1.example/hook".to_owned()));
    });
    simulation.store.replay_event(event_id(1), wall_time(simulation.now));
    simulation.wake_dispatcher(dispatcher);
    simulation.run_until(RETRY_PERIOD);
    assert_consistent(&simulation, &[dispatcher], 0);
    assert_eq!(simulation.store.count_in_state(EventState::Delivered), 1);
    assert_eq!(simulation.sent.len(), 1);
}
