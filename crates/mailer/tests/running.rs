//! The mailer on its thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use guerdon_domain::ports::{NotificationOutcome, Notifier};
use guerdon_mailer::{MailerObserver, SendFailure};

use crate::support::memory_store::{MailState, MemoryMailStore};
use crate::support::{MailerHarness, START, SettableClock, mail_id, new_mail};

const TIMEOUT: Duration = Duration::from_secs(60);

#[test]
fn a_mail_that_is_queued_later_is_sent_and_the_mailer_stops() {
    let (sent_sender, sent) = channel();
    let harness = MailerHarness::new([new_mail(1)], move |mail| {
        sent_sender.send(mail.id).unwrap();
        Ok(())
    });
    let wake = Notifier::default();
    let running = harness.mailer.with_wake(wake.clone()).start().unwrap();
    assert_eq!(sent.recv_timeout(TIMEOUT), Ok(mail_id(1)));
    harness.store.queue_mail(new_mail(2));
    wake.notify_one();
    assert_eq!(sent.recv_timeout(TIMEOUT), Ok(mail_id(2)));
    assert!(running.stop(TIMEOUT));
    assert_eq!(harness.store.count_in_state(MailState::Sent), 2);
}

#[test]
fn stopping_finishes_the_current_mail_and_releases_the_rest() {
    let (started_sender, started) = channel();
    let (release, released) = channel();
    let store = MemoryMailStore::with_mails((1..=16).map(new_mail));
    let harness = MailerHarness::with_store(SettableClock::start_at(START), store.clone(), move |_| {
        started_sender.send(()).unwrap();
        released.recv().map_err(|cause| SendFailure::server(cause.to_string()))
    });
    let running = harness.mailer.start().unwrap();
    started.recv_timeout(TIMEOUT).unwrap();
    assert!(!running.stop(Duration::from_millis(1)), "the email is still being sent");
    release.send(()).unwrap();
    assert_eq!(started.recv_timeout(TIMEOUT), Err(RecvTimeoutError::Disconnected), "the mailer has ended");
    let settlements = store.settlements();
    assert_eq!(settlements[0], (mail_id(1), NotificationOutcome::Sent));
    assert_eq!(settlements.len(), 16);
    assert!(settlements[1..].iter().all(|(_, outcome)| *outcome == NotificationOutcome::Released(START)));
}

/// Panics when the first email was sent.
#[derive(Default)]
struct PanickingObserver(AtomicBool);

impl MailerObserver for PanickingObserver {
    fn mail_sent(&self) {
        assert!(self.0.swap(true, Ordering::Relaxed), "the observer panics once");
    }
}

#[test]
fn the_mailer_continues_after_a_panic() {
    let (sent_sender, sent) = channel();
    let harness = MailerHarness::new([new_mail(1)], move |mail| {
        sent_sender.send(mail.id).unwrap();
        Ok(())
    });
    let wake = Notifier::default();
    let observer = Arc::<PanickingObserver>::default();
    let running = harness.mailer.with_observer(observer).with_wake(wake.clone()).start().unwrap();
    assert_eq!(sent.recv_timeout(TIMEOUT), Ok(mail_id(1)));
    harness.store.queue_mail(new_mail(2));
    wake.notify_one();
    assert_eq!(sent.recv_timeout(TIMEOUT), Ok(mail_id(2)));
    assert!(running.stop(TIMEOUT));
    assert_eq!(harness.store.mail_state(mail_id(2)), MailState::Sent);
}
