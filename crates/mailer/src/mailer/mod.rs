//! The worker.

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
use server::ServerState;

pub use running::Running;

/// Mails claimed together.
const BATCH: u16 = 16;
/// How long a claim holds.
const LEASE: Duration = Duration::from_secs(2 * 60);
/// How often to look, whatever was said.
const SCAN: Duration = Duration::from_secs(5);
/// The shortest wait where due mail could not be claimed: somebody else has it.
const PATIENCE: Duration = Duration::from_secs(1);
/// After so many failures of single mails in a row, the batch ends.
const TROUBLES_MAX: u8 = 3;
/// Refusals that are remembered; more mails than these are not refused at a time.
const REFUSALS_KEPT: usize = 10_000;

/// Sends what the outbox holds (see the crate's page).
pub struct Mailer {
    journal: Box<dyn MailJournal>,
    transport: Box<dyn Transport>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    observer: Arc<dyn Observer>,
    /// Rung by whoever queues mail. It does not shorten the wait for a server that is away, unless an operator retries a mail.
    wake: Wake,
    stopped: Arc<AtomicBool>,
    server: ServerState,
    /// What became of mails, where the outbox could not be told yet, with the lease to show.
    unsettled: HashMap<Uuid, (Uuid, MailFate)>,
    /// How often the server refused a mail.
    refusals: HashMap<Uuid, u8>,
    /// Whether the outbox could not be used at the last try; what follows does not try it again in vain.
    journal_fails: bool,
}

/// When to step again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// At once.
    Now,
    /// Then, or earlier when woken.
    At(Timestamp),
}

/// A batch under its lease.
struct Batch {
    lease: Uuid,
    until: Timestamp,
    /// Failures of single mails in a row.
    troubles: u8,
}

impl Mailer {
    /// A mailer that counts for nobody.
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
            server: ServerState::default(),
            unsettled: HashMap::new(),
            refusals: HashMap::new(),
            journal_fails: false,
        }
    }

    /// The same, and tells `observer`.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// The same, and looks for mail when it is woken.
    #[must_use]
    pub fn woken_by(mut self, wake: Wake) -> Self {
        self.wake = wake;
        self
    }

    /// Starts the mailer on a thread of its own.
    pub fn start(self) -> io::Result<Running> {
        Running::start(self)
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Claims one batch, sends it and settles it. Never waits but for the mail server.
    pub fn step(&mut self) -> NextStep {
        let now = self.clock.now();
        match self.try_step(now) {
            Ok(next) => next,
            Err(cause) => {
                self.journal_failed(&cause);
                NextStep::At(now + SCAN)
            }
        }
    }

    fn try_step(&mut self, now: Timestamp) -> Result<NextStep, StoreError> {
        self.settle_unsettled()?;
        if let Some(until) = self.server.away_until(now) {
            if self.journal.next_due()? != Some(RETRIED_MAIL_DUE) {
                return Ok(NextStep::At(until));
            }
            self.server.works(); // as far as is known: an operator asks for a new attempt
        }
        let mut batch = Batch { lease: self.ids.next(), until: now + LEASE, troubles: 0 };
        let mails = self.journal.claim(now, batch.until, batch.lease, BATCH)?;
        self.journal_fails = false;
        if mails.is_empty() {
            let due = self.journal.next_due()?;
            return Ok(NextStep::At(due.map_or(now + SCAN, |due| due.max(now + PATIENCE))));
        }
        self.send_batch(&mails, &mut batch);
        self.transport.rest();
        Ok(if self.journal_fails { NextStep::At(now + SCAN) } else { NextStep::Now })
    }

    fn send_batch(&mut self, mails: &[ClaimedMail], batch: &mut Batch) {
        for mail in mails {
            let now = self.clock.now();
            let fate = if let Some(fate) = self.ended_before(mail.id) {
                fate
            } else if let Some(until) = self.server.away_until(now) {
                schedule::after_outage(mail, now, until)
            } else if self.must_end(batch, now) {
                MailFate::RetryAt(now)
            } else {
                self.attempt(mail, batch)
            };
            self.settle(mail.id, batch.lease, fate);
        }
    }

    /// What ended the mail, where the outbox was not told: it is not sent a second time.
    fn ended_before(&self, id: Uuid) -> Option<MailFate> {
        let (_, fate) = self.unsettled.get(&id)?;
        (!matches!(fate, MailFate::RetryAt(_))).then_some(*fate)
    }

    fn must_end(&self, batch: &Batch, now: Timestamp) -> bool {
        self.is_stopped() || self.journal_fails || now + MAX_SENDING_TIME > batch.until
    }

    fn attempt(&mut self, mail: &ClaimedMail, batch: &mut Batch) -> MailFate {
        // Whatever fails in a library while it holds one mail, the other mails do not wait for it.
        let sending = catch_unwind(AssertUnwindSafe(|| self.transport.send(mail)));
        let result = sending.unwrap_or_else(|_| Err(Failure::refused("the program failed over it")));
        let failure = match result {
            Ok(()) => {
                log::info!(mail_id:% = mail.id; "mail {} was handed over", mail.id);
                self.server.works();
                self.observer.sent();
                self.refusals.remove(&mail.id);
                batch.troubles = 0;
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
                let until = self.server.fails(now);
                schedule::after_outage(mail, now, until)
            }
            Fault::Mail => {
                batch.troubles += 1;
                if batch.troubles >= TROUBLES_MAX {
                    self.server.rests(now);
                } else {
                    self.server.works();
                }
                schedule::after_failure(mail, now)
            }
            Fault::Refused => {
                self.server.works();
                batch.troubles = 0;
                if self.refusals.len() >= REFUSALS_KEPT {
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
                if may_pass(&cause) {
                    self.journal_failed(&cause);
                } else {
                    log::error!("mail {id}: what became of it cannot be written: {cause}");
                }
            }
        }
    }

    /// A mail whose row is broken stays unsettled and holds up no other.
    fn settle_unsettled(&mut self) -> Result<(), StoreError> {
        let unsettled: Vec<_> = self.unsettled.iter().map(|(id, it)| (*id, *it)).collect();
        for (id, (lease, fate)) in unsettled {
            match self.journal.settle(id, lease, fate) {
                Ok(()) => {
                    self.unsettled.remove(&id);
                }
                Err(cause) if may_pass(&cause) => return Err(cause),
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

    /// The last thing before the end: what could not be written is tried once more.
    fn close(&mut self) {
        self.transport.rest();
        if let Err(cause) = self.settle_unsettled() {
            log::warn!("{} mails may be sent once more: {cause}", self.unsettled.len());
        }
    }
}

fn may_pass(cause: &StoreError) -> bool {
    match cause {
        StoreError::Busy
        | StoreError::WouldBlock
        | StoreError::DeadlineExceeded
        | StoreError::Unavailable(_)
        | StoreError::OutcomeUnknown(_) => true,
        StoreError::Corrupt { .. } | StoreError::Broken(_) => false,
    }
}
