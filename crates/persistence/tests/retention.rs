//! Which rows are deleted after their retention, and which are kept.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use guerdon_domain::ports::{
    Attempt, ClaimRequest, DeliveryOutcome, EventQuery, Pacer, Setting, Settlement, StoreError,
    StoreExt as _, Timestamp, Tx,
};
use guerdon_domain::recognitions::Sender;
use guerdon_domain::retention::{RetentionPeriods, prune_expired};
use guerdon_domain::values::EventId;
use uuid::Uuid;

use crate::feed::read_whole_feed;
use crate::support::{LedgerFixture, on_each_database, on_postgres, run_concurrently};

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

/// Steps of a fixed size without pauses.
struct FixedSteps;

impl Pacer for FixedSteps {
    fn rows_max(&self) -> i64 {
        100
    }

    fn begin_step(&mut self) {}

    fn end_step(&mut self) {}

    fn begin_phase(&mut self) {}
}

#[test]
fn a_time_of_pruning_that_was_stored_while_the_clock_was_ahead_is_corrected() {
    on_each_database(|fixture| {
        let period = 24 * HOUR;
        let periods = RetentionPeriods { events: Some(period), notifications: None };
        let correct_time = current_time(fixture);
        let pruned_before = |expected: &dyn Fn(i64) -> bool| {
            prune_expired(fixture.store.as_ref(), periods, &mut FixedSteps, &fixture.context()).unwrap();
            let stored = fixture.read_snapshot(|reads| reads.get_setting(Setting::EventsPrunedBefore));
            let stored: i64 = stored.unwrap().parse().unwrap();
            assert!(expected(stored), "{stored}");
            stored
        };
        let first = pruned_before(&|stored| stored < correct_time.unix_micros());
        fixture.clock.set_time(correct_time + 60 * period);
        create_settled_events(fixture, &[DeliveryOutcome::Delivered, DeliveryOutcome::Delivered]);
        fixture.clock.set_time(correct_time + 62 * period);
        pruned_before(&|stored| stored > correct_time.unix_micros());
        fixture.clock.set_time(correct_time + HOUR);
        assert!(stored_events(fixture).len() < 2, "SQLite keeps the last event");
        let corrected = pruned_before(&|stored| stored > first);
        let now = current_time(fixture).unix_micros();
        assert!(corrected <= now, "{corrected} is after {now}");
        assert_eq!(fixture.audit_ledger(), []);
        fixture.clock.set_time(correct_time + 2 * HOUR);
        pruned_before(&|stored| stored == corrected);
    });
}

fn stored_events(fixture: &LedgerFixture) -> BTreeSet<EventId> {
    let all = EventQuery { limit: 100, ..EventQuery::default() };
    fixture.read_snapshot(|reads| reads.list_events(&all)).into_iter().map(|event| event.id).collect()
}

#[test]
fn what_was_deleted_before_a_failure_is_audited() {
    on_each_database(|fixture| {
        let old = create_settled_events(fixture, &[DeliveryOutcome::Delivered, DeliveryOutcome::Delivered]);
        create_settled_events(fixture, &[DeliveryOutcome::Exhausted]);
        fixture.clock.set_time(current_time(fixture) + 2 * HOUR);
        let rename = |from: &str, to: &str| {
            let sql = format!("ALTER TABLE {from} RENAME TO {to}");
            fixture.database.execute_sql(&sql, &sql);
        };
        rename("notifications", "missing");
        let periods = RetentionPeriods { events: Some(HOUR), notifications: Some(HOUR) };
        let pruned = prune_expired(fixture.store.as_ref(), periods, &mut FixedSteps, &fixture.context());
        pruned.unwrap_err();
        rename("missing", "notifications");
        assert!(stored_events(fixture).is_disjoint(&old.into_iter().collect()));
        let audited = "audit_entries WHERE detail LIKE '%, 2 events, 0 emails,%'";
        assert_eq!(fixture.database.count_rows(audited), 1);
    });
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

/// The suffix of the first partition. All event ids of the fixture have the same fixed time, which is in this
/// partition.
const PARTITION: &str = "20241106";

fn time_of_ids() -> Timestamp {
    Timestamp::from_unix_micros(0x0193_0000_0000 * 1_000).unwrap()
}

fn try_create_partitions(fixture: &LedgerFixture) -> Result<usize, StoreError> {
    let retention = Some(24 * 30 * HOUR);
    fixture.store.transaction(|tx| tx.create_event_partitions(time_of_ids(), retention))
}

fn create_partitions(fixture: &LedgerFixture) -> usize {
    try_create_partitions(fixture).unwrap()
}

fn drop_partition(fixture: &LedgerFixture, before: Timestamp) -> Result<bool, StoreError> {
    fixture.background.transaction(|tx| tx.drop_expired_event_partition(before))
}

/// The numbers of events, deliveries and attempts in the first partition.
fn count_in_partition(fixture: &LedgerFixture) -> Vec<i64> {
    let tables = ["events", "deliveries", "attempts"].map(|table| format!("{table}_{PARTITION}"));
    fixture.database.count_each(&tables.each_ref().map(String::as_str))
}

/// Runs a test on PostgreSQL, with the clock set to the time of the ids, and no partition for that time.
fn without_earlier_partition(test: impl Fn(&LedgerFixture)) {
    on_postgres(|fixture| {
        fixture.clock.set_time(time_of_ids());
        fixture.database.execute_sql("", "DROP TABLE events_earlier, deliveries_earlier, attempts_earlier");
        test(fixture);
    });
}

/// A time at which the first partition has expired, and the second has not.
fn expiry_of_partition(fixture: &LedgerFixture) -> Timestamp {
    fixture.clock.set_time(time_of_ids() + 24 * 12 * HOUR);
    time_of_ids() + 24 * 11 * HOUR
}

#[test]
fn a_partition_is_dropped_as_a_whole_after_it_has_expired() {
    without_earlier_partition(|fixture| {
        assert_eq!([create_partitions(fixture), create_partitions(fixture)], [2, 0]);
        create_settled_events(fixture, &[DeliveryOutcome::Delivered, DeliveryOutcome::Delivered]);
        assert_eq!(count_in_partition(fixture), [2, 2, 2]);
        let within = time_of_ids() + 24 * HOUR;
        assert!(!drop_partition(fixture, within).unwrap());
        let expired = expiry_of_partition(fixture);
        assert_eq!(prune_events(fixture, within, 100), 0, "they expire as a whole");
        assert!(drop_partition(fixture, expired).unwrap());
        assert_eq!(prune_events(fixture, expired, 100), 0);
        assert_eq!(stored_events(fixture), BTreeSet::new());
        assert_eq!(fixture.database.count_rows(&format!("pg_class WHERE relname LIKE '%{PARTITION}'")), 0);
        assert!(!drop_partition(fixture, expired).unwrap());
    });
}

#[test]
fn instances_that_start_together_create_each_partition_once() {
    without_earlier_partition(|fixture| {
        let created = AtomicUsize::new(0);
        run_concurrently(4, |_| match try_create_partitions(fixture) {
            Ok(count) => _ = created.fetch_add(count, Ordering::Relaxed),
            // The first one took longer than the others wait for its lock. Upkeep tries again later.
            Err(StoreError::Busy) => {}
            Err(e) => panic!("{e}"),
        });
        assert_eq!(created.into_inner(), 2);
        assert_eq!(create_partitions(fixture), 0);
    });
}

#[test]
fn an_expired_partition_with_an_undelivered_event_loses_the_others_one_by_one() {
    without_earlier_partition(|fixture| {
        create_partitions(fixture);
        let outcomes = [DeliveryOutcome::Delivered, DeliveryOutcome::Exhausted, DeliveryOutcome::Delivered];
        let events = create_settled_events(fixture, &outcomes);
        let expired = expiry_of_partition(fixture);
        assert!(!drop_partition(fixture, expired).unwrap());
        assert_eq!(prune_events(fixture, expired, 100), 2);
        assert_eq!(stored_events(fixture), [events[1]].into());
        assert_eq!(count_in_partition(fixture), [1, 1, 1]);
    });
}

#[test]
fn events_that_precede_their_partition_stay_in_the_default_partition() {
    without_earlier_partition(|fixture| {
        create_settled_events(fixture, &[DeliveryOutcome::Delivered]);
        assert_eq!([create_partitions(fixture), create_partitions(fixture)], [2, 0]);
        assert_eq!(
            fixture.database.count_rows("pg_class WHERE relname = 'events_20241107'"),
            1,
            "the next day"
        );
        assert_eq!(fixture.database.count_rows(&format!("pg_class WHERE relname LIKE '%{PARTITION}'")), 0);
        assert_eq!(prune_events(fixture, expiry_of_partition(fixture), 100), 1);
    });
}

#[test]
fn events_from_before_the_database_existed_leave_the_default_partition_empty_and_are_deleted_one_by_one() {
    on_postgres(|fixture| {
        fixture.clock.set_time(time_of_ids());
        let outcomes = [DeliveryOutcome::Delivered, DeliveryOutcome::Exhausted];
        let events = create_settled_events(fixture, &outcomes);
        let tables = ["events_default", "deliveries_default", "attempts_default", "events_earlier"];
        assert_eq!(fixture.database.count_each(&tables), [0, 0, 0, 2]);
        let later = time_of_ids() + 24 * 365 * HOUR;
        fixture.clock.set_time(later);
        assert!(!drop_partition(fixture, later).unwrap());
        assert_eq!(prune_events(fixture, later, 100), 1);
        assert_eq!(stored_events(fixture), [events[1]].into());
    });
}

#[test]
fn no_partition_is_dropped_during_a_snapshot_that_reads_events() {
    without_earlier_partition(|fixture| {
        create_partitions(fixture);
        create_settled_events(fixture, &[DeliveryOutcome::Delivered]);
        let expired = expiry_of_partition(fixture);
        fixture.read_snapshot(|reads| {
            reads.estimate_archived_rows(fixture.company)?;
            assert!(matches!(drop_partition(fixture, expired), Err(StoreError::Busy)));
            Ok(())
        });
        assert_eq!(count_in_partition(fixture), [1, 1, 1]);
        // From now on, verification does not report events created before `expired` as missing.
        prune_events(fixture, expired, 100);
    });
}
