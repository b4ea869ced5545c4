use std::collections::HashMap;
use std::time::Duration;

use guerdon_domain::events::EventState;

use super::provider_id;
use super::simulation::Simulation;

const HANGING: u64 = 50;
const HEALTHY: u64 = 1_000;
const FAST_RESPONSE: Duration = Duration::from_millis(1);

/// Returns the times from the commit to the end of the attempt for all events of the healthy provider, in ascending
/// order.
fn healthy_latencies(simulation: &Simulation) -> Vec<Duration> {
    let healthy = provider_id(HEALTHY);
    let mut latencies: Vec<_> = simulation.store.with_data(|data| {
        let of_healthy = |sent: &&super::simulation::SentAttempt| data.rows[&sent.event].provider == healthy;
        simulation
            .sent
            .iter()
            .filter(of_healthy)
            .map(|sent| sent.ended - simulation.created[&sent.event])
            .collect()
    });
    latencies.sort_unstable();
    latencies
}

fn add_healthy_events(simulation: &mut Simulation, from: Duration, count: u32) {
    for event in 0..count {
        simulation.add_event_at(from + Duration::from_millis(20) * event, HEALTHY);
    }
}

#[test]
fn fifty_hanging_receivers_with_a_backlog_delay_no_others() {
    let healthy = provider_id(HEALTHY);
    let receiver = move |provider, _, _| match provider == healthy {
        true => (FAST_RESPONSE, true),
        false => (Duration::from_secs(15), false),
    };
    let mut simulation = Simulation::new(Box::new(receiver));
    simulation.add_dispatcher();
    for provider in 1..=HANGING {
        simulation.add_backlog(provider, 2_000);
    }
    add_healthy_events(&mut simulation, Duration::from_secs(1), 2_000);
    simulation.run_until(Duration::from_secs(50));

    let latencies = healthy_latencies(&simulation);
    assert_eq!(latencies.len(), 2_000);
    assert!(latencies[1_980] <= Duration::from_millis(20), "p99 is {:?}", latencies[1_980]);
    assert!(latencies[1_999] <= Duration::from_millis(100), "the slowest took {:?}", latencies[1_999]);
    assert_eq!(simulation.in_flight_peak, 400 + 1);
}

#[test]
fn receivers_that_all_start_to_hang_delay_others_only_briefly() {
    for response_time in [1, 5, 40] {
        let healthy = provider_id(HEALTHY);
        let response_time = Duration::from_millis(response_time);
        let receiver = move |provider, _, at| match provider == healthy || at < Duration::from_secs(5) {
            true => (response_time, true),
            false => (Duration::from_secs(15), false),
        };
        let mut simulation = Simulation::new(Box::new(receiver));
        simulation.add_dispatcher();
        for provider in 1..=HANGING {
            for event in 0..300 {
                simulation.add_event_at(Duration::from_millis(20) * event, provider);
            }
        }
        add_healthy_events(&mut simulation, Duration::ZERO, 500);
        simulation.run_until(Duration::from_secs(25));

        let latencies = healthy_latencies(&simulation);
        assert_eq!(latencies.len(), 500);
        assert!(latencies[499] <= Duration::from_millis(300), "the slowest took {:?}", latencies[499]);
    }
}

#[test]
fn a_receiver_that_hangs_every_other_time_delays_no_others() {
    let healthy = provider_id(HEALTHY);
    let mut calls = 0_u32;
    let receiver = move |provider, _, _| {
        calls += 1;
        match provider == healthy || calls.is_multiple_of(2) {
            true => (FAST_RESPONSE, true),
            false => (Duration::from_secs(15), false),
        }
    };
    let mut simulation = Simulation::new(Box::new(receiver));
    simulation.add_dispatcher();
    for provider in 1..=HANGING {
        simulation.add_backlog(provider, 2_000);
    }
    add_healthy_events(&mut simulation, Duration::from_secs(1), 2_000);
    simulation.run_until(Duration::from_secs(60));
    let latencies = healthy_latencies(&simulation);
    assert_eq!(latencies.len(), 2_000);
    assert!(latencies[1_999] <= Duration::from_secs(1), "the slowest took {:?}", latencies[1_999]);
}

#[test]
fn a_fast_receiver_is_served_as_fast_as_it_responds() {
    let mut simulation = Simulation::new(Box::new(|_, _, _| (Duration::from_millis(1), true)));
    simulation.settlement_time = Duration::from_millis(1);
    let dispatcher = simulation.add_dispatcher();
    simulation.add_backlog(1, 20_000);
    simulation.wake_dispatcher(dispatcher);
    simulation.run_until(Duration::from_secs(3600));
    assert_eq!(simulation.store.count_in_state(EventState::Delivered), 20_000);
    let last = simulation.sent.last().unwrap().ended;
    // Four senders that need a millisecond per attempt, or eight attempts in flight that need two milliseconds each,
    // would take five seconds.
    assert!(last <= Duration::from_secs(7), "took {last:?}");
}

#[test]
fn providers_are_served_in_turn() {
    let mut simulation = Simulation::new(Box::new(|_, _, _| (Duration::from_millis(5), true)));
    let dispatcher = simulation.add_dispatcher();
    for provider in 1..=200 {
        simulation.add_backlog(provider, 50);
    }
    simulation.wake_dispatcher(dispatcher);
    simulation.run_until(Duration::from_secs(3600));
    assert_eq!(simulation.sent.len(), 10_000);
    let mut half: HashMap<_, usize> = HashMap::new();
    for sent in &simulation.sent[..5_000] {
        *half.entry(simulation.store.with_data(|data| data.rows[&sent.event].provider)).or_default() += 1;
    }
    assert_eq!(half.len(), 200);
    assert!(half.values().all(|count| (8..=42).contains(count)), "{half:?}");
}
