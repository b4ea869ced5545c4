use std::collections::HashMap;
use std::time::Duration;

use guerdon_domain::events::EventState;
use guerdon_test_support::Random;

use super::simulation::Simulation;

const RETRY_PERIOD: Duration = Duration::from_secs(30 * 86_400);

fn random_receiver(seed: u64) -> super::simulation::SimulatedReceiver {
    let mut dice = Random(seed);
    Box::new(move |_, _, _| {
        let millis = [5, 40, 300, 15_000][usize::try_from(dice.number_below(4)).unwrap()];
        (Duration::from_millis(millis), dice.number_below(4) > 0)
    })
}

fn count_deliveries(simulation: &Simulation) -> HashMap<super::EventId, usize> {
    simulation.sent.iter().filter(|attempt| attempt.confirmed).fold(HashMap::new(), |mut counts, sent| {
        *counts.entry(sent.event).or_default() += 1;
        counts
    })
}

#[test]
fn two_dispatchers_on_one_store_deliver_nothing_twice() {
    for seed in 0..3 {
        let mut simulation = Simulation::new(random_receiver(seed));
        simulation.add_dispatcher();
        simulation.add_dispatcher();
        for event in 0..3_000 {
            simulation.add_event_at(Duration::from_millis(7 * event), 1 + event % 5);
        }
        simulation.run_until(RETRY_PERIOD);
        assert_eq!(
            simulation.store.count_in_state(EventState::Delivered)
                + simulation.store.count_in_state(EventState::Exhausted),
            3_000
        );
        assert!(count_deliveries(&simulation).values().all(|count| *count == 1), "seed {seed}");
        let of_first = simulation.sent.iter().filter(|attempt| attempt.dispatcher == 0).count();
        assert!((500..simulation.sent.len() - 500).contains(&of_first), "one dispatcher did all the work");
    }
}

#[test]
fn events_of_a_dead_dispatcher_are_delivered_by_another_once_its_leases_end() {
    for seed in 0..6 {
        let mut simulation = Simulation::new(random_receiver(seed));
        let victim = simulation.add_dispatcher();
        for event in 0..2_000 {
            simulation.add_event_at(Duration::from_millis(5 * event), 1 + event % 5);
        }
        let died = Duration::from_millis(500 + 1_500 * seed);
        simulation.crash_at(died, victim);
        simulation.call_at(died, |simulation| {
            simulation.add_dispatcher();
        });
        simulation.run_until(died);
        let in_flight = simulation.with_core(victim, |core| core.in_flight());
        simulation.run_until(RETRY_PERIOD);
        assert_eq!(
            simulation.store.count_in_state(EventState::Delivered)
                + simulation.store.count_in_state(EventState::Exhausted),
            2_000
        );
        let twice = count_deliveries(&simulation).values().filter(|count| **count > 1).count();
        assert!(twice <= in_flight, "seed {seed}: {twice} duplicates, {in_flight} were in flight");
    }
}

#[test]
fn an_outage_longer_than_the_leases_duplicates_nothing_within_one_dispatcher() {
    let mut simulation = Simulation::new(Box::new(|_, _, _| (Duration::from_millis(100), true)));
    simulation.add_dispatcher();
    for event in 0..1_000 {
        simulation.add_event_at(Duration::from_millis(event), 1);
    }
    simulation.call_at(Duration::from_millis(700), |simulation| {
        simulation.store.with_data(|data| data.is_unavailable = true)
    });
    simulation.call_at(Duration::from_secs(300), |simulation| {
        simulation.store.with_data(|data| data.is_unavailable = false)
    });
    simulation.run_until(RETRY_PERIOD);
    assert_eq!(simulation.store.count_in_state(EventState::Delivered), 1_000);
    assert_eq!(simulation.sent.len(), 1_000);
}
