use guerdon_domain::events::EventState;
use std::collections::HashMap;
use std::time::Duration;

use super::provider_id;
use super::world::World;

const HANGING: u64 = 50;
const HEALTHY: u64 = 1_000;
const QUICK: Duration = Duration::from_millis(1);

/// The times from commit to the end of the attempt for all events of the healthy provider, ascending.
fn latencies(world: &World) -> Vec<Duration> {
    let healthy = provider_id(HEALTHY);
    let mut latencies: Vec<_> = world.journal.with(|book| {
        let of_healthy = |sent: &&super::world::Sent| book.rows[&sent.event].provider == healthy;
        world.sent.iter().filter(of_healthy).map(|sent| sent.ended - world.created[&sent.event]).collect()
    });
    latencies.sort_unstable();
    latencies
}

fn healthy_events(world: &mut World, from: Duration, count: u32) {
    for event in 0..count {
        world.event_at(from + Duration::from_millis(20) * event, HEALTHY);
    }
}

#[test]
fn fifty_hanging_receivers_with_a_backlog_delay_nobody() {
    let healthy = provider_id(HEALTHY);
    let receiver = move |provider, _, _| match provider == healthy {
        true => (QUICK, true),
        false => (Duration::from_secs(15), false),
    };
    let mut world = World::new(Box::new(receiver));
    world.add_dispatcher();
    for provider in 1..=HANGING {
        world.backlog(provider, 2_000);
    }
    healthy_events(&mut world, Duration::from_secs(1), 2_000);
    world.run_until(Duration::from_secs(50));

    let latencies = latencies(&world);
    assert_eq!(latencies.len(), 2_000);
    assert!(latencies[1_980] <= Duration::from_millis(20), "p99 is {:?}", latencies[1_980]);
    assert!(latencies[1_999] <= Duration::from_millis(100), "the slowest took {:?}", latencies[1_999]);
    assert_eq!(world.most_under_way, 400 + 1);
}

#[test]
fn receivers_that_begin_to_hang_all_at_once_delay_the_others_briefly() {
    for takes in [1, 5, 40] {
        let healthy = provider_id(HEALTHY);
        let takes = Duration::from_millis(takes);
        let receiver = move |provider, _, at| match provider == healthy || at < Duration::from_secs(5) {
            true => (takes, true),
            false => (Duration::from_secs(15), false),
        };
        let mut world = World::new(Box::new(receiver));
        world.add_dispatcher();
        for provider in 1..=HANGING {
            for event in 0..300 {
                world.event_at(Duration::from_millis(20) * event, provider);
            }
        }
        healthy_events(&mut world, Duration::ZERO, 500);
        world.run_until(Duration::from_secs(25));

        let latencies = latencies(&world);
        assert_eq!(latencies.len(), 500);
        assert!(latencies[499] <= Duration::from_millis(300), "the slowest took {:?}", latencies[499]);
    }
}

#[test]
fn a_receiver_that_hangs_every_other_time_delays_nobody() {
    let healthy = provider_id(HEALTHY);
    let mut calls = 0_u32;
    let receiver = move |provider, _, _| {
        calls += 1;
        match provider == healthy || calls.is_multiple_of(2) {
            true => (QUICK, true),
            false => (Duration::from_secs(15), false),
        }
    };
    let mut world = World::new(Box::new(receiver));
    world.add_dispatcher();
    for provider in 1..=HANGING {
        world.backlog(provider, 2_000);
    }
    healthy_events(&mut world, Duration::from_secs(1), 2_000);
    world.run_until(Duration::from_secs(60));
    let latencies = latencies(&world);
    assert_eq!(latencies.len(), 2_000);
    assert!(latencies[1_999] <= Duration::from_secs(1), "the slowest took {:?}", latencies[1_999]);
}

#[test]
fn a_quick_receiver_is_served_as_fast_as_it_answers() {
    let mut world = World::new(Box::new(|_, _, _| (Duration::from_millis(1), true)));
    world.settling_takes = Duration::from_millis(1);
    let post = world.add_dispatcher();
    world.backlog(1, 20_000);
    world.ring(post);
    world.run_until(Duration::from_secs(3600));
    assert_eq!(world.journal.count(EventState::Delivered), 20_000);
    let last = world.sent.last().unwrap().ended;
    // Four senders at a millisecond each, or eight in flight at two milliseconds each.
    assert!(last <= Duration::from_secs(7), "took {last:?}");
}

#[test]
fn providers_are_served_in_turn() {
    let mut world = World::new(Box::new(|_, _, _| (Duration::from_millis(5), true)));
    let post = world.add_dispatcher();
    for provider in 1..=200 {
        world.backlog(provider, 50);
    }
    world.ring(post);
    world.run_until(Duration::from_secs(3600));
    assert_eq!(world.sent.len(), 10_000);
    let mut half: HashMap<_, usize> = HashMap::new();
    for sent in &world.sent[..5_000] {
        *half.entry(world.journal.with(|book| book.rows[&sent.event].provider)).or_default() += 1;
    }
    assert_eq!(half.len(), 200);
    assert!(half.values().all(|count| (8..=42).contains(count)), "{half:?}");
}
