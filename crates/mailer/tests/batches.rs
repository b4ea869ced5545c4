//! Leases, outcomes, and the effect of one email on the others.

use std::sync::Arc;

use guerdon_domain::ports::{NotificationOutcome, StoreError};
use guerdon_mailer::{NextBatch, SendFailure};
use time::Duration;

use crate::support::memory_store::{MailState, MemoryMailStore};
use crate::support::{MailerHarness, START, SettableClock, mail_id, new_mail};

#[test]
fn each_mail_is_settled_before_the_next_is_sent() {
    let store = MemoryMailStore::with_mails((1..=20).map(new_mail));
    let (observed_store, mut before) = (store.clone(), 0);
    let mut harness = MailerHarness::with_store(SettableClock::start_at(START), store, move |_| {
        assert_eq!(observed_store.count_in_state(MailState::Sent), before);
        before += 1;
        Ok(())
    });
    harness.run_for(Duration::minutes(1));
    assert_eq!(harness.store.count_in_state(MailState::Sent), 20);
}

#[test]
fn no_mail_is_started_if_the_lease_may_end_before_it_is_sent() {
    let clock = SettableClock::start_at(START);
    let slow_clock = Arc::clone(&clock);
    let mut harness = MailerHarness::with_clock(clock, (1..=16).map(new_mail), move |_| {
        slow_clock.advance_seconds(30);
        Ok(())
    });
    assert_eq!(harness.mailer.process_batch(), NextBatch::Now);
    assert_eq!(harness.attempt_seconds(), [0, 30, 60, 90]);
    let released = harness.store.settlements().split_off(4);
    assert!(
        released
            .iter()
            .all(|(_, outcome)| *outcome == NotificationOutcome::Released(START + Duration::minutes(2)))
    );
    harness.run_for(Duration::minutes(30));
    assert_eq!((harness.store.count_in_state(MailState::Sent), harness.attempted_mails().len()), (16, 16));
}

#[test]
fn a_mail_that_breaks_every_connection_delays_no_other() {
    let mut harness = MailerHarness::new((1..=6).map(new_mail), |mail| {
        if mail.id == mail_id(1) { Err(SendFailure::mail("broke off")) } else { Ok(()) }
    });
    assert_eq!(harness.mailer.process_batch(), NextBatch::Now);
    assert_eq!(harness.store.count_in_state(MailState::Sent), 5);
}

#[test]
fn a_mail_that_makes_a_library_panic_delays_no_other() {
    let mut harness = MailerHarness::new((1..=2).map(new_mail), |mail| {
        assert_ne!(mail.id, mail_id(1), "a deliberate panic");
        Ok(())
    });
    harness.run_for(Duration::hours(3));
    assert_eq!(
        (harness.store.mail_state(mail_id(1)), harness.store.mail_state(mail_id(2))),
        (MailState::GivenUp, MailState::Sent)
    );
}

#[test]
fn failing_mails_of_a_provider_do_not_delay_those_of_others() {
    let mut harness = MailerHarness::new((1..=100).map(new_mail), |mail| {
        if mail.id <= mail_id(100) { Err(SendFailure::mail("450 try again later")) } else { Ok(()) }
    });
    (101..=120).for_each(|number| harness.store.queue_mail_of(2, new_mail(number)));
    for _ in 0..4 {
        assert_eq!(harness.mailer.process_batch(), NextBatch::Now);
    }
    assert_eq!(harness.store.count_in_state(MailState::Sent), 20);
    assert_eq!(harness.attempted_mails().len(), 3 + 16 + 3 + 4);
    // Then only the failing provider is left, and an email of another one waits for at most one pause.
    assert_eq!(harness.mailer.process_batch(), NextBatch::Now);
    harness.store.queue_mail_of(2, new_mail(121));
    harness.run_for(Duration::seconds(15));
    assert_eq!(harness.store.mail_state(mail_id(121)), MailState::Sent);
}

#[test]
fn a_server_that_fails_the_mails_of_several_providers_is_paused_briefly() {
    let mut harness = MailerHarness::new([], |_| Err(SendFailure::mail("452 no space")));
    (1..=40).for_each(|number| harness.store.queue_mail_of((number % 4).into(), new_mail(number)));
    for _ in 0..3 {
        assert_eq!(harness.mailer.process_batch(), NextBatch::Now);
    }
    assert_eq!(harness.mailer.process_batch(), NextBatch::At(START + Duration::seconds(15)));
    assert_eq!(harness.attempted_mails().len(), 9);
}

#[test]
fn a_server_that_fails_several_mails_in_a_row_is_paused_briefly() {
    let mut harness = MailerHarness::new((1..=16).map(new_mail), |_| Err(SendFailure::mail("452 no space")));
    harness.mailer.process_batch();
    assert_eq!(harness.attempted_mails(), [mail_id(1), mail_id(2), mail_id(3)]);
    let rest = START + Duration::seconds(15);
    assert_eq!(harness.mailer.process_batch(), NextBatch::At(rest));
    let outcomes = harness.store.settlements();
    assert!(
        outcomes[3..].iter().all(|(_, outcome)| *outcome == NotificationOutcome::Released(rest)),
        "{outcomes:?}"
    );
}

#[test]
fn a_mail_is_not_sent_again_if_its_outcome_could_not_be_stored() {
    let mut harness = MailerHarness::new((1..=3).map(new_mail), |_| Ok(()));
    harness.store.fail_settling([StoreError::Unavailable("gone".into()), StoreError::Busy]);
    assert_eq!(harness.mailer.process_batch(), NextBatch::At(START + Duration::seconds(5)));
    assert_eq!(harness.attempted_mails(), [mail_id(1)]);
    assert_eq!(harness.mailer.process_batch(), NextBatch::At(START + Duration::seconds(5)));
    harness.run_for(Duration::minutes(10));
    assert_eq!(harness.store.count_in_state(MailState::Sent), 3);
    assert_eq!(harness.attempted_mails(), [mail_id(1), mail_id(2), mail_id(3)]);
}

#[test]
fn a_mail_is_not_sent_again_when_its_lease_expires_before_its_outcome_is_stored() {
    let mut harness = MailerHarness::new([new_mail(1)], |_| Ok(()));
    harness.store.fail_settling((0..60).map(|_| StoreError::Broken("no such column".into())));
    harness.run_for(Duration::hours(1));
    assert_eq!((harness.store.mail_state(mail_id(1)), harness.attempted_mails().len()), (MailState::Sent, 1));
}

#[test]
fn a_mail_whose_outcome_cannot_be_stored_delays_no_other() {
    let mut harness = MailerHarness::new([new_mail(1)], |_| Ok(()));
    harness.store.fail_settling((0..1_000).map(|_| StoreError::Broken("no such column".into())));
    harness.mailer.process_batch();
    harness.store.queue_mail(new_mail(2));
    harness.mailer.process_batch();
    assert_eq!(harness.attempted_mails(), [mail_id(1), mail_id(2)]);
}
