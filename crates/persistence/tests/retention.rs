//! Which rows are deleted after their retention, and which are kept.

use std::collections::BTreeSet;
use std::time::Duration;

use guerdon_domain::ports::{
    Attempt, ClaimRequest, DeliveryOutcome, EventQuery, Setting, Settlement, StoreExt as _, Timestamp, Tx,
};
use guerdon_domain::recognitions::Sender;
use guerdon_domain::values::EventId;
use uuid::Uuid;

use crate::feed::read_whole_feed;
use crate::support::{LedgerFixture, on_each_database};

const HOUR: Duration = Duration::from_secs(60 * 60);

fn current_time(fixture: &LedgerFixture) -> Timestamp {
    fixture.context().clock.now()
}

/// Creates one event per outcome by a recognition, and settles it with that outcome.
fn create_settled_events(fixture: &LedgerFixture, outcomes: &[DeliveryOutcome]) -> Vec<EventId> {
    let ann = fixture.create_user(&format!("receiver{}", fixture.database.count_rows("users")));
    fixture.deposit_points(1_000);
    for _ in outcomes {
        fixture.send_recognition(Sender::Company(fixture.company), &[ann], 1).unwrap();
    }
    let (at, lease, limit) = (current_time(fixture), Uuid::from_u128(7), 100);
    let claim = ClaimRequest { provider: fixture.provider, limit, now: at, lease_until: at + HOUR, lease };
    let claimed = fixture.store.transaction(|tx| tx.claim_events(&claim)).unwrap().unwrap().events;
    let settled: Vec<Settlement> = claimed
        .iter()
        .zip(outcomes)
        .map(|(event, outcome)| {
            let attempt = Attempt {
                id: fixture.context().ids.next_id(),
                company_id: fixture.company,
                number: 1,
                started_at: at,
                duration: Duration::from_millis(1),
                status: (*outcome == DeliveryOutcome::Delivered).then_some(200),
                error: None,
                response_headers: None,
                response_body: Vec::new(),
            };
            Settlement { event: event.id, lease, attempt: Some(attempt), outcome: *outcome }
        })
        .collect();
    fixture.store.transaction(|tx| tx.settle_events(&settled)).unwrap();
    claimed.into_iter().map(|event| event.id).collect()
}

/// Deletes as the service does, in steps of `limit` rows. Returns the number of deleted rows.
fn prune_events(fixture: &LedgerFixture, before: Timestamp, limit: i64) -> usize {
    let noted = before.unix_micros().to_string();
    fixture.store.transaction(|tx| tx.set_setting(Setting::EventsPrunedBefore, &noted)).unwrap();
    let (mut behind, mut gone) = (None, 0);
    loop {
        let step = |tx: &mut dyn Tx| tx.prune_events(before, behind, limit);
        let (went, last) = fixture.store.transaction(step).unwrap();
        gone += went;
        if last.is_none() {
            return gone;
        }
        behind = last;
    }
}

fn stored_events(fixture: &LedgerFixture) -> BTreeSet<EventId> {
    let all = EventQuery { limit: 100, ..EventQuery::default() };
    fixture.read_snapshot(|reads| reads.list_events(&all)).into_iter().map(|event| event.id).collect()
}

/// Delivered events are deleted with their attempts, all other events remain, and the feed skips the deleted ones.
#[test]
fn delivered_events_and_their_attempts_are_deleted_and_all_others_stay() {
    on_each_database(|fixture| {
        let before_all = current_time(fixture);
        let outcomes = [
            DeliveryOutcome::Delivered,
            DeliveryOutcome::Exhausted,
            DeliveryOutcome::Unaddressed,
            DeliveryOutcome::Delivered,
            DeliveryOutcome::Delivered,
        ];
        let old = create_settled_events(fixture, &outcomes);
        fixture.clock.set_time(current_time(fixture) + HOUR);
        let since = current_time(fixture);
        let young = create_settled_events(fixture, &[DeliveryOutcome::Delivered]);
        assert_eq!(prune_events(fixture, before_all, 2), 0, "nothing is old enough");
        assert_eq!(prune_events(fixture, since, 2), 3);
        assert_eq!(stored_events(fixture), [old[1], old[2], young[0]].into());
        assert_eq!(fixture.database.count_rows("attempts"), 3);
        assert_eq!(fixture.database.count_rows("deliveries"), 3);
        assert_eq!(prune_events(fixture, since, 2), 0, "each row is deleted once");
    });
}

#[test]
fn the_feed_continues_after_the_last_deleted_event() {
    on_each_database(|fixture| {
        create_settled_events(
            fixture,
            &[DeliveryOutcome::Delivered, DeliveryOutcome::Delivered, DeliveryOutcome::Delivered],
        );
        let (met, last) = read_whole_feed(fixture, None, None);
        assert_eq!(met.len(), 3);
        let stays = usize::from(fixture.database.is_embedded()); // the embedded database keeps the last event
        fixture.clock.set_time(current_time(fixture) + HOUR);
        assert_eq!(prune_events(fixture, current_time(fixture), 100), 3 - stays);
        let next = create_settled_events(fixture, &[DeliveryOutcome::Delivered]);
        assert_eq!(read_whole_feed(fixture, last, None).0, next);
    });
}
