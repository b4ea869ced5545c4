//! The mailer on its thread.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use guerdon_domain::ports::{MailFate, Wake};
use guerdon_mailer::Failure;

use crate::support::journal::{Journal, State};
use crate::support::{Bench, START, SetClock, id, mail};

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_mail_that_is_queued_later_is_sent_and_the_mailer_stops() {
    let (tell, told) = channel();
    let bench = Bench::new([mail(1)], move |mail| {
        tell.send(mail.id).unwrap();
        Ok(())
    });
    let wake = Wake::default();
    let running = bench.mailer.woken_by(wake.clone()).start().unwrap();
    assert_eq!(told.recv_timeout(LONG), Ok(id(1)));
    bench.journal.queue(mail(2));
    wake.wake();
    assert_eq!(told.recv_timeout(LONG), Ok(id(2)));
    assert!(running.stop(LONG));
    assert_eq!(bench.journal.count(State::Sent), 2);
}

#[test]
fn stopping_lets_the_mail_at_hand_end_and_releases_the_rest() {
    let (begin, begun) = channel();
    let (finish, finished) = channel();
    let journal = Journal::of((1..=16).map(mail));
    let bench = Bench::over(SetClock::at(START), journal.clone(), move |_| {
        begin.send(()).unwrap();
        finished.recv().map_err(|cause| Failure::server(cause.to_string()))
    });
    let running = bench.mailer.start().unwrap();
    begun.recv_timeout(LONG).unwrap();
    assert!(!running.stop(Duration::from_millis(1)), "the mail is still being sent");
    finish.send(()).unwrap();
    assert_eq!(begun.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected), "the mailer has ended");
    let settlements = journal.settlements();
    assert_eq!(settlements[0], (id(1), MailFate::Sent));
    assert_eq!(settlements.len(), 16);
    assert!(settlements[1..].iter().all(|(_, fate)| *fate == MailFate::RetryAt(START)));
}
