//! Test doubles: a settable clock, an outbox in memory, a scripted transport, and a mail server.

pub mod journal;
pub mod server;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use guerdon_domain::ports::{ClaimedMail, Clock, Ids, Timestamp};
use guerdon_mailer::{Failure, FromAddress, Mailer, NextStep, Transport};
use time::macros::datetime;
use uuid::Uuid;

use journal::Journal;

pub const START: Timestamp = Timestamp::new(datetime!(2026-11-21 10:22:01.123456 UTC));

/// A clock that changes only when it is set.
pub struct SetClock(Mutex<Timestamp>);

impl SetClock {
    pub fn at(start: Timestamp) -> Arc<Self> {
        Arc::new(Self(Mutex::new(start)))
    }

    pub fn set(&self, now: Timestamp) {
        *self.0.lock().unwrap() = now;
    }

    pub fn pass(&self, seconds: i64) {
        let mut now = self.0.lock().unwrap();
        *now = *now + time::Duration::seconds(seconds);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// Generates consecutive ids.
#[derive(Default)]
pub struct Counting(AtomicU64);

impl Ids for Counting {
    fn next(&self) -> Uuid {
        id(1_000_000 + self.0.fetch_add(1, Ordering::Relaxed))
    }
}

pub fn id(number: u64) -> Uuid {
    Uuid::from_u128(u128::from(number))
}

/// The mail with this number, queued at `START`.
pub fn mail(number: u64) -> ClaimedMail {
    ClaimedMail {
        id: id(number),
        recipient: format!("ada+{number}@example.com"),
        subject: "The points reserve of Bücher & Söhne is low".into(),
        body: "Grüß Gott,\n\n.\n..\nPlease add points.\n".into(),
        attempts: 0,
        created_at: START,
    }
}

pub fn sender() -> FromAddress {
    FromAddress::parse("Guerdon <points@example.com>").unwrap()
}

type Script = Box<dyn FnMut(&ClaimedMail) -> Result<(), Failure> + Send>;

/// A transport that runs a script and records every attempt.
pub struct Scripted {
    clock: Arc<SetClock>,
    script: Script,
    asked: Asked,
}

/// The attempts: time and mail.
pub type Asked = Arc<Mutex<Vec<(Timestamp, Uuid)>>>;

impl Transport for Scripted {
    fn send(&mut self, mail: &ClaimedMail) -> Result<(), Failure> {
        self.asked.lock().unwrap().push((self.clock.now(), mail.id));
        (self.script)(mail)
    }
}

/// A mailer in virtual time.
pub struct Bench {
    pub clock: Arc<SetClock>,
    pub journal: Journal,
    pub asked: Asked,
    pub mailer: Mailer,
}

impl Bench {
    pub fn new(
        mails: impl IntoIterator<Item = ClaimedMail>,
        script: impl FnMut(&ClaimedMail) -> Result<(), Failure> + Send + 'static,
    ) -> Self {
        let clock = SetClock::at(START);
        Self::on(clock, mails, script)
    }

    pub fn on(
        clock: Arc<SetClock>,
        mails: impl IntoIterator<Item = ClaimedMail>,
        script: impl FnMut(&ClaimedMail) -> Result<(), Failure> + Send + 'static,
    ) -> Self {
        Self::over(clock, Journal::of(mails), script)
    }

    pub fn over(
        clock: Arc<SetClock>,
        journal: Journal,
        script: impl FnMut(&ClaimedMail) -> Result<(), Failure> + Send + 'static,
    ) -> Self {
        let asked = Asked::default();
        let transport =
            Scripted { clock: Arc::clone(&clock), script: Box::new(script), asked: Arc::clone(&asked) };
        let mailer = Mailer::new(
            Box::new(journal.clone()),
            Box::new(transport),
            Arc::<SetClock>::clone(&clock),
            Arc::<Counting>::default(),
        );
        Self { clock, journal, asked, mailer }
    }

    /// Runs the mailer until `duration` has passed on its clock.
    pub fn run_for(&mut self, duration: time::Duration) {
        let end = self.clock.now() + duration;
        for _ in 0..1_000_000 {
            match self.mailer.step() {
                NextStep::Now => {}
                NextStep::At(next) if next > end => return self.clock.set(end),
                NextStep::At(next) => self.clock.set(next),
            }
        }
        panic!("the mailer does not rest");
    }

    /// The times of the attempts, in seconds from `START`.
    pub fn seconds(&self) -> Vec<i64> {
        self.asked.lock().unwrap().iter().map(|(at, _)| (*at - START).whole_seconds()).collect()
    }

    /// The mails of the attempts, in order.
    pub fn tried(&self) -> Vec<Uuid> {
        self.asked.lock().unwrap().iter().map(|(_, id)| *id).collect()
    }
}
