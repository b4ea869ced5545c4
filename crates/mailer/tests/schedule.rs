//! Retries and outcomes, in virtual time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use guerdon_domain::ports::Clock;
use guerdon_mailer::{Failure, Observer};
use time::Duration;

use crate::support::journal::State;
use crate::support::{Bench, START, SetClock, id, mail};

#[test]
fn a_mail_that_fails_is_tried_for_three_days() {
    let mut bench = Bench::new([mail(1)], |_| Err(Failure::mail("not now")));
    bench.run_for(Duration::days(4));
    let seconds = bench.seconds();
    assert_eq!(seconds[..10], [0, 15, 45, 105, 225, 465, 945, 1905, 3825, 7425]);
    assert!(seconds[9..seconds.len() - 1].windows(2).all(|pair| pair[1] - pair[0] == 3_600));
    assert_eq!(seconds.last(), Some(&Duration::days(3).whole_seconds()));
    assert_eq!(bench.journal.state(id(1)), State::GivenUp);
}

#[test]
fn a_mail_older_than_three_days_is_still_tried_four_times() {
    let clock = SetClock::at(START + Duration::days(10));
    let mut bench = Bench::on(clock, [mail(1)], |_| Err(Failure::mail("not now")));
    bench.run_for(Duration::days(1));
    assert_eq!(bench.tried().len(), 4);
    assert_eq!(bench.journal.state(id(1)), State::GivenUp);
}

#[test]
fn a_refused_mail_is_given_up_at_the_third_refusal() {
    let mut bench = Bench::new([mail(1)], |_| Err(Failure::refused("no such user")));
    bench.run_for(Duration::days(4));
    assert_eq!(bench.seconds(), [0, 3_600, 7_200]);
    assert_eq!(bench.journal.state(id(1)), State::GivenUp);
}

#[test]
fn an_outage_before_does_not_count_as_a_refusal() {
    let mut answers = vec![Failure::refused("no"), Failure::refused("no"), Failure::server("gone")];
    answers.extend((0..9).map(|_| Failure::server("gone")));
    let mut bench = Bench::new([mail(1)], move |_| answers.pop().map_or(Ok(()), Err));
    bench.run_for(Duration::days(1));
    assert_eq!(bench.journal.state(id(1)), State::Sent);
}

#[test]
fn what_nobody_could_send_is_given_up_at_once() {
    let mut bench = Bench::new([mail(1), mail(2)], |mail| {
        if mail.id == id(1) { Err(Failure::unsendable("no address")) } else { Ok(()) }
    });
    bench.run_for(Duration::hours(1));
    assert_eq!(bench.tried(), [id(1), id(2)]);
    assert_eq!((bench.journal.state(id(1)), bench.journal.state(id(2))), (State::GivenUp, State::Sent));
}

#[test]
fn a_server_that_is_away_is_asked_once_a_batch() {
    let clock = SetClock::at(START);
    let back = START + Duration::hours(5);
    let here = Arc::clone(&clock);
    let mut bench = Bench::on(clock, (1..=40).map(mail), move |_| {
        if here.now() < back { Err(Failure::server("refused the connection")) } else { Ok(()) }
    });
    bench.run_for(Duration::hours(5));
    assert_eq!(bench.seconds(), [0, 15, 45, 105, 225, 465, 945, 1905, 3825, 7425, 11_025, 14_625]);
    assert_eq!(bench.journal.count(State::Pending), 40);
    bench.run_for(Duration::hours(1));
    assert_eq!(bench.journal.count(State::Sent), 40);
    assert_eq!(bench.tried().len(), 12 + 40);
}

#[test]
fn a_retry_by_the_operator_is_not_kept_waiting_for_a_server_that_was_away() {
    let clock = SetClock::at(START);
    let back = START + Duration::minutes(100);
    let here = Arc::clone(&clock);
    let mut bench = Bench::on(clock, (1..=3).map(mail), move |_| {
        if here.now() < back { Err(Failure::server("refused the connection")) } else { Ok(()) }
    });
    bench.run_for(Duration::minutes(80));
    assert_eq!(bench.seconds().last(), Some(&3_825));
    bench.journal.retry(id(2));
    bench.run_for(Duration::seconds(20));
    assert_eq!(bench.tried()[9..], [id(2), id(2)], "at once, and again after the first wait");
    assert_eq!(bench.seconds()[9..], [4_800, 4_815]);
    bench.run_for(Duration::hours(1));
    assert_eq!(bench.journal.count(State::Sent), 3);
}

#[test]
fn a_server_that_came_back_is_forgiven() {
    let mut answers = [false, false, true, false, true].into_iter();
    let mut bench = Bench::new([mail(1), mail(2)], move |_| {
        if answers.next().unwrap() { Ok(()) } else { Err(Failure::server("gone")) }
    });
    bench.run_for(Duration::hours(1));
    assert_eq!(bench.seconds(), [0, 15, 45, 45, 60]);
}

#[test]
fn mails_given_up_over_a_dead_server_do_not_queue_up() {
    let mut bench = Bench::new((1..=10).map(mail), |_| Err(Failure::server("gone")));
    bench.run_for(Duration::days(3) + Duration::hours(2));
    assert_eq!(bench.journal.count(State::GivenUp), 10);
}

#[test]
fn a_clock_set_back_does_not_silence_the_mailer() {
    let mut answers = [false, true].into_iter();
    let mut bench =
        Bench::new(
            [mail(1)],
            move |_| {
                if answers.next().unwrap() { Ok(()) } else { Err(Failure::server("gone")) }
            },
        );
    let far = START + Duration::days(300);
    bench.clock.set(far);
    bench.mailer.step();
    bench.clock.set(START);
    bench.journal.queue(mail(1));
    bench.mailer.step();
    assert_eq!(bench.journal.state(id(1)), State::Sent);
}

#[derive(Default)]
struct Counts([AtomicUsize; 3]);

impl Observer for Counts {
    fn sent(&self) {
        self.0[0].fetch_add(1, Ordering::Relaxed);
    }

    fn failed(&self) {
        self.0[1].fetch_add(1, Ordering::Relaxed);
    }

    fn given_up(&self) {
        self.0[2].fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn attempts_are_counted() {
    let counts = Arc::new(Counts::default());
    let mut bench = Bench::new((1..=3).map(mail), |mail| match mail.attempts {
        0 if mail.id == id(1) => Err(Failure::mail("later")),
        _ if mail.id == id(2) => Err(Failure::unsendable("never")),
        _ => Ok(()),
    });
    bench.mailer = bench.mailer.observed_by(Arc::<Counts>::clone(&counts));
    bench.run_for(Duration::hours(1));
    assert_eq!(counts.0.each_ref().map(|count| count.load(Ordering::Relaxed)), [2, 1, 1]);
}
