//! A provider's events in commit order.

use std::sync::mpsc::channel;
use std::time::Duration;

use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, PgConnection};
use guerdon_domain::companies::{CompanyMove, MoveDirection};
use guerdon_domain::decide::execute_command;
use guerdon_domain::events::EventState;
use guerdon_domain::memory::FixedClock;
use guerdon_domain::money::{Points, Sum};
use guerdon_domain::ports::{Context, FeedPosition, FeedQuery, StoreExt as _};
use guerdon_domain::recognitions::Sender;
use guerdon_domain::redemptions::{Redeem, RedeemError};
use guerdon_domain::values::{EventId, Timestamp};
use guerdon_domain::wallets::WalletType;
use guerdon_persistence::DatabaseUrl;

use crate::support::{LedgerFixture, on_each_database, on_postgres};

/// The feed has ended when this many consecutive reads return nothing new. A transaction on another test's database
/// that ends during a read hides later events from this read only.
const END_READS: u32 = 3;

/// Reads the feed from a position to its end, a few events per read. Returns the events and the position of the last
/// one.
pub fn read_whole_feed(
    fixture: &LedgerFixture,
    mut after: Option<FeedPosition>,
    state: Option<EventState>,
) -> (Vec<EventId>, Option<FeedPosition>) {
    let (mut events, mut ends_seen) = (Vec::new(), 0);
    loop {
        let wanted =
            FeedQuery { provider: fixture.provider, after, since: None, kind: None, state, limit: 7 };
        let part = fixture.read_snapshot(|reads| reads.find_feed_page(&wanted));
        if part.next == after {
            ends_seen += 1;
            if ends_seen == END_READS {
                return (events, after);
            }
            continue;
        }
        ends_seen = 0;
        let loaded = fixture.read_snapshot(|reads| reads.load_feed_page(&part));
        assert!(loaded.iter().map(|entry| entry.event.id).eq(part.ids.iter().copied()));
        events.extend(part.ids);
        after = part.next;
    }
}

fn send_events(fixture: &LedgerFixture, count: usize) -> Vec<EventId> {
    let receiver = fixture.owner;
    let one =
        |_| fixture.send_recognition(Sender::Company(fixture.company), &[receiver], 1).unwrap().remove(0).id;
    (0..count).map(one).map(|id| EventId::from_uuid(id.as_uuid())).collect()
}

#[test]
fn each_event_is_read_once_in_order() {
    on_each_database(|fixture| {
        fixture.deposit_points(1_000_000);
        let (none, start) = read_whole_feed(fixture, None, None);
        assert_eq!((none.len(), start), (0, None));
        let first = send_events(fixture, 20);
        let (events, after) = read_whole_feed(fixture, None, None);
        assert_eq!(events, first);
        let then = send_events(fixture, 3);
        assert_eq!(read_whole_feed(fixture, after, None).0, then);
        assert_eq!(read_whole_feed(fixture, None, Some(EventState::Pending)).0.len(), 23);
        assert_eq!(read_whole_feed(fixture, None, Some(EventState::Delivered)).0, []);
    });
}

#[test]
fn a_reader_may_start_at_a_timestamp() {
    on_each_database(|fixture| {
        fixture.deposit_points(1_000_000);
        let from = |since: Timestamp| {
            let wanted = FeedQuery {
                provider: fixture.provider,
                after: None,
                since: Some(since),
                kind: None,
                state: None,
                limit: 100,
            };
            let read = |_| fixture.read_snapshot(|reads| reads.find_feed_page(&wanted));
            let part = (0..END_READS).map(read).max_by_key(|part| part.next).unwrap();
            (part.ids, part.next)
        };
        let begun = fixture.context().clock.now();
        assert_eq!(from(begun), (Vec::new(), None));
        let first = send_events(fixture, 20);
        assert_eq!(from(begun).0, first, "may include events of the minute before");
        let later = begun.saturating_add(Duration::from_secs(3_600));
        let (none, place) = from(later);
        assert_eq!(none, []);
        let then = send_events(fixture, 3);
        assert_eq!(read_whole_feed(fixture, place, None).0, then, "no event after that position is missed");
    });
}

#[test]
fn events_of_an_imported_company_arrive_when_it_is_imported() {
    on_each_database(|fixture| {
        const DAY: Duration = Duration::from_secs(86_400);
        fixture.deposit_points(100);
        fixture.override_balance(fixture.owner, WalletType::User, 10).unwrap();
        let context = fixture.context();
        let now = context.clock.now();
        let an_hour_ago = now - Duration::from_secs(3_600);
        let old_clock = FixedClock(now - DAY);
        let created = fixture.store.transaction(|tx| -> Result<_, RedeemError> {
            let command = Redeem { user_id: fixture.owner, sum: Sum::Points(Points::new(1).unwrap()) };
            let context = Context { clock: &old_clock, ..fixture.context() };
            Ok(execute_command(tx, fixture.provider, &command, &context)?.0)
        });
        let event = EventId::from_uuid(created.unwrap().id.as_uuid());
        let read_since = |since| {
            let (provider, since) = (fixture.provider, Some(since));
            let wanted = FeedQuery { provider, after: None, since, kind: None, state: None, limit: 100 };
            let read = |_| fixture.read_snapshot(|reads| reads.find_feed_page(&wanted)).ids;
            (0..END_READS).map(read).max_by_key(Vec::len).unwrap()
        };
        assert_eq!(read_since(an_hour_ago), []);
        let import = CompanyMove {
            token: context.ids.next_id(),
            company_id: fixture.company,
            direction: MoveDirection::Incoming,
            release_code: None,
            created_at: now,
            archived_at: None,
            completed_at: Some(now + DAY),
        };
        fixture.store.transaction(|tx| tx.insert_company_move(&import)).unwrap();
        assert_eq!(read_since(an_hour_ago), [event]);
        assert_eq!(read_since(now + DAY), []);
    });
}

#[test]
fn an_event_of_a_slow_transaction_is_read_once() {
    // On SQLite there is one writer, so no other transaction commits concurrently.
    on_postgres(|fixture| {
        fixture.deposit_points(1_000_000);
        let slow = fixture.create_user("slow");
        let command = Redeem { user_id: slow, sum: Sum::Points(Points::new(10).unwrap()) };
        let command = &command;
        fixture.override_balance(slow, WalletType::User, 10).unwrap();
        let before = send_events(fixture, 2);
        let (has_written, written) = channel();
        let (go_on, waits) = channel::<()>();
        std::thread::scope(|scope| {
            let late = scope.spawn(move || {
                let context = fixture.context();
                let done = fixture.store.transaction(|tx| -> Result<_, RedeemError> {
                    let redeemed = execute_command(tx, fixture.provider, command, &context)?.0;
                    has_written.send(()).unwrap();
                    waits.recv().unwrap();
                    Ok(redeemed)
                });
                EventId::from_uuid(done.unwrap().id.as_uuid())
            });
            written.recv().unwrap();
            let concurrent = send_events(fixture, 100);
            let (events, after) = read_whole_feed(fixture, None, None);
            assert_eq!(events, before, "events after the slow transaction wait for it");
            go_on.send(()).unwrap();
            let late = late.join().unwrap();
            let (mut rest, _) = read_whole_feed(fixture, after, None);
            assert_eq!(rest.len(), 101);
            rest.retain(|id| *id != late);
            assert_eq!(rest, concurrent);
        });
    });
}

/// A connection to a PostgreSQL server of this run that guerdon did not open.
fn connect_foreign_client(fixture: &LedgerFixture) -> Option<PgConnection> {
    let DatabaseUrl::Postgres(url) = fixture.database.database_url() else { return None };
    Some(PgConnection::establish(&url).unwrap())
}

fn feed_delay(fixture: &LedgerFixture) -> Duration {
    fixture.read_snapshot(|reads| reads.outbox_statistics()).oldest_transaction_age
}

#[test]
fn transactions_of_other_programs_do_not_delay_the_feed() {
    on_postgres(|fixture| {
        let mut stranger = connect_foreign_client(fixture).unwrap();
        fixture.deposit_points(1_000_000);
        stranger
            .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; CREATE TEMP TABLE mine (id integer)")
            .unwrap();
        let sent = send_events(fixture, 20);
        assert_eq!(read_whole_feed(fixture, None, None).0, sent);
        assert_eq!(feed_delay(fixture), Duration::ZERO);
        fixture.seal_all();
        stranger.batch_execute("COMMIT").unwrap();
        assert_eq!(read_whole_feed(fixture, None, None).0, sent);
    });
}

#[test]
fn other_programs_cannot_insert_events() {
    on_postgres(|fixture| {
        let mut stranger = connect_foreign_client(fixture).unwrap();
        fixture.deposit_points(1_000_000);
        send_events(fixture, 1);
        let add = "INSERT INTO events (id, company_id, provider_id, kind, journal_entry_id, body, created_at) \
                   SELECT gen_random_uuid(), company_id, provider_id, kind, journal_entry_id, body, created_at FROM events";
        let refused = stranger.batch_execute(add).unwrap_err().to_string();
        assert!(refused.contains("null value in column \"position\""), "{refused}");
    });
}

#[test]
fn the_age_of_the_transaction_that_delays_the_feed_is_reported() {
    on_each_database(|fixture| {
        let Some(mut writer) = connect_foreign_client(fixture) else {
            assert_eq!(feed_delay(fixture), Duration::ZERO);
            return;
        };
        fixture.deposit_points(1_000_000);
        // Marks the session as guerdon's: it may add events that precede those of later transactions.
        let mark = "SELECT pg_advisory_lock_shared(1735746917, relnamespace::integer) FROM pg_class WHERE relname = 'settings'";
        writer.batch_execute(&format!("{mark}; BEGIN; SELECT pg_current_xact_id()")).unwrap();
        let sent = send_events(fixture, 2);
        assert_eq!(read_whole_feed(fixture, None, None).0, []);
        assert!(feed_delay(fixture) > Duration::ZERO);
        writer.batch_execute("COMMIT").unwrap();
        assert_eq!(read_whole_feed(fixture, None, None).0, sent);
        assert_eq!(feed_delay(fixture), Duration::ZERO);
    });
}
