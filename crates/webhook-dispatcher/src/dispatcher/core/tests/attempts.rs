use guerdon_domain::events::EventState;
use std::time::Duration;

use super::event_id;
use super::world::{World, wall};
use crate::schedule::Schedule;

const TOOK: Duration = Duration::from_millis(1_234);
const LONG: Duration = Duration::from_secs(30 * 86_400);

#[test]
fn a_receiver_that_always_fails_gets_eleven_attempts_with_the_exact_waits() {
    let mut world = World::new(Box::new(|_, _, _| (TOOK, false)));
    world.add_dispatcher();
    world.event_at(Duration::from_secs(5), 1);
    world.run_until(LONG);

    assert_eq!(world.sent.len(), 11);
    assert_eq!(world.sent[0].began, Duration::from_secs(5));
    for (retry, pair) in (0..).zip(world.sent.windows(2)) {
        assert_eq!(Some(pair[1].began - pair[0].ended), Schedule::default().wait(retry), "retry {retry}");
    }
    world.journal.with(|book| {
        let row = &book.rows[&event_id(1)];
        assert_eq!(row.state, EventState::Exhausted);
        let numbers: Vec<_> = row.attempts.iter().map(|attempt| attempt.number).collect();
        assert_eq!(numbers, (1..=11).collect::<Vec<_>>());
        for (attempt, sent) in row.attempts.iter().zip(&world.sent) {
            assert_eq!((attempt.started_at, attempt.duration), (wall(sent.began), TOOK));
            assert_eq!((attempt.status, attempt.cause.as_deref()), (Some(503), Some("status 503")));
        }
    });
}

#[test]
fn a_confirmed_event_is_sent_once() {
    let mut world = World::new(Box::new(|_, _, _| (TOOK, true)));
    world.add_dispatcher();
    world.event_at(Duration::ZERO, 1);
    world.run_until(LONG);
    assert_eq!(world.sent.len(), 1);
    world.journal.with(|book| {
        let row = &book.rows[&event_id(1)];
        assert_eq!((row.state, row.attempts.len()), (EventState::Delivered, 1));
        assert_eq!((row.attempts[0].number, row.attempts[0].cause.as_ref()), (1, None));
    });
}

#[test]
fn a_confirmation_ends_the_schedule_wherever_it_comes() {
    for confirmed_at in 1..=11 {
        let mut attempts = 0;
        let receiver = move |_, _, _| {
            attempts += 1;
            (TOOK, attempts == confirmed_at)
        };
        let mut world = World::new(Box::new(receiver));
        world.add_dispatcher();
        world.event_at(Duration::ZERO, 1);
        world.run_until(LONG);
        assert_eq!(world.sent.len(), confirmed_at);
        assert_eq!(world.journal.count(EventState::Delivered), 1);
    }
}

#[test]
fn a_replay_begins_the_schedule_anew_and_goes_on_counting() {
    let mut world = World::new(Box::new(|_, _, _| (TOOK, false)));
    let post = world.add_dispatcher();
    world.event_at(Duration::ZERO, 1);
    world.run_until(LONG);
    world.journal.replay(event_id(1), wall(world.now));
    world.ring(post);
    world.run_until(LONG * 2);
    assert_eq!(world.sent.len(), 22);
    for (retry, pair) in (0..).zip(world.sent[11..].windows(2)) {
        assert_eq!(Some(pair[1].began - pair[0].ended), Schedule::default().wait(retry), "retry {retry}");
    }
    world.journal.with(|book| {
        let row = &book.rows[&event_id(1)];
        assert_eq!((row.state, row.attempts.len()), (EventState::Exhausted, 22));
        assert_eq!(row.attempts.last().unwrap().number, 22);
    });
}

#[test]
fn an_event_without_an_address_is_not_attempted() {
    let mut world = World::new(Box::new(|_, _, _| (TOOK, true)));
    let post = world.add_dispatcher();
    world.backlog(1, 100);
    world.journal.with(|book| {
        book.providers.values_mut().for_each(|provider| provider.callback_url = None);
    });
    world.ring(post);
    world.run_until(LONG);
    assert!(world.sent.is_empty());
    assert_eq!(world.journal.count(EventState::Unaddressed), 100);
}

#[test]
fn while_the_database_is_away_nothing_is_lost_and_nothing_sent_twice() {
    let mut world = World::new(Box::new(|_, _, _| (Duration::from_millis(10), true)));
    world.add_dispatcher();
    for event in 0..200 {
        world.event_at(Duration::from_millis(event), 1);
    }
    for (at, is_away) in [(50, true), (30_000, false), (30_050, true), (130_000, false)] {
        world.call_at(Duration::from_millis(at), move |world| {
            world.journal.with(|book| book.is_away = is_away);
        });
    }
    world.run_until(LONG);
    assert_eq!(world.journal.count(EventState::Delivered), 200);
    assert_eq!(world.sent.len(), 200);
}

#[test]
fn a_settlement_that_is_never_taken_does_not_hold_up_the_others() {
    let mut world = World::new(Box::new(|_, _, _| (Duration::from_millis(10), true)));
    let post = world.add_dispatcher();
    world.backlog(1, 500);
    world.journal.with(|book| book.refuses = Some(event_id(3)));
    world.ring(post);
    world.run_until(Duration::from_secs(50));
    assert_eq!(world.journal.count(EventState::Delivered), 499);
    world.journal.with(|book| book.refuses = None);
    world.run_until(LONG);
    assert_eq!(world.journal.count(EventState::Delivered), 500);
    assert_eq!(world.sent.len(), 500);
}
