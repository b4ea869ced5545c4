//! Claims emails of one provider after the other, sends them, and stores each outcome before it sends the next.

mod running;
mod schedule;
mod server;

use std::collections::HashMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use guerdon_domain::ports::{
    CLOCK_TOLERANCE, Clock, IdGenerator, NotificationOutcome, Notifier, RETRIED_NOTIFICATION_DUE, StoreError,
    Timestamp,
};
use guerdon_domain::values::ProviderId;
use uuid::Uuid;

use crate::failure::{FailureKind, SendFailure};
use crate::mail::Mail;
use crate::mail_store::{ClaimedMails, MailStore};
use crate::observer::{MailerObserver, NoObserver};
use crate::transport::{MailTransport, SEND_DURATION_MAX};
use schedule::{RETRY_WAIT_MAX, RETRY_WAIT_MIN};
use server::ServerAvailability;

pub use running::RunningMailer;

/// The maximum number of emails in one claim.
const BATCH_SIZE_MAX: u16 = 16;
/// How long a claim is valid.
const LEASE_DURATION: Duration = Duration::from_secs(2 * 60);
/// The longest time between two reads of the outbox.
const SCAN_INTERVAL: Duration = Duration::from_secs(5);
/// The minimum wait for an email that is due but could not be claimed, because another process has claimed it.
const CLAIM_RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// After this many consecutive failures of single emails, the rest of the batch waits for [`RETRY_WAIT_MIN`].
const CONSECUTIVE_FAILURES_MAX: u8 = 3;
/// The maximum number of emails whose refusals are counted. When it is reached, all counts are reset.
const COUNTED_REFUSALS_MAX: usize = 10_000;

/// Sends the emails of the outbox (see the crate's documentation).
pub struct Mailer {
    store: Box<dyn MailStore>,
    transport: Box<dyn MailTransport>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdGenerator>,
    observer: Arc<dyn MailerObserver>,
    /// Notified after each commit that queued emails. A notification does not shorten the wait for an unavailable
    /// server, unless an operator retries an email.
    wake: Notifier,
    stopped: Arc<AtomicBool>,
    server: ServerAvailability,
    /// The provider of the latest batch. The next batch is of the provider that follows, so that providers take turns.
    last_provider: Option<ProviderId>,
    /// When the due times of the outbox were last compared with the clock.
    clock_checked_at: Option<Timestamp>,
    /// Outcomes that could not be stored yet, by mail, each with the lease of its claim.
    unrecorded: HashMap<Uuid, (Uuid, NotificationOutcome)>,
    /// How many attempts at each email the server refused or did not confirm since this process started.
    refusals: HashMap<Uuid, u8>,
    /// Whether the last access to the outbox failed. If so, the rest of the batch does not access it again, and further
    /// failures are not logged.
    has_store_failed: bool,
}

/// When to call [`Mailer::process_batch`] again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextBatch {
    /// Immediately.
    Now,
    /// At this time, or earlier when woken.
    At(Timestamp),
}

/// The emails of one claim, which have one provider.
struct MailBatch {
    provider: ProviderId,
    lease: Uuid,
    until: Timestamp,
    /// Failures of single emails since the last success or refusal.
    consecutive_failures: u8,
}

impl Mailer {
    /// Creates a mailer that has no observer and reads the outbox only at intervals.
    pub fn new(
        store: Box<dyn MailStore>,
        transport: Box<dyn MailTransport>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGenerator>,
    ) -> Self {
        Self {
            store,
            transport,
            clock,
            ids,
            observer: Arc::new(NoObserver),
            wake: Notifier::default(),
            stopped: Arc::default(),
            server: ServerAvailability::default(),
            last_provider: None,
            clock_checked_at: None,
            unrecorded: HashMap::new(),
            refusals: HashMap::new(),
            has_store_failed: false,
        }
    }

    /// Reports attempts to `observer`.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn MailerObserver>) -> Self {
        self.observer = observer;
        self
    }

    /// Looks for emails whenever `wake` is notified.
    #[must_use]
    pub fn with_wake(mut self, wake: Notifier) -> Self {
        self.wake = wake;
        self
    }

    /// Starts the mailer on its own thread.
    pub fn start(self) -> io::Result<RunningMailer> {
        RunningMailer::start(self)
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Claims one batch, sends it and stores the outcomes. Waits only for the mail server and the outbox.
    pub fn process_batch(&mut self) -> NextBatch {
        let now = self.clock.now();
        match self.try_process_batch(now) {
            Ok(next) => next,
            Err(cause) => {
                self.record_store_failure(&cause);
                NextBatch::At(now + SCAN_INTERVAL)
            }
        }
    }

    fn try_process_batch(&mut self, now: Timestamp) -> Result<NextBatch, StoreError> {
        self.retry_unrecorded_outcomes()?;
        self.reschedule_if_clock_moved(now)?;
        if let Some(until) = self.server.unavailable_until(now) {
            if self.store.next_due()? != Some(RETRIED_NOTIFICATION_DUE) {
                return Ok(NextBatch::At(until));
            }
            self.server.end_outage(); // assumed, because an operator asked for a new attempt
        }
        let (lease, until) = (self.ids.next_id(), now + LEASE_DURATION);
        let claimed = self.store.claim_due_mails(self.last_provider, now, until, lease, BATCH_SIZE_MAX)?;
        self.has_store_failed = false;
        let Some(ClaimedMails { provider, mails }) = claimed else {
            let due = self.store.next_due()?;
            return Ok(NextBatch::At(
                due.map_or(now + SCAN_INTERVAL, |due| due.max(now + CLAIM_RETRY_INTERVAL)),
            ));
        };
        self.last_provider = Some(provider);
        if mails.is_empty() {
            return Ok(NextBatch::At(now + CLAIM_RETRY_INTERVAL));
        }
        self.send_batch(&mails, &mut MailBatch { provider, lease, until, consecutive_failures: 0 });
        self.transport.close_connection();
        Ok(if self.has_store_failed { NextBatch::At(now + SCAN_INTERVAL) } else { NextBatch::Now })
    }

    /// Reschedules emails if the clock was set back since the last check. Otherwise due times that were computed with
    /// the old clock could delay emails by hours or days. The first call always checks the due times, because it is not
    /// known whether the clock was set back before.
    fn reschedule_if_clock_moved(&mut self, now: Timestamp) -> Result<(), StoreError> {
        if self.clock_checked_at.is_none_or(|earlier| earlier > now + CLOCK_TOLERANCE) {
            let count = self.store.reschedule_after_clock_change(now, RETRY_WAIT_MAX, LEASE_DURATION)?;
            if count > 0 {
                log::warn!(mails = count; "the system clock moved backwards: rescheduled waiting emails");
            }
        }
        self.clock_checked_at = Some(now);
        Ok(())
    }

    /// Attempts the emails of a batch. Once the server is unavailable, several emails failed or the batch must end, the
    /// rest is released without an attempt and thus not given up.
    fn send_batch(&mut self, mails: &[Mail], batch: &mut MailBatch) {
        for mail in mails {
            let now = self.clock.now();
            let outcome = if let Some(outcome) = self.unrecorded_outcome(mail.id) {
                outcome
            } else if let Some(until) = self.server.unavailable_until(now) {
                NotificationOutcome::Released(until)
            } else if batch.consecutive_failures >= CONSECUTIVE_FAILURES_MAX {
                NotificationOutcome::Released(now + RETRY_WAIT_MIN)
            } else if self.must_end_batch(batch, now) {
                NotificationOutcome::Released(now)
            } else {
                self.attempt_mail(mail, batch)
            };
            self.record_outcome(mail.id, batch.lease, outcome);
        }
    }

    /// The final outcome of an email, if it could not be stored yet. Such an email must not be sent again.
    fn unrecorded_outcome(&self, id: Uuid) -> Option<NotificationOutcome> {
        let (_, outcome) = self.unrecorded.get(&id)?;
        match outcome {
            NotificationOutcome::Sent | NotificationOutcome::GivenUp => Some(*outcome),
            NotificationOutcome::RetryAt(_) | NotificationOutcome::Released(_) => None,
        }
    }

    fn must_end_batch(&self, batch: &MailBatch, now: Timestamp) -> bool {
        self.is_stopped() || self.has_store_failed || now + SEND_DURATION_MAX > batch.until
    }

    fn attempt_mail(&mut self, mail: &Mail, batch: &mut MailBatch) -> NotificationOutcome {
        // A panic in a library concerns one email and must not delay the others.
        let sending = catch_unwind(AssertUnwindSafe(|| self.transport.send_mail(mail)));
        let result = sending.unwrap_or_else(|_| Err(SendFailure::refused("the mailer failed internally")));
        let failure = match result {
            Ok(()) => {
                log::info!(mail_id:% = mail.id; "sent an email");
                self.server.record_response();
                self.observer.mail_sent();
                self.refusals.remove(&mail.id);
                batch.consecutive_failures = 0;
                return NotificationOutcome::Sent;
            }
            Err(failure) => failure,
        };
        let outcome = self.outcome_after(mail, &failure, batch);
        match outcome {
            NotificationOutcome::GivenUp => {
                log::error!(mail_id:% = mail.id, failure:%; "gave up on an email after its final attempt");
                self.refusals.remove(&mail.id);
                self.observer.mail_given_up();
            }
            NotificationOutcome::Sent
            | NotificationOutcome::RetryAt(_)
            | NotificationOutcome::Released(_) => {
                log::warn!(mail_id:% = mail.id, failure:%; "cannot send an email, retrying");
                self.observer.attempt_failed();
            }
        }
        outcome
    }

    fn outcome_after(
        &mut self,
        mail: &Mail,
        failure: &SendFailure,
        batch: &mut MailBatch,
    ) -> NotificationOutcome {
        let now = self.clock.now();
        match failure.kind() {
            FailureKind::Server => {
                let until = self.server.record_failure(now);
                schedule::outcome_after_outage(mail, now, until)
            }
            FailureKind::Mail | FailureKind::Unconfirmed => {
                self.server.end_outage();
                batch.consecutive_failures += 1;
                if batch.consecutive_failures >= CONSECUTIVE_FAILURES_MAX {
                    self.server.record_failing_provider(batch.provider, now);
                }
                if failure.kind() == FailureKind::Mail {
                    schedule::outcome_after_failure(mail, now)
                } else {
                    self.outcome_after_refusal(mail, now)
                }
            }
            FailureKind::Refused => {
                self.server.record_response();
                batch.consecutive_failures = 0;
                self.outcome_after_refusal(mail, now)
            }
            FailureKind::Unsendable => NotificationOutcome::GivenUp,
        }
    }

    fn outcome_after_refusal(&mut self, mail: &Mail, now: Timestamp) -> NotificationOutcome {
        if self.refusals.len() >= COUNTED_REFUSALS_MAX {
            self.refusals.clear();
        }
        let count = self.refusals.entry(mail.id).or_default();
        *count += 1;
        schedule::outcome_after_refusal(mail, now, *count)
    }

    fn record_outcome(&mut self, id: Uuid, lease: Uuid, outcome: NotificationOutcome) {
        if self.has_store_failed {
            self.unrecorded.insert(id, (lease, outcome));
            return;
        }
        match self.store.record_outcome(id, lease, outcome) {
            Ok(()) => {
                self.unrecorded.remove(&id);
            }
            Err(cause) => {
                self.unrecorded.insert(id, (lease, outcome));
                if is_transient(&cause) {
                    self.record_store_failure(&cause);
                } else {
                    log::error!(
                        mail_id:% = id, cause:%;
                        "cannot store the outcome of an email: if it was sent, it may be sent again after a restart"
                    );
                }
            }
        }
    }

    /// Stores the outcomes that could not be stored before. An email whose row is broken is skipped.
    fn retry_unrecorded_outcomes(&mut self) -> Result<(), StoreError> {
        let unrecorded: Vec<_> = self.unrecorded.iter().map(|(id, outcome)| (*id, *outcome)).collect();
        for (id, (lease, outcome)) in unrecorded {
            match self.store.record_outcome(id, lease, outcome) {
                Ok(()) => {
                    self.unrecorded.remove(&id);
                }
                Err(cause) if is_transient(&cause) => return Err(cause),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn record_store_failure(&mut self, cause: &StoreError) {
        if !std::mem::replace(&mut self.has_store_failed, true) {
            log::warn!(cause:%; "cannot read or update the mail outbox, retrying");
        }
    }

    /// Closes the connection and tries once more to store outcomes that could not be stored.
    fn close_mailer(&mut self) {
        self.transport.close_connection();
        if let Err(cause) = self.retry_unrecorded_outcomes() {
            log::warn!(
                mails = self.unrecorded.len(), cause:%;
                "stopped before all outcomes were stored: emails that were sent may be sent again"
            );
        }
    }
}

fn is_transient(cause: &StoreError) -> bool {
    match cause {
        StoreError::Busy
        | StoreError::WouldBlock
        | StoreError::DeadlineExceeded
        | StoreError::Unavailable(_)
        | StoreError::OutcomeUnknown(_) => true,
        StoreError::CompanyHandedOver | StoreError::Corrupt { .. } | StoreError::Broken(_) => false,
    }
}
