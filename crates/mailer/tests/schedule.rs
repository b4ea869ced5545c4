//! Retries and outcomes, in virtual time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use guerdon_domain::ports::Clock;
use guerdon_mailer::{MailStore as _, MailerObserver, SendFailure};
use time::Duration;

use crate::support::memory_store::MailState;
use crate::support::{MailerHarness, START, SettableClock, mail_id, new_mail};

#[test]
fn a_mail_that_fails_is_tried_for_three_days() {
    let mut harness = MailerHarness::new([new_mail(1)], |_| Err(SendFailure::mail("not now")));
    harness.run_for(Duration::days(4));
    let seconds = harness.attempt_seconds();
    assert_eq!(seconds[..10], [0, 15, 45, 105, 225, 465, 945, 1905, 3825, 7425]);
    assert!(seconds[9..seconds.len() - 1].windows(2).all(|pair| pair[1] - pair[0] == 3_600));
    assert_eq!(seconds.last(), Some(&Duration::days(3).whole_seconds()));
    assert_eq!(harness.store.mail_state(mail_id(1)), MailState::GivenUp);
}

#[test]
fn a_mail_older_than_three_days_is_still_tried_four_times() {
    let clock = SettableClock::start_at(START + Duration::days(10));
    let mut harness = MailerHarness::with_clock(clock, [new_mail(1)], |_| Err(SendFailure::mail("not now")));
    harness.run_for(Duration::days(1));
    assert_eq!(harness.attempted_mails().len(), 4);
    assert_eq!(harness.store.mail_state(mail_id(1)), MailState::GivenUp);
}

#[test]
fn a_mail_is_given_up_at_the_third_refusal_or_if_it_was_not_confirmed_three_times() {
    for failure in [SendFailure::refused("no such user"), SendFailure::unconfirmed("no response")] {
        let mut harness = MailerHarness::new([new_mail(1)], move |_| Err(failure.clone()));
        harness.run_for(Duration::days(4));
        assert_eq!(harness.attempt_seconds(), [0, 3_600, 7_200]);
        assert_eq!(harness.store.mail_state(mail_id(1)), MailState::GivenUp);
    }
}

#[test]
fn an_earlier_outage_does_not_count_as_a_refusal() {
    let mut results =
        vec![SendFailure::refused("no"), SendFailure::refused("no"), SendFailure::server("gone")];
    results.extend((0..9).map(|_| SendFailure::server("gone")));
    let mut harness = MailerHarness::new([new_mail(1)], move |_| results.pop().map_or(Ok(()), Err));
    harness.run_for(Duration::days(1));
    assert_eq!(harness.store.mail_state(mail_id(1)), MailState::Sent);
}

#[test]
fn a_mail_that_cannot_be_encoded_is_given_up_immediately() {
    let mut harness = MailerHarness::new([new_mail(1), new_mail(2)], |mail| {
        if mail.id == mail_id(1) { Err(SendFailure::unsendable("no address")) } else { Ok(()) }
    });
    harness.run_for(Duration::hours(1));
    assert_eq!(harness.attempted_mails(), [mail_id(1), mail_id(2)]);
    assert_eq!(
        (harness.store.mail_state(mail_id(1)), harness.store.mail_state(mail_id(2))),
        (MailState::GivenUp, MailState::Sent)
    );
}

#[test]
fn an_unavailable_server_is_tried_once_per_batch() {
    let clock = SettableClock::start_at(START);
    let back = START + Duration::hours(5);
    let current_clock = Arc::clone(&clock);
    let mut harness = MailerHarness::with_clock(clock, (1..=40).map(new_mail), move |_| {
        if current_clock.now() < back { Err(SendFailure::server("refused the connection")) } else { Ok(()) }
    });
    harness.run_for(Duration::hours(5));
    assert_eq!(harness.attempt_seconds(), [0, 15, 45, 105, 225, 465, 945, 1905, 3825, 7425, 11_025, 14_625]);
    assert_eq!(harness.store.count_in_state(MailState::Pending), 40);
    harness.run_for(Duration::hours(1));
    assert_eq!(harness.store.count_in_state(MailState::Sent), 40);
    assert_eq!(harness.attempted_mails().len(), 12 + 40);
}

#[test]
fn a_retry_by_the_operator_does_not_wait_for_an_unavailable_server() {
    let clock = SettableClock::start_at(START);
    let back = START + Duration::minutes(100);
    let current_clock = Arc::clone(&clock);
    let mut harness = MailerHarness::with_clock(clock, (1..=3).map(new_mail), move |_| {
        if current_clock.now() < back { Err(SendFailure::server("refused the connection")) } else { Ok(()) }
    });
    harness.run_for(Duration::minutes(80));
    assert_eq!(harness.attempt_seconds().last(), Some(&3_825));
    harness.store.retry_mail(mail_id(2));
    harness.run_for(Duration::seconds(20));
    assert_eq!(
        harness.attempted_mails()[9..],
        [mail_id(2), mail_id(2)],
        "at once, and again after the first wait"
    );
    assert_eq!(harness.attempt_seconds()[9..], [4_800, 4_815]);
    harness.run_for(Duration::hours(1));
    assert_eq!(harness.store.count_in_state(MailState::Sent), 3);
}

#[test]
fn a_server_that_is_available_again_resets_the_wait() {
    let mut results = [false, false, true, false, true].into_iter();
    let mut harness = MailerHarness::new([new_mail(1), new_mail(2)], move |_| {
        if results.next().unwrap() { Ok(()) } else { Err(SendFailure::server("gone")) }
    });
    harness.run_for(Duration::hours(1));
    assert_eq!(harness.attempt_seconds(), [0, 15, 45, 45, 60]);
}

#[test]
fn a_long_outage_gives_up_only_mails_that_were_tried_four_times() {
    let counts = Arc::new(AttemptCounts::default());
    let mut harness = MailerHarness::new((1..=3).map(new_mail), |_| Err(SendFailure::server("gone")));
    harness.mailer = harness.mailer.with_observer(Arc::<AttemptCounts>::clone(&counts));
    harness.run_for(Duration::days(3) + Duration::hours(2));
    assert_eq!(harness.store.count_in_state(MailState::GivenUp), 1);
    harness.run_for(Duration::hours(8));
    assert_eq!(harness.store.count_in_state(MailState::GivenUp), 3);
    assert_eq!(counts.0[2].load(Ordering::Relaxed), 3);
    for number in [2, 3] {
        let attempts = harness.attempted_mails().into_iter().filter(|id| *id == mail_id(number)).count();
        assert_eq!(attempts, 4, "mail {number}");
    }
}

#[test]
fn an_old_mail_that_was_not_tried_is_not_given_up() {
    let start = START + Duration::days(10);
    let (clock, back) = (SettableClock::start_at(start), start + Duration::minutes(2));
    let current_clock = Arc::clone(&clock);
    let mut harness = MailerHarness::with_clock(clock, (1..=16).map(new_mail), move |_| {
        if current_clock.now() < back { Err(SendFailure::server("refused the connection")) } else { Ok(()) }
    });
    harness.run_for(Duration::minutes(2));
    assert_eq!(harness.attempted_mails(), [mail_id(1); 4]);
    assert_eq!(harness.store.count_in_state(MailState::Pending), 15);
    harness.run_for(Duration::hours(1));
    assert_eq!(harness.store.count_in_state(MailState::Sent), 15);
}

#[test]
fn a_clock_that_is_set_back_does_not_stop_the_mailer() {
    let mut results = [false, true].into_iter();
    let mut harness = MailerHarness::new([new_mail(1)], move |_| {
        if results.next().unwrap() { Ok(()) } else { Err(SendFailure::server("gone")) }
    });
    let far = START + Duration::days(300);
    harness.clock.set_time(far);
    harness.mailer.process_batch();
    harness.clock.set_time(START);
    harness.store.queue_mail(new_mail(1));
    harness.mailer.process_batch();
    assert_eq!(harness.store.mail_state(mail_id(1)), MailState::Sent);
}

#[test]
fn a_mail_that_failed_while_the_clock_was_ahead_is_retried_after_the_correction() {
    let mut results = [false, true].into_iter();
    let mut harness = MailerHarness::new([new_mail(1)], move |_| {
        if results.next().unwrap() { Ok(()) } else { Err(SendFailure::server("gone")) }
    });
    harness.clock.set_time(START + Duration::hours(12));
    harness.mailer.process_batch();
    assert_eq!(harness.store.mail_state(mail_id(1)), MailState::Pending);
    harness.clock.set_time(START);
    harness.mailer.process_batch();
    assert_eq!(harness.store.mail_state(mail_id(1)), MailState::Sent);
}

#[test]
fn a_claim_that_a_killed_process_made_while_the_clock_was_ahead_ends_after_one_lease() {
    let mut harness = MailerHarness::new([new_mail(1)], |_| Ok(()));
    let (ahead, lease) = (START + Duration::hours(12), Duration::minutes(2));
    harness.store.claim_due_mails(None, ahead, ahead + lease, mail_id(99), 16).unwrap();
    harness.run_for(lease);
    assert_eq!(harness.attempt_seconds(), [lease.whole_seconds()]);
    assert_eq!(harness.store.mail_state(mail_id(1)), MailState::Sent);
}

#[derive(Default)]
struct AttemptCounts([AtomicUsize; 3]);

impl MailerObserver for AttemptCounts {
    fn mail_sent(&self) {
        self.0[0].fetch_add(1, Ordering::Relaxed);
    }

    fn attempt_failed(&self) {
        self.0[1].fetch_add(1, Ordering::Relaxed);
    }

    fn mail_given_up(&self) {
        self.0[2].fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn attempts_are_counted() {
    let counts = Arc::new(AttemptCounts::default());
    let mut harness = MailerHarness::new((1..=3).map(new_mail), |mail| match mail.attempts {
        0 if mail.id == mail_id(1) => Err(SendFailure::mail("later")),
        _ if mail.id == mail_id(2) => Err(SendFailure::unsendable("never")),
        _ => Ok(()),
    });
    harness.mailer = harness.mailer.with_observer(Arc::<AttemptCounts>::clone(&counts));
    harness.run_for(Duration::hours(1));
    assert_eq!(counts.0.each_ref().map(|count| count.load(Ordering::Relaxed)), [2, 1, 1]);
}
