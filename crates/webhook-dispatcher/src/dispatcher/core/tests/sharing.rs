use guerdon_domain::events::EventState;
use std::collections::HashMap;
use std::time::Duration;

use super::Dice;
use super::world::World;

const LONG: Duration = Duration::from_secs(30 * 86_400);

fn receiver(seed: u64) -> super::world::Receiver {
    let mut dice = Dice(seed);
    Box::new(move |_, _, _| {
        let took = [5, 40, 300, 15_000][usize::try_from(dice.below(4)).unwrap()];
        (Duration::from_millis(took), dice.below(4) > 0)
    })
}

fn deliveries(world: &World) -> HashMap<super::EventId, usize> {
    world.sent.iter().filter(|attempt| attempt.confirmed).fold(HashMap::new(), |mut counts, sent| {
        *counts.entry(sent.event).or_default() += 1;
        counts
    })
}

#[test]
fn two_dispatchers_on_one_journal_deliver_nothing_twice() {
    for seed in 0..3 {
        let mut world = World::new(receiver(seed));
        world.add_dispatcher();
        world.add_dispatcher();
        for event in 0..3_000 {
            world.event_at(Duration::from_millis(7 * event), 1 + event % 5);
        }
        world.run_until(LONG);
        assert_eq!(
            world.journal.count(EventState::Delivered) + world.journal.count(EventState::Exhausted),
            3_000
        );
        assert!(deliveries(&world).values().all(|count| *count == 1), "seed {seed}");
        let of_first = world.sent.iter().filter(|attempt| attempt.post == 0).count();
        assert!((500..world.sent.len() - 500).contains(&of_first), "one of them did all the work");
    }
}

#[test]
fn what_a_dead_dispatcher_held_is_delivered_by_another_once_its_leases_end() {
    for seed in 0..6 {
        let mut world = World::new(receiver(seed));
        let victim = world.add_dispatcher();
        for event in 0..2_000 {
            world.event_at(Duration::from_millis(5 * event), 1 + event % 5);
        }
        let died = Duration::from_millis(500 + 1_500 * seed);
        world.die_at(died, victim);
        world.call_at(died, |world| {
            world.add_dispatcher();
        });
        world.run_until(died);
        let in_flight = world.with_core(victim, |core| core.in_flight());
        world.run_until(LONG);
        assert_eq!(
            world.journal.count(EventState::Delivered) + world.journal.count(EventState::Exhausted),
            2_000
        );
        let twice = deliveries(&world).values().filter(|count| **count > 1).count();
        assert!(twice <= in_flight, "seed {seed}: {twice} duplicates, {in_flight} were in flight");
    }
}

#[test]
fn an_outage_longer_than_the_leases_duplicates_nothing_within_one_dispatcher() {
    let mut world = World::new(Box::new(|_, _, _| (Duration::from_millis(100), true)));
    world.add_dispatcher();
    for event in 0..1_000 {
        world.event_at(Duration::from_millis(event), 1);
    }
    world.call_at(Duration::from_millis(700), |world| world.journal.with(|book| book.is_away = true));
    world.call_at(Duration::from_secs(300), |world| world.journal.with(|book| book.is_away = false));
    world.run_until(LONG);
    assert_eq!(world.journal.count(EventState::Delivered), 1_000);
    assert_eq!(world.sent.len(), 1_000);
}
