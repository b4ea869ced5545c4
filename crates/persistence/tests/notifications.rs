//! Notifications that are released without an attempt, and those that wait too long after the clock was set back.

use std::time::Duration;

use guerdon_domain::notifications::Channel;
use guerdon_domain::ports::{
    NotificationClaim, NotificationOutcome, NotificationQuery, NotificationState, StoreExt as _, Timestamp,
};
use guerdon_domain::values::EmailAddress;
use uuid::Uuid;

use crate::deliveries::{claim_of_mails, current_time, lease_id, new_mail, queue_mails};
use crate::support::{LedgerFixture, on_each_database};

const LEASE: Duration = Duration::from_secs(120);
const RETRY_WAIT_MAX: Duration = Duration::from_secs(3_600);

/// Inserts this number of copies of the only queued email.
fn copy_mail(fixture: &LedgerFixture, copies: usize) {
    let columns = "company_id, provider_id, channel, recipient, notification, state, attempts, next_attempt_at, created_at";
    let insert = |id: &str, numbers: &str| {
        format!(
            "INSERT INTO notifications (id, {columns}) SELECT {id}, {columns} FROM notifications, {numbers}"
        )
    };
    let numbers = format!(
        "(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {copies}) SELECT i FROM n)"
    );
    let postgres = insert("gen_random_uuid()", &format!("generate_series(1, {copies})"));
    fixture
        .database
        .execute_sql(&insert("randomblob(16)", &numbers), &format!("SET guerdon.writer = on; {postgres}"));
}

/// Claims due emails and returns each with the number of its attempts.
fn claim_mails(fixture: &LedgerFixture, now: Timestamp, lease: u64, limit: u16) -> Vec<(Uuid, u16)> {
    let claim = claim_of_mails(now, now + LEASE, lease, limit);
    let claimed = fixture.store.transaction(|tx| tx.claim_notifications(&claim)).unwrap();
    let claimed = claimed.map_or_else(Vec::new, |claimed| claimed.notifications);
    claimed.iter().map(|mail| (mail.id, mail.attempts)).collect()
}

fn settle_mail(fixture: &LedgerFixture, number: u64, lease: u64, outcome: NotificationOutcome) {
    fixture
        .store
        .transaction(|tx| tx.settle_notification(lease_id(number), lease_id(lease), outcome))
        .unwrap();
}

fn reschedule_mails(fixture: &LedgerFixture, now: Timestamp) -> usize {
    fixture
        .store
        .transaction(|tx| tx.reschedule_notifications(Channel::Mail, now, RETRY_WAIT_MAX, LEASE))
        .unwrap()
}

#[test]
fn providers_take_turns() {
    on_each_database(|fixture| {
        let at = current_time(fixture);
        let (first, second) = (fixture.provider, fixture.create_provider());
        let mail = |number, provider| new_mail(fixture, number, provider, at);
        let mails: Vec<_> =
            (1..=6).map(|number| mail(number, first)).chain([mail(7, second), mail(8, second)]).collect();
        fixture.store.transaction(|tx| tx.queue_notifications(&mails)).unwrap();
        let claim_after = |after, lease| {
            let claim = NotificationClaim { after, ..claim_of_mails(at, at + LEASE, lease, 2) };
            let claimed = fixture.store.transaction(|tx| tx.claim_notifications(&claim)).unwrap();
            claimed.map(|claimed| (claimed.provider, claimed.notifications.len()))
        };
        assert_eq!(claim_after(None, 10), Some((first, 2)));
        assert_eq!(claim_after(Some(first), 11), Some((second, 2)));
        assert_eq!(claim_after(Some(second), 12), Some((first, 2)));
        settle_mail(fixture, 8, 11, NotificationOutcome::RetryAt(at + RETRY_WAIT_MAX));
        assert_eq!(claim_after(Some(first), 13), Some((first, 2)), "the second has none that is due");
        assert_eq!(claim_after(Some(first), 14), None);
        fixture.store.transaction(|tx| tx.retry_notification(Channel::Mail, lease_id(8))).unwrap();
        assert_eq!(claim_after(Some(second), 15), Some((second, 1)), "an operator retries one of its emails");
    });
}

#[test]
fn a_release_does_not_count_as_an_attempt() {
    on_each_database(|fixture| {
        let at = current_time(fixture);
        queue_mails(fixture, 1..=1, at);
        assert_eq!(claim_mails(fixture, at, 10, 1), [(lease_id(1), 0)]);
        settle_mail(fixture, 1, 10, NotificationOutcome::RetryAt(at));
        assert_eq!(claim_mails(fixture, at, 11, 1), [(lease_id(1), 1)]);
        let later = at + Duration::from_secs(15);
        settle_mail(fixture, 1, 11, NotificationOutcome::Released(later));
        assert_eq!(claim_mails(fixture, at, 12, 1), []);
        assert_eq!(claim_mails(fixture, later, 13, 1), [(lease_id(1), 1)]);
    });
}

#[test]
fn a_mail_that_cannot_be_read_does_not_block_the_others() {
    on_each_database(|fixture| {
        let at = current_time(fixture);
        queue_mails(fixture, 1..=2, at);
        let damage = |id: &str| format!("UPDATE notifications SET notification = '{{}}' WHERE id = {id}");
        let id = lease_id(1).simple();
        fixture.database.execute_sql(&damage(&format!("x'{id}'")), &damage(&format!("'{id}'")));
        assert_eq!(claim_mails(fixture, at, 10, 9), [(lease_id(2), 0)]);
        let query = NotificationQuery { channel: Channel::Mail, state: None, since: None, limit: 9 };
        let mut listed = fixture.read_snapshot(|reads| reads.list_notifications(&query));
        listed.sort_by_key(|mail| mail.id);
        let states: Vec<_> = listed.iter().map(|mail| (mail.state, mail.notification.is_some())).collect();
        assert_eq!(states, [(NotificationState::Waiting, false), (NotificationState::Waiting, true)]);
    });
}

#[test]
fn mails_are_rescheduled_after_the_clock_was_set_back() {
    on_each_database(|fixture| {
        let now = current_time(fixture);
        let ahead = now + Duration::from_secs(12 * 3_600);
        queue_mails(fixture, 1..=2, ahead);
        assert_eq!(claim_mails(fixture, ahead, 10, 1), [(lease_id(1), 0)]);
        assert_eq!(reschedule_mails(fixture, ahead), 0, "the clock was not set back");
        assert_eq!(reschedule_mails(fixture, now), 2, "one claimed, one waiting");
        assert_eq!(claim_mails(fixture, now, 11, 9), [(lease_id(2), 0)]);
        assert_eq!(reschedule_mails(fixture, now), 0);
        settle_mail(fixture, 2, 11, NotificationOutcome::Sent);
        assert_eq!(claim_mails(fixture, now + LEASE, 12, 9), [(lease_id(1), 0)]);
    });
}

#[test]
fn a_small_clock_difference_reschedules_no_mail() {
    on_each_database(|fixture| {
        let now = current_time(fixture);
        queue_mails(fixture, 1..=2, now);
        assert_eq!(claim_mails(fixture, now, 10, 2).len(), 2);
        settle_mail(fixture, 1, 10, NotificationOutcome::RetryAt(now + RETRY_WAIT_MAX));
        assert_eq!(reschedule_mails(fixture, now - time::Duration::seconds(59)), 0);
        assert_eq!(reschedule_mails(fixture, now - time::Duration::seconds(61)), 2);
    });
}

#[test]
fn more_mails_to_an_address_than_one_statement_binds_are_deleted_together() {
    on_each_database(|fixture| {
        let at = current_time(fixture);
        queue_mails(fixture, 1..=1, at);
        copy_mail(fixture, 33_000); // SQLite binds at most 32,766 values
        let address = EmailAddress::parse("a@example.com").unwrap();
        let deleted =
            fixture.store.transaction(|tx| tx.delete_notifications_to(fixture.company, &address, at));
        assert_eq!(deleted.unwrap(), 33_001);
        assert_eq!(fixture.database.count_rows("notifications WHERE recipient = 'a@example.com'"), 0);
    });
}
