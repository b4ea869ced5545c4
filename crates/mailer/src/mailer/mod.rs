//! Claims mails from the outbox, sends them one after the other, and stores each outcome before it sends the next.

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
    ClaimedMail, Clock, Ids, MailFate, RETRIED_MAIL_DUE, StoreError, Timestamp, Wake,
};
use uuid::Uuid;

use crate::failure::{Failure, Fault};
use crate::journal::MailJournal;
use crate::observer::{Observer, Silent};
use crate::transport::{MAX_SENDING_TIME, Transport};
use server::ServerAvailability;

pub use running::Running;

/// The most mails of one claim.
const BATCH_SIZE_MAX: u16 = 16;
/// How long a claim is valid.
const LEASE_DURATION: Duration = Duration::from_secs(2 * 60);
/// The longest time between two looks for due mails.
const SCAN_INTERVAL: Duration = Duration::from_secs(5);
/// The shortest wait for a mail that is due but could not be claimed, because another process holds it.
const CLAIM_RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// A batch ends after this many failures of single mails in a row.
const CONSECUTIVE_FAILURES_MAX: u8 = 3;
/// The most mails whose refusals are counted. When there are more, all counts start again.
const COUNTED_REFUSALS_MAX: usize = 10_000;

/// Sends the mails of the outbox (see the crate's documentation).
pub struct Mailer {
    journal: Box<dyn MailJournal>,
    transport: Box<dyn Transport>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    observer: Arc<dyn Observer>,
    /// Set by the use cases that queue mails. It does not shorten the wait for an unavailable server, unless an operator
    /// retries a mail.
    wake: Wake,
    stopped: Arc<AtomicBool>,
    server: ServerAvailability,
    /// Outcomes that could not be stored yet, by mail, each with the lease of its claim.
    unsettled: HashMap<Uuid, (Uuid, MailFate)>,
    /// How often the server refused each mail.
    refusals: HashMap<Uuid, u8>,
    /// Whether the last use of the outbox failed. The rest of the batch does not use it again.
    journal_fails: bool,
}

/// When to call [`Mailer::step`] again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// Immediately.
    Now,
    /// At this time, or earlier when woken.
    At(Timestamp),
}

/// The mails of one claim.
struct Batch {
    lease: Uuid,
    until: Timestamp,
    /// Failures of single mails since the last success or refusal.
    consecutive_failures: u8,
}

impl Mailer {
    /// A mailer without an observer that looks for mails at intervals only.
    pub fn new(
        journal: Box<dyn MailJournal>,
        transport: Box<dyn Transport>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
    ) -> Self {
        Self {
            journal,
            transport,
            clock,
            ids,
            observer: Arc::new(Silent),
            wake: Wake::default(),
            stopped: Arc::default(),
            server: ServerAvailability::default(),
            unsettled: HashMap::new(),
            refusals: HashMap::new(),
            journal_fails: false,
        }
    }

    /// Reports attempts to `observer`.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// Looks for mails whenever `wake` is set.
    #[must_use]
    pub fn woken_by(mut self, wake: Wake) -> Self {
        self.wake = wake;
        self
    }

    /// Starts the mailer on its own thread.
    pub fn start(self) -> io::Result<Running> {
        Running::start(self)
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Claims one batch, sends it and stores the outcomes. Waits for nothing but the mail server and the outbox.
    pub fn step(&mut self) -> NextStep {
        let now = self.clock.now();
        match self.try_step(now) {
            Ok(next) => next,
            Err(cause) => {
                self.journal_failed(&cause);
                NextStep::At(now + SCAN_INTERVAL)
            }
        }
    }

    fn try_step(&mut self, now: Timestamp) -> Result<NextStep, StoreError> {
        self.settle_unsettled()?;
        if let Some(until) = self.server.unavailable_until(now) {
            if self.journal.next_due()? != Some(RETRIED_MAIL_DUE) {
                return Ok(NextStep::At(until));
            }
            self.server.set_available(); // assumed, because an operator asked for a new attempt
        }
        let mut batch =
            Batch { lease: self.ids.next(), until: now + LEASE_DURATION, consecutive_failures: 0 };
        let mails = self.journal.claim(now, batch.until, batch.lease, BATCH_SIZE_MAX)?;
        self.journal_fails = false;
        if mails.is_empty() {
            let due = self.journal.next_due()?;
            return Ok(NextStep::At(
                due.map_or(now + SCAN_INTERVAL, |due| due.max(now + CLAIM_RETRY_INTERVAL)),
            ));
        }
        self.send_batch(&mails, &mut batch);
        self.transport.rest();
        Ok(if self.journal_fails { NextStep::At(now + SCAN_INTERVAL) } else { NextStep::Now })
    }

    fn send_batch(&mut self, mails: &[ClaimedMail], batch: &mut Batch) {
        for mail in mails {
            let now = self.clock.now();
            let fate = if let Some(fate) = self.unsettled_outcome(mail.id) {
                fate
            } else if let Some(until) = self.server.unavailable_until(now) {
                schedule::after_outage(mail, now, until)
            } else if self.must_end(batch, now) {
                MailFate::RetryAt(now)
            } else {
                self.attempt(mail, batch)
            };
            self.settle(mail.id, batch.lease, fate);
        }
    }

    /// The final outcome of a mail, if it could not be stored yet. Such a mail must not be sent again.
    fn unsettled_outcome(&self, id: Uuid) -> Option<MailFate> {
        let (_, fate) = self.unsettled.get(&id)?;
        (!matches!(fate, MailFate::RetryAt(_))).then_some(*fate)
    }

    fn must_end(&self, batch: &Batch, now: Timestamp) -> bool {
        self.is_stopped() || self.journal_fails || now + MAX_SENDING_TIME > batch.until
    }

    fn attempt(&mut self, mail: &ClaimedMail, batch: &mut Batch) -> MailFate {
        // A panic in a library concerns one mail and must not hold up the others.
        let sending = catch_unwind(AssertUnwindSafe(|| self.transport.send(mail)));
        let result = sending.unwrap_or_else(|_| Err(Failure::refused("the program failed over it")));
        let failure = match result {
            Ok(()) => {
                log::info!(mail_id:% = mail.id; "mail {} was handed over", mail.id);
                self.server.set_available();
                self.observer.sent();
                self.refusals.remove(&mail.id);
                batch.consecutive_failures = 0;
                return MailFate::Sent;
            }
            Err(failure) => failure,
        };
        let fate = self.fate_after(mail, &failure, batch);
        match fate {
            MailFate::GivenUp => {
                log::error!(mail_id:% = mail.id; "mail {} is given up: {failure}", mail.id);
                self.refusals.remove(&mail.id);
                self.observer.given_up();
            }
            MailFate::Sent | MailFate::RetryAt(_) => {
                log::warn!(mail_id:% = mail.id; "mail {} was not sent: {failure}", mail.id);
                self.observer.failed();
            }
        }
        fate
    }

    fn fate_after(&mut self, mail: &ClaimedMail, failure: &Failure, batch: &mut Batch) -> MailFate {
        let now = self.clock.now();
        match failure.fault() {
            Fault::Server => {
                let until = self.server.record_failure(now);
                schedule::after_outage(mail, now, until)
            }
            Fault::Mail => {
                batch.consecutive_failures += 1;
                if batch.consecutive_failures >= CONSECUTIVE_FAILURES_MAX {
                    self.server.pause(now);
                } else {
                    self.server.set_available();
                }
                schedule::after_failure(mail, now)
            }
            Fault::Refused => {
                self.server.set_available();
                batch.consecutive_failures = 0;
                if self.refusals.len() >= COUNTED_REFUSALS_MAX {
                    self.refusals.clear();
                }
                let count = self.refusals.entry(mail.id).or_default();
                *count += 1;
                schedule::after_refusal(mail, now, *count)
            }
            Fault::Unsendable => MailFate::GivenUp,
        }
    }

    fn settle(&mut self, id: Uuid, lease: Uuid, fate: MailFate) {
        if self.journal_fails {
            self.unsettled.insert(id, (lease, fate));
            return;
        }
        match self.journal.settle(id, lease, fate) {
            Ok(()) => {
                self.unsettled.remove(&id);
            }
            Err(cause) => {
                self.unsettled.insert(id, (lease, fate));
                if is_transient(&cause) {
                    self.journal_failed(&cause);
                } else {
                    log::error!("mail {id}: what became of it cannot be written: {cause}");
                }
            }
        }
    }

    /// Stores the outcomes that could not be stored before. A mail whose row is broken is skipped.
    fn settle_unsettled(&mut self) -> Result<(), StoreError> {
        let unsettled: Vec<_> = self.unsettled.iter().map(|(id, outcome)| (*id, *outcome)).collect();
        for (id, (lease, fate)) in unsettled {
            match self.journal.settle(id, lease, fate) {
                Ok(()) => {
                    self.unsettled.remove(&id);
                }
                Err(cause) if is_transient(&cause) => return Err(cause),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn journal_failed(&mut self, cause: &StoreError) {
        if !std::mem::replace(&mut self.journal_fails, true) {
            log::warn!("the outbox of mails cannot be used: {cause}");
        }
    }

    /// Closes the connection and tries once more to store outcomes that could not be stored.
    fn close(&mut self) {
        self.transport.rest();
        if let Err(cause) = self.settle_unsettled() {
            log::warn!("{} mails may be sent once more: {cause}", self.unsettled.len());
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
        StoreError::Corrupt { .. } | StoreError::Broken(_) => false,
    }
}
