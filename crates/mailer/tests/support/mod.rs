//! Test doubles: a settable clock, an outbox in memory, a scripted transport, and a mail server.

pub mod memory_store;
pub mod server;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use guerdon_domain::ports::{Clock, IdGenerator, Timestamp};
use guerdon_mailer::{FromAddress, Mail, MailTransport, Mailer, NextBatch, SendFailure};
use time::macros::datetime;
use uuid::Uuid;

use memory_store::MemoryMailStore;

pub const START: Timestamp = Timestamp::new(datetime!(2026-11-21 10:22:01.123456 UTC));

/// A clock that changes only when it is set.
pub struct SettableClock(Mutex<Timestamp>);

impl SettableClock {
    pub fn start_at(start: Timestamp) -> Arc<Self> {
        Arc::new(Self(Mutex::new(start)))
    }

    pub fn set_time(&self, now: Timestamp) {
        *self.0.lock().unwrap() = now;
    }

    pub fn advance_seconds(&self, seconds: i64) {
        let mut now = self.0.lock().unwrap();
        *now = *now + time::Duration::seconds(seconds);
    }
}

impl Clock for SettableClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// Generates consecutive ids.
#[derive(Default)]
pub struct SequentialIds(AtomicU64);

impl IdGenerator for SequentialIds {
    fn next_id(&self) -> Uuid {
        mail_id(1_000_000 + self.0.fetch_add(1, Ordering::Relaxed))
    }
}

pub fn mail_id(number: u64) -> Uuid {
    Uuid::from_u128(u128::from(number))
}

/// The email with this number, queued at `START`.
pub fn new_mail(number: u64) -> Mail {
    Mail {
        id: mail_id(number),
        recipient: format!("ada+{number}@example.com"),
        subject: "The points reserve of Bücher & Söhne is low".into(),
        body: "Grüß Gott,\n\n.\n..\nPlease add points.\n".into(),
        attempts: 0,
        created_at: START,
    }
}

pub fn from_address() -> FromAddress {
    FromAddress::parse("Guerdon <points@example.com>").unwrap()
}

type Script = Box<dyn FnMut(&Mail) -> Result<(), SendFailure> + Send>;

/// A transport that runs a script and records every attempt.
pub struct ScriptedTransport {
    clock: Arc<SettableClock>,
    script: Script,
    attempts: Attempts,
}

/// The attempts: time and mail.
pub type Attempts = Arc<Mutex<Vec<(Timestamp, Uuid)>>>;

impl MailTransport for ScriptedTransport {
    fn send_mail(&mut self, mail: &Mail) -> Result<(), SendFailure> {
        self.attempts.lock().unwrap().push((self.clock.now(), mail.id));
        (self.script)(mail)
    }
}

/// A mailer in virtual time.
pub struct MailerHarness {
    pub clock: Arc<SettableClock>,
    pub store: MemoryMailStore,
    pub attempts: Attempts,
    pub mailer: Mailer,
}

impl MailerHarness {
    pub fn new(
        mails: impl IntoIterator<Item = Mail>,
        script: impl FnMut(&Mail) -> Result<(), SendFailure> + Send + 'static,
    ) -> Self {
        let clock = SettableClock::start_at(START);
        Self::with_clock(clock, mails, script)
    }

    pub fn with_clock(
        clock: Arc<SettableClock>,
        mails: impl IntoIterator<Item = Mail>,
        script: impl FnMut(&Mail) -> Result<(), SendFailure> + Send + 'static,
    ) -> Self {
        Self::with_store(clock, MemoryMailStore::with_mails(mails), script)
    }

    pub fn with_store(
        clock: Arc<SettableClock>,
        store: MemoryMailStore,
        script: impl FnMut(&Mail) -> Result<(), SendFailure> + Send + 'static,
    ) -> Self {
        let attempts = Attempts::default();
        let transport = ScriptedTransport {
            clock: Arc::clone(&clock),
            script: Box::new(script),
            attempts: Arc::clone(&attempts),
        };
        let mailer = Mailer::new(
            Box::new(store.clone()),
            Box::new(transport),
            Arc::<SettableClock>::clone(&clock),
            Arc::<SequentialIds>::default(),
        );
        Self { clock, store, attempts, mailer }
    }

    /// Runs the mailer until `duration` has passed on its clock.
    pub fn run_for(&mut self, duration: time::Duration) {
        let end = self.clock.now() + duration;
        for _ in 0..1_000_000 {
            match self.mailer.process_batch() {
                NextBatch::Now => {}
                NextBatch::At(next) if next > end => return self.clock.set_time(end),
                NextBatch::At(next) => self.clock.set_time(next),
            }
        }
        panic!("the mailer does not become idle");
    }

    /// The times of the attempts, in seconds from `START`.
    pub fn attempt_seconds(&self) -> Vec<i64> {
        self.attempts.lock().unwrap().iter().map(|(at, _)| (*at - START).whole_seconds()).collect()
    }

    /// The emails of the attempts, in order.
    pub fn attempted_mails(&self) -> Vec<Uuid> {
        self.attempts.lock().unwrap().iter().map(|(_, id)| *id).collect()
    }
}
