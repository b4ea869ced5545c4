//! Events and emails: each is claimed by one process at a time and settled only by the holder of its lease.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::time::Duration;

use guerdon_domain::events::EventState;
use guerdon_domain::notifications::{Channel, Notification, NotifiedCompany, Recipient};
use guerdon_domain::ports::{
    Attempt, ClaimRequest, ClaimedEvent, DeliveryOutcome, EventQuery, NewNotification, NotificationClaim,
    NotificationOutcome, RETRIED_NOTIFICATION_DUE, ReplayQuery, Settlement, StoreError, StoreExt as _,
    Timestamp, Tx, UnsentNotificationCounts,
};
use guerdon_domain::providers::Provider;
use guerdon_domain::recognitions::Sender;
use guerdon_domain::values::{CompanyId, EmailAddress, ProviderId};
use guerdon_persistence::testing::StoredDelivery;
use uuid::Uuid;

use crate::support::{LedgerFixture, on_each_database, run_concurrently, with_each_write_form};

pub fn lease_id(number: u64) -> Uuid {
    Uuid::from_u64_pair(7, number)
}

/// Creates pending events by sending one-point recognitions from the company.
pub fn create_events(fixture: &LedgerFixture, count: usize) {
    let ann = fixture.create_user("receiver");
    fixture.deposit_points(1_000_000);
    for _ in 0..count {
        fixture.send_recognition(Sender::Company(fixture.company), &[ann], 1).unwrap();
    }
}

pub fn current_time(fixture: &LedgerFixture) -> Timestamp {
    fixture.context().clock.now()
}

pub fn claim_events(fixture: &LedgerFixture, at: Timestamp, number: u64, limit: u16) -> Vec<ClaimedEvent> {
    let until = at + Duration::from_secs(60);
    let claim = ClaimRequest {
        provider: fixture.provider,
        limit,
        now: at,
        lease_until: until,
        lease: lease_id(number),
    };
    fixture.store.transaction(|tx| tx.claim_events(&claim)).unwrap().unwrap().events
}

pub fn new_settlement(
    fixture: &LedgerFixture,
    event: &ClaimedEvent,
    number: u64,
    outcome: DeliveryOutcome,
    at: Timestamp,
) -> Settlement {
    let attempt = Attempt {
        id: fixture.context().ids.next_id(),
        company_id: fixture.company,
        number: event.attempts + 1,
        started_at: at,
        duration: Duration::from_millis(12),
        status: Some(if outcome == DeliveryOutcome::Delivered { 200 } else { 503 }),
        error: (outcome != DeliveryOutcome::Delivered).then(|| "status 503".to_owned()),
        response_headers: (outcome != DeliveryOutcome::Delivered).then(|| "server: x\n".to_owned()),
        response_body: b"answer".to_vec(),
    };
    Settlement { event: event.id, lease: lease_id(number), attempt: Some(attempt), outcome }
}

pub fn settle_events(fixture: &LedgerFixture, settlements: &[Settlement]) {
    fixture.store.transaction(|tx: &mut dyn Tx| tx.settle_events(settlements)).unwrap();
}

#[test]
fn an_event_is_claimed_once_until_its_lease_ends() {
    on_each_database(|fixture| {
        create_events(fixture, 5);
        let at = current_time(fixture);
        let first = claim_events(fixture, at, 1, 3);
        assert_eq!(first.len(), 3);
        assert_eq!(claim_events(fixture, at, 2, 10).len(), 2, "the deliveries left by the first claim");
        assert_eq!(claim_events(fixture, at, 3, 10).len(), 0);
        let due = fixture.store.transaction(|tx| tx.next_event_due()).unwrap();
        assert_eq!(due, Some(at + Duration::from_secs(60)));
        let later = at + Duration::from_secs(60);
        let claimed_again: HashSet<_> =
            claim_events(fixture, later, 4, 10).into_iter().map(|event| event.id).collect();
        assert_eq!(claimed_again.len(), 5, "every lease has ended");
        // A process that lost its lease may report the attempt, but changes nothing.
        settle_events(fixture, &[new_settlement(fixture, &first[0], 1, DeliveryOutcome::Delivered, at)]);
        assert_eq!(fixture.database.count_rows("deliveries WHERE state = 2"), 0);
        assert_eq!(fixture.database.count_rows("attempts"), 1);
        fixture.store.transaction(|tx| tx.end_leases(later)).unwrap();
        assert_eq!(claim_events(fixture, later, 5, 10).len(), 5, "leases can be ended");
    });
}

#[test]
fn each_outcome_is_stored_with_its_attempt() {
    with_each_write_form(|fixture| {
        create_events(fixture, 5);
        let at = current_time(fixture);
        let claimed = claim_events(fixture, at, 1, 5);
        let retry = at + Duration::from_secs(15);
        let outcomes = [
            DeliveryOutcome::Delivered,
            DeliveryOutcome::RetryAt(retry),
            DeliveryOutcome::Exhausted,
            DeliveryOutcome::Unaddressed,
            DeliveryOutcome::Released(at),
        ];
        let mut settlements: Vec<Settlement> = claimed
            .iter()
            .zip(outcomes)
            .map(|(event, outcome)| new_settlement(fixture, event, 1, outcome, at))
            .collect();
        settlements[3].attempt = None;
        settlements[4].attempt = None;
        settle_events(fixture, &settlements);
        let count = |what: &str| fixture.database.count_rows(what);
        assert_eq!(count("attempts WHERE number = 1 AND status = 200 AND failure IS NULL"), 1);
        assert_eq!(count("attempts WHERE duration_micros = 12000 AND status = 503"), 2);
        assert_eq!(count("deliveries WHERE state = 2 AND attempts = 1 AND next_attempt_at IS NULL"), 1);
        assert_eq!(count("deliveries WHERE state = 3 AND attempts = 1 AND next_attempt_at IS NULL"), 1);
        assert_eq!(count("deliveries WHERE state = 4 AND attempts = 0 AND next_attempt_at IS NULL"), 1);
        assert_eq!(count("deliveries WHERE lease_id IS NOT NULL"), 0);
        let released = claim_events(fixture, at, 2, 5);
        assert_eq!((released.len(), released[0].id, released[0].attempts), (1, claimed[4].id, 0));
        let retried = claim_events(fixture, retry, 3, 5);
        assert_eq!((retried.len(), retried[0].id, retried[0].attempts), (1, claimed[1].id, 1));
        assert_eq!(retried[0].body, claimed[1].body);
    });
}

#[test]
fn the_responses_to_an_event_are_cleared_with_its_body_unchanged() {
    on_each_database(|fixture| {
        create_events(fixture, 2);
        let at = current_time(fixture);
        let claimed = claim_events(fixture, at, 1, 2);
        let outcome = DeliveryOutcome::RetryAt(at + Duration::from_secs(15));
        let settlements = [0, 1].map(|index| new_settlement(fixture, &claimed[index], 1, outcome, at));
        settle_events(fixture, &settlements);
        let responses = "attempts WHERE length(response) > 0 OR response_headers IS NOT NULL";
        assert_eq!(fixture.database.count_rows(responses), 2);
        fixture.store.transaction(|tx| tx.clear_responses(&[claimed[0].id])).unwrap();
        assert_eq!(fixture.database.count_rows(responses), 1);
        assert_eq!(fixture.database.count_rows("attempts"), 2);
        assert_eq!(fixture.database.count_rows("events WHERE original_digest IS NOT NULL"), 0);
    });
}

#[test]
fn the_last_failure_is_found_among_many_untried_deliveries() {
    on_each_database(|fixture| {
        create_events(fixture, 30);
        let last_of = |provider| {
            let found = fixture.read_snapshot(|reads| reads.last_failed_attempt(provider));
            found.map(|(event, attempt)| (event, attempt.number))
        };
        let last = || {
            assert_eq!(last_of(ProviderId::from_uuid(Uuid::nil())), None, "another provider has no events");
            last_of(fixture.provider)
        };
        assert_eq!(last(), None);
        let at = current_time(fixture);
        let claimed = claim_events(fixture, at, 1, 2);
        let failed = new_settlement(fixture, &claimed[0], 1, DeliveryOutcome::Exhausted, at);
        let later = at + Duration::from_secs(1);
        let claimed_again = new_settlement(
            fixture,
            &claimed[1],
            1,
            DeliveryOutcome::RetryAt(later + Duration::from_secs(15)),
            later,
        );
        settle_events(fixture, &[failed]);
        assert_eq!(last(), Some((claimed[0].id, 1)));
        settle_events(fixture, &[claimed_again]);
        assert_eq!(last(), Some((claimed[1].id, 1)));
    });
}

#[test]
fn the_first_of_two_settlements_under_one_lease_wins() {
    with_each_write_form(|fixture| {
        create_events(fixture, 1);
        let at = current_time(fixture);
        let claimed = claim_events(fixture, at, 1, 1);
        let twice = [DeliveryOutcome::Delivered, DeliveryOutcome::Exhausted]
            .map(|outcome| new_settlement(fixture, &claimed[0], 1, outcome, at));
        settle_events(fixture, &twice);
        assert_eq!(
            fixture.database.count_rows("deliveries WHERE state = 2 AND attempts = 1 AND lease_id IS NULL"),
            1
        );
    });
}

#[test]
fn concurrent_claims_never_overlap() {
    on_each_database(|fixture| {
        create_events(fixture, 40);
        let at = current_time(fixture);
        let claimed = std::sync::Mutex::new(Vec::new());
        run_concurrently(8, |client| {
            for round in 0..4 {
                let number = u64::try_from(client * 10 + round).unwrap();
                claimed
                    .lock()
                    .unwrap()
                    .extend(claim_events(fixture, at, number, 2).into_iter().map(|event| event.id));
            }
        });
        let claimed = claimed.into_inner().unwrap();
        assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), claimed.len());
    });
}

#[test]
fn a_replay_makes_waiting_events_due_and_leaves_events_in_flight() {
    on_each_database(|fixture| {
        create_events(fixture, 2);
        let at = current_time(fixture);
        let claimed = claim_events(fixture, at, 1, 2);
        let later = at + Duration::from_secs(3_600);
        settle_events(
            fixture,
            &[new_settlement(fixture, &claimed[0], 1, DeliveryOutcome::RetryAt(later), at)],
        );
        let replay = |which: usize| {
            fixture.store.transaction(|tx| tx.replay_event(claimed[which].id, at)).unwrap().unwrap()
        };
        assert!(replay(0), "waiting for its retry");
        assert!(!replay(0), "already due");
        assert!(!replay(1), "in flight");
        let claimed_again = claim_events(fixture, at, 2, 9);
        assert_eq!(claimed_again.len(), 1);
        assert_eq!(
            (claimed_again[0].id, claimed_again[0].attempts, claimed_again[0].attempts_before_replay),
            (claimed[0].id, 1, 0)
        );
    });
}

#[test]
fn events_of_another_provider_are_not_listed() {
    on_each_database(|fixture| {
        create_events(fixture, 2);
        let count = |provider, state, since| {
            let query = EventQuery { provider, state, since, limit: 10, ..EventQuery::default() };
            fixture.read_snapshot(|reads| reads.list_events(&query)).len()
        };
        for state in [None, Some(EventState::Pending)] {
            for since in [None, Some(Timestamp::UNIX_EPOCH)] {
                assert_eq!(count(Some(fixture.provider), state, since), 2);
                assert_eq!(count(Some(ProviderId::from_uuid(Uuid::nil())), state, since), 0);
            }
        }
    });
}

#[test]
fn all_waiting_events_of_a_provider_become_due_at_once() {
    on_each_database(|fixture| {
        create_events(fixture, 4);
        let at = current_time(fixture);
        let claimed = claim_events(fixture, at, 1, 4);
        let later = at + Duration::from_secs(3_600);
        let outcomes =
            [DeliveryOutcome::RetryAt(later), DeliveryOutcome::RetryAt(later), DeliveryOutcome::Delivered];
        for (claimed, outcome) in claimed.iter().zip(outcomes) {
            settle_events(fixture, &[new_settlement(fixture, claimed, 1, outcome, at)]);
        }
        let before: Vec<_> =
            claimed.iter().map(|claimed| fixture.database.load_delivery(claimed.id)).collect();
        let replay = |provider| {
            let query = ReplayQuery {
                provider,
                state: EventState::Pending,
                since: None,
                not_attempted_since: None,
                after: None,
                limit: 9,
            };
            fixture.store.transaction(|tx| tx.replay_page(&query, at)).unwrap().replayed
        };
        assert_eq!(replay(ProviderId::from_uuid(Uuid::nil())), 0, "events of another provider");
        assert_eq!(replay(fixture.provider), 2);
        assert_eq!(replay(fixture.provider), 0, "already due");
        for (claimed, before) in claimed.iter().zip(before) {
            let due = if before.next_attempt_at == Some(later) { Some(at) } else { before.next_attempt_at };
            let expected = StoredDelivery { next_attempt_at: due, ..before };
            assert_eq!(
                fixture.database.load_delivery(claimed.id),
                expected,
                "only the time of waiting events changes"
            );
        }
    });
}

#[test]
fn events_of_another_provider_are_not_replayed() {
    on_each_database(|fixture| {
        create_events(fixture, 1);
        let at = current_time(fixture);
        let claimed = claim_events(fixture, at, 1, 1);
        settle_events(fixture, &[new_settlement(fixture, &claimed[0], 1, DeliveryOutcome::Delivered, at)]);
        let replay = |provider, since| {
            let query = ReplayQuery {
                provider,
                state: EventState::Delivered,
                since,
                not_attempted_since: None,
                after: None,
                limit: 9,
            };
            fixture.store.transaction(|tx| tx.replay_page(&query, at)).unwrap().replayed
        };
        for since in [None, Some(Timestamp::UNIX_EPOCH)] {
            assert_eq!(replay(ProviderId::from_uuid(Uuid::nil()), since), 0);
        }
        assert_eq!(replay(fixture.provider, Some(Timestamp::UNIX_EPOCH)), 1);
    });
}

#[test]
fn events_of_a_suspended_provider_wait() {
    on_each_database(|fixture| {
        create_events(fixture, 1);
        let at = current_time(fixture);
        let providers = || fixture.store.transaction(|tx| tx.providers_with_due_events(at)).unwrap();
        assert_eq!(providers(), [fixture.provider]);
        let suspend = |suspended| {
            let set = fixture.store.transaction(|tx| {
                let provider = tx.find_provider(fixture.provider)?.unwrap();
                tx.update_provider(&Provider { suspended, ..provider }, at)
            });
            set.unwrap();
        };
        suspend(true);
        assert_eq!(providers(), []);
        assert_eq!(fixture.store.transaction(|tx| tx.next_event_due()).unwrap(), None);
        suspend(false);
        assert_eq!(claim_events(fixture, at, 1, 9).len(), 1);
    });
}

pub fn reserve_notification(id: CompanyId) -> Notification {
    let company = NotifiedCompany { id, name: "Acme".into(), domain: "acme.example".into() };
    Notification::CertificateExpiring { company, expires_at: Timestamp::UNIX_EPOCH, has_expired: true }
}

pub fn new_mail(
    fixture: &LedgerFixture,
    number: u64,
    provider_id: ProviderId,
    created_at: Timestamp,
) -> NewNotification {
    NewNotification {
        id: lease_id(number),
        company_id: fixture.company,
        provider_id,
        recipient: Recipient::Mail(EmailAddress::parse("a@example.com").unwrap()),
        notification: reserve_notification(fixture.company),
        created_at,
    }
}

/// Queues an email of the fixture's provider for each number.
pub fn queue_mails(fixture: &LedgerFixture, numbers: RangeInclusive<u64>, created_at: Timestamp) {
    let mails: Vec<NewNotification> =
        numbers.map(|number| new_mail(fixture, number, fixture.provider, created_at)).collect();
    fixture.store.transaction(|tx| tx.queue_notifications(&mails)).unwrap();
}

pub fn claim_of_mails(now: Timestamp, lease_until: Timestamp, number: u64, limit: u16) -> NotificationClaim {
    NotificationClaim {
        channel: Channel::Mail,
        after: None,
        limit,
        now,
        lease_until,
        lease: lease_id(number),
    }
}

#[test]
fn a_mail_is_claimed_once_and_settled_by_its_holder() {
    on_each_database(|fixture| {
        let at = current_time(fixture);
        queue_mails(fixture, 1..=3, at);
        let count_unsent = || fixture.read_snapshot(|reads| reads.count_unsent_notifications(Channel::Mail));
        let until = at + Duration::from_secs(120);
        let claim = |at, number| {
            fixture
                .store
                .transaction(|tx| tx.claim_notifications(&claim_of_mails(at, until, number, 16)))
                .unwrap()
                .map_or_else(Vec::new, |claimed| claimed.notifications)
        };
        assert_eq!(claim(at, 10).len(), 3);
        assert_eq!(claim(at, 11).len(), 0);
        assert_eq!(count_unsent(), UnsentNotificationCounts { waiting: 3, given_up: 0 });
        let settle = |id, number, outcome| {
            fixture
                .store
                .transaction(|tx| tx.settle_notification(lease_id(id), lease_id(number), outcome))
                .unwrap();
        };
        settle(1, 10, NotificationOutcome::Sent);
        settle(2, 10, NotificationOutcome::GivenUp);
        settle(3, 11, NotificationOutcome::Sent); // does not hold the lease
        assert_eq!(count_unsent(), UnsentNotificationCounts { waiting: 1, given_up: 1 });
        assert_eq!(
            fixture.store.transaction(|tx| tx.next_notification_due(Channel::Mail)).unwrap(),
            Some(until)
        );
        let left = claim(until, 12);
        assert_eq!((left.len(), left[0].id), (1, lease_id(3)));
        settle(3, 12, NotificationOutcome::RetryAt(until + Duration::from_secs(15)));
        assert_eq!(claim(until + Duration::from_secs(15), 13)[0].attempts, 1);
        // A second settlement, as after a commit whose response was lost, changes neither ended deliveries nor
        // deliveries that were claimed again.
        settle(1, 10, NotificationOutcome::Sent);
        settle(2, 10, NotificationOutcome::GivenUp);
        settle(3, 12, NotificationOutcome::RetryAt(until + Duration::from_secs(15)));
        assert_eq!(fixture.database.count_rows("notifications WHERE attempts = 1"), 3);
        assert_eq!(fixture.database.count_rows("notifications WHERE state = 2"), 1);
        assert_eq!(
            fixture.database.count_rows("notifications WHERE state = 3 AND next_attempt_at IS NULL"),
            1
        );
        assert_eq!(fixture.database.count_rows("notifications WHERE state = 1 AND lease_id IS NOT NULL"), 1);
    });
}

#[test]
fn a_mail_that_is_retried_is_due_before_all_others() {
    on_each_database(|fixture| {
        let at = current_time(fixture);
        let mail = |number| NewNotification {
            id: lease_id(number),
            company_id: fixture.company,
            provider_id: fixture.provider,
            recipient: Recipient::Mail(EmailAddress::parse("a@example.com").unwrap()),
            notification: reserve_notification(fixture.company),
            created_at: at,
        };
        let later = at + Duration::from_secs(3_600);
        let lease_end = at + Duration::from_secs(120);
        let run =
            |work: &dyn Fn(&mut dyn Tx) -> Result<(), StoreError>| fixture.store.transaction(work).unwrap();
        run(&|tx| tx.queue_notifications(&[mail(1), mail(2), mail(3)]));
        run(&|tx| tx.claim_notifications(&claim_of_mails(at, lease_end, 10, 2)).map(drop));
        let retry = |number| {
            fixture.store.transaction(|tx| tx.retry_notification(Channel::Mail, lease_id(number))).unwrap()
        };
        assert!(!retry(1), "in flight");
        run(&|tx| tx.settle_notification(lease_id(1), lease_id(10), NotificationOutcome::RetryAt(later)));
        run(&|tx| tx.settle_notification(lease_id(2), lease_id(10), NotificationOutcome::GivenUp));
        let next = || fixture.store.transaction(|tx| tx.next_notification_due(Channel::Mail)).unwrap();
        assert_eq!(next(), Some(at));
        assert!(retry(1) && retry(2) && !retry(4));
        assert_eq!(next(), Some(RETRIED_NOTIFICATION_DUE));
        let claimed = fixture
            .store
            .transaction(|tx| tx.claim_notifications(&claim_of_mails(at, lease_end, 11, 2)))
            .unwrap();
        let mut claimed: Vec<_> =
            claimed.unwrap().notifications.iter().map(|mail| (mail.id, mail.attempts)).collect();
        claimed.sort();
        assert_eq!(claimed, [(lease_id(1), 1), (lease_id(2), 0)]);
        assert_eq!(next(), Some(at));
    });
}
