//! Which rows retention deletes, and which it keeps.

use std::collections::BTreeSet;
use std::time::Duration;

use guerdon_domain::ports::{
    Attempt, Claim, EventsWanted, Fate, Setting, Settlement, StoreExt as _, Timestamp, Tx,
};
use guerdon_domain::recognitions::Sender;
use guerdon_domain::values::EventId;
use uuid::Uuid;

use crate::feed::follow;
use crate::support::{World, on_each};

const HOUR: Duration = Duration::from_secs(60 * 60);

fn now(world: &World) -> Timestamp {
    world.context().clock.now()
}

/// Creates one event per fate by a recognition, and settles it with that fate.
fn events(world: &World, fates: &[Fate]) -> Vec<EventId> {
    let ann = world.user(&format!("receiver{}", world.database.count("users")));
    world.deposit(1_000);
    for _ in fates {
        world.send(Sender::Company(world.company), &[ann], 1).unwrap();
    }
    let (at, lease, limit) = (now(world), Uuid::from_u128(7), 100);
    let claim = Claim { provider: world.provider, limit, now: at, until: at + HOUR, lease };
    let claimed = world.store.transaction(|tx| tx.claim_events(&claim)).unwrap().unwrap().events;
    let settled: Vec<Settlement> = claimed
        .iter()
        .zip(fates)
        .map(|(event, fate)| {
            let attempt = Attempt {
                id: world.context().ids.next(),
                company_id: world.company,
                number: 1,
                started_at: at,
                duration: Duration::from_millis(1),
                status: (*fate == Fate::Delivered).then_some(200),
                cause: None,
                answer: Vec::new(),
            };
            Settlement { event: event.id, lease, attempt: Some(attempt), fate: *fate }
        })
        .collect();
    world.store.transaction(|tx| tx.settle_events(&settled)).unwrap();
    claimed.into_iter().map(|event| event.id).collect()
}

/// Deletes as the service does, in steps of `limit` rows. Returns the number of deleted rows.
fn prune(world: &World, before: Timestamp, limit: i64) -> usize {
    let noted = before.unix_micros().to_string();
    world.store.transaction(|tx| tx.set_setting(Setting::EventsPrunedBefore, &noted)).unwrap();
    let (mut behind, mut gone) = (None, 0);
    loop {
        let step = |tx: &mut dyn Tx| tx.prune_events(before, behind, limit);
        let (went, last) = world.store.transaction(step).unwrap();
        gone += went;
        if last.is_none() {
            return gone;
        }
        behind = last;
    }
}

fn there(world: &World) -> BTreeSet<EventId> {
    let all = EventsWanted { limit: 100, ..EventsWanted::default() };
    world.reading(|reads| reads.events(&all)).into_iter().map(|event| event.id).collect()
}

/// Delivered events are deleted with their attempts, all other events remain, and the feed skips the deleted ones.
#[test]
fn delivered_events_and_their_attempts_are_deleted_and_all_others_stay() {
    on_each(|world| {
        let before_all = now(world);
        let fates = [Fate::Delivered, Fate::Exhausted, Fate::Unaddressed, Fate::Delivered, Fate::Delivered];
        let old = events(world, &fates);
        world.clock.jump(now(world) + HOUR);
        let since = now(world);
        let young = events(world, &[Fate::Delivered]);
        assert_eq!(prune(world, before_all, 2), 0, "nothing is old enough");
        assert_eq!(prune(world, since, 2), 3);
        assert_eq!(there(world), [old[1], old[2], young[0]].into());
        assert_eq!(world.database.count("attempts"), 3);
        assert_eq!(world.database.count("deliveries"), 3);
        assert_eq!(prune(world, since, 2), 0, "each row is deleted once");
    });
}

#[test]
fn the_feed_continues_after_the_last_deleted_event() {
    on_each(|world| {
        events(world, &[Fate::Delivered, Fate::Delivered, Fate::Delivered]);
        let (met, last) = follow(world, None, None);
        assert_eq!(met.len(), 3);
        let stays = usize::from(world.database.is_embedded()); // the embedded database keeps the last event
        world.clock.jump(now(world) + HOUR);
        assert_eq!(prune(world, now(world), 100), 3 - stays);
        let next = events(world, &[Fate::Delivered]);
        assert_eq!(follow(world, last, None).0, next);
    });
}
