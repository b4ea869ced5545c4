//! Settlements that are written but whose confirmation is lost: they are written again, possibly after their events
//! were claimed again.

use guerdon_domain::events::EventState;
use std::collections::HashMap;
use std::time::Duration;

use super::world::{World, wall};
use super::{Dice, event_id};

const LONG: Duration = Duration::from_secs(30 * 86_400);

/// Loses the confirmation of every write in this period.
fn loses_answers(world: &mut World, from: Duration, until: Duration) {
    for (at, loses) in [(from, true), (until, false)] {
        world.call_at(at, move |world| world.journal.with(|book| book.loses_answers = loses));
    }
}

fn is_away(world: &mut World, from: Duration, until: Duration) {
    for (at, away) in [(from, true), (until, false)] {
        world.call_at(at, move |world| world.journal.with(|book| book.is_away = away));
    }
}

/// Checks that every event is final, was sent as often as its attempts say, has distinct attempt numbers, and that
/// nothing is in flight.
fn check(world: &World, posts: &[usize], seed: u64) {
    let mut sent: HashMap<_, usize> = HashMap::new();
    world.sent.iter().for_each(|attempt| *sent.entry(attempt.event).or_default() += 1);
    world.journal.with(|book| {
        assert!(book.answers_lost > 0, "seed {seed} shows nothing");
        for (event, row) in &book.rows {
            assert_ne!(row.state, EventState::Pending, "seed {seed}: {event} is stuck");
            assert_eq!(row.lease, None);
            assert_eq!(row.attempts.len(), sent[event], "seed {seed}: {event}");
            assert_eq!(
                usize::try_from(row.attempts_made).unwrap(),
                sent[event],
                "seed {seed}: {event} counts another number"
            );
            let numbers: Vec<_> = row.attempts.iter().map(|attempt| attempt.number).collect();
            assert_eq!(numbers, (1..=row.attempts_made).collect::<Vec<_>>(), "seed {seed}: {event}");
        }
    });
    for post in posts {
        world.with_core(*post, |core| {
            assert_eq!(core.in_flight(), 0, "seed {seed}: places are held");
            assert!(core.is_empty(), "seed {seed}: something is held");
        });
    }
}

#[test]
fn an_answer_that_is_lost_holds_no_place_and_sends_nothing_twice() {
    let mut world = World::new(Box::new(|_, _, _| (Duration::from_millis(10), true)));
    let post = world.add_dispatcher();
    world.backlog(1, 500);
    loses_answers(&mut world, Duration::ZERO, Duration::from_secs(5));
    world.ring(post);
    world.run_until(LONG);
    assert_eq!(world.journal.count(EventState::Delivered), 500);
    assert_eq!(world.sent.len(), 500);
    check(&world, &[post], 0);
}

/// Retries fall due before their earlier attempts are known to be written, so events are claimed again before that.
#[test]
fn attempts_count_once_though_answers_are_lost_for_long() {
    for seed in 0..8 {
        let mut dice = Dice(seed);
        let receiver = move |_, _, _| (Duration::from_millis(1 + dice.below(40)), dice.below(3) > 0);
        let mut world = World::new(Box::new(receiver));
        let post = world.add_dispatcher();
        // Few enough that every provider has room in flight when its first retries fall due.
        for event in 0..600 {
            world.event_at(Duration::from_millis(300 * event), 1 + event % 7);
        }
        let mut dice = Dice(seed ^ 0x5eed);
        for round in 0..12 {
            let from = Duration::from_secs(16 * round) + Duration::from_millis(dice.below(16_000));
            let until = from + Duration::from_millis(dice.below(40_000));
            if dice.below(3) > 0 {
                loses_answers(&mut world, from, until);
            } else {
                // Shorter than a lease: once a lease expires, the next dispatcher to claim the event sends it again.
                is_away(&mut world, from, from + Duration::from_millis(dice.below(4_000)));
            }
        }
        world.call_at(Duration::from_secs(260), |world| {
            world.journal.with(|book| (book.loses_answers, book.is_away) = (false, false));
        });
        world.run_until(LONG);
        check(&world, &[post], seed);
        assert!(world.journal.count(EventState::Delivered) > 550);
    }
}

#[test]
fn an_event_that_is_replayed_before_its_end_is_known_is_sent_again() {
    let mut world = World::new(Box::new(|_, _, _| (Duration::from_millis(10), true)));
    let post = world.add_dispatcher();
    world.event_at(Duration::ZERO, 1);
    loses_answers(&mut world, Duration::ZERO, Duration::from_secs(8));
    world.run_until(Duration::from_secs(1));
    assert_eq!(world.journal.count(EventState::Delivered), 1, "it is written, and nobody knows");
    world.journal.replay(event_id(1), wall(world.now));
    world.ring(post);
    world.run_until(LONG);
    assert_eq!(world.sent.len(), 2, "once for the replay");
    check(&world, &[post], 0);
}

#[test]
fn an_event_that_gets_an_address_before_its_end_is_known_is_sent() {
    let mut world = World::new(Box::new(|_, _, _| (Duration::from_millis(10), true)));
    let post = world.add_dispatcher();
    world.backlog(1, 1);
    world.journal.with(|book| {
        book.providers.values_mut().for_each(|provider| provider.callback_url = None);
    });
    loses_answers(&mut world, Duration::ZERO, Duration::from_secs(8));
    world.ring(post);
    world.run_until(Duration::from_secs(1));
    assert_eq!(world.journal.count(EventState::Unaddressed), 1, "it is written, and nobody knows");
    world.journal.with(|book| {
        book.providers
            .values_mut()
            .for_each(|provider| provider.callback_url = Some("https://1.example/hook".to_owned()));
    });
    world.journal.replay(event_id(1), wall(world.now));
    world.ring(post);
    world.run_until(LONG);
    check(&world, &[post], 0);
    assert_eq!(world.journal.count(EventState::Delivered), 1);
    assert_eq!(world.sent.len(), 1);
}
