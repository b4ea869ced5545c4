//! Leases, outcomes, and the effect of one mail on the others.

use std::sync::Arc;

use guerdon_domain::ports::{MailFate, StoreError};
use guerdon_mailer::{Failure, NextStep};
use time::Duration;

use crate::support::journal::{Journal, State};
use crate::support::{Bench, START, SetClock, id, mail};

#[test]
fn each_mail_is_settled_before_the_next_is_sent() {
    let journal = Journal::of((1..=20).map(mail));
    let (seen, mut before) = (journal.clone(), 0);
    let mut bench = Bench::over(SetClock::at(START), journal, move |_| {
        assert_eq!(seen.count(State::Sent), before);
        before += 1;
        Ok(())
    });
    bench.run_for(Duration::minutes(1));
    assert_eq!(bench.journal.count(State::Sent), 20);
}

#[test]
fn no_mail_is_begun_that_the_lease_may_not_outlast() {
    let clock = SetClock::at(START);
    let slow = Arc::clone(&clock);
    let mut bench = Bench::on(clock, (1..=16).map(mail), move |_| {
        slow.pass(30);
        Ok(())
    });
    assert_eq!(bench.mailer.step(), NextStep::Now);
    assert_eq!(bench.seconds(), [0, 30, 60, 90]);
    let released = bench.journal.settlements().split_off(4);
    assert!(released.iter().all(|(_, fate)| *fate == MailFate::RetryAt(START + Duration::minutes(2))));
    bench.run_for(Duration::minutes(30));
    assert_eq!((bench.journal.count(State::Sent), bench.tried().len()), (16, 16));
}

#[test]
fn a_mail_that_breaks_every_dialogue_holds_up_no_other() {
    let mut bench = Bench::new((1..=6).map(mail), |mail| {
        if mail.id == id(1) { Err(Failure::mail("broke off")) } else { Ok(()) }
    });
    assert_eq!(bench.mailer.step(), NextStep::Now);
    assert_eq!(bench.journal.count(State::Sent), 5);
}

#[test]
fn a_mail_over_which_a_library_panics_holds_up_no_other() {
    let mut bench = Bench::new((1..=2).map(mail), |mail| {
        assert_ne!(mail.id, id(1), "a panic that the test wants");
        Ok(())
    });
    bench.run_for(Duration::hours(3));
    assert_eq!((bench.journal.state(id(1)), bench.journal.state(id(2))), (State::GivenUp, State::Sent));
}

#[test]
fn a_server_that_fails_mail_after_mail_gets_a_short_rest() {
    let mut bench = Bench::new((1..=16).map(mail), |_| Err(Failure::mail("452 no space")));
    bench.mailer.step();
    assert_eq!(bench.tried(), [id(1), id(2), id(3)]);
    let rest = START + Duration::seconds(15);
    assert_eq!(bench.mailer.step(), NextStep::At(rest));
    let fates = bench.journal.settlements();
    assert!(fates[3..].iter().all(|(_, fate)| *fate == MailFate::RetryAt(rest)), "{fates:?}");
}

#[test]
fn a_mail_is_not_sent_again_where_its_settling_failed() {
    let mut bench = Bench::new((1..=3).map(mail), |_| Ok(()));
    bench.journal.fail_settling([StoreError::Unavailable("gone".into()), StoreError::Busy]);
    assert_eq!(bench.mailer.step(), NextStep::At(START + Duration::seconds(5)));
    assert_eq!(bench.tried(), [id(1)]);
    assert_eq!(bench.mailer.step(), NextStep::At(START + Duration::seconds(5)));
    bench.run_for(Duration::minutes(10));
    assert_eq!(bench.journal.count(State::Sent), 3);
    assert_eq!(bench.tried(), [id(1), id(2), id(3)]);
}

#[test]
fn a_mail_is_not_sent_again_when_its_lease_ran_out_unsettled() {
    let mut bench = Bench::new([mail(1)], |_| Ok(()));
    bench.journal.fail_settling((0..60).map(|_| StoreError::Broken("no such column".into())));
    bench.run_for(Duration::hours(1));
    assert_eq!((bench.journal.state(id(1)), bench.tried().len()), (State::Sent, 1));
}

#[test]
fn a_row_that_cannot_be_settled_holds_up_no_other() {
    let mut bench = Bench::new([mail(1)], |_| Ok(()));
    bench.journal.fail_settling((0..1_000).map(|_| StoreError::Broken("no such column".into())));
    bench.mailer.step();
    bench.journal.queue(mail(2));
    bench.mailer.step();
    assert_eq!(bench.tried(), [id(1), id(2)]);
}
