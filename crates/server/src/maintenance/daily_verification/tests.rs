//! When the daily verification runs, on both databases, with a clock that the test sets.

use std::sync::atomic::{AtomicBool, Ordering};

use guerdon_domain::audit::AuditPart;
use guerdon_domain::journal::Requester;
use guerdon_domain::ports::{Context, Notifiers};
use guerdon_domain::providers::{CreateProvider, create};
use guerdon_domain::values::{ProviderId, SingleLine};
use guerdon_persistence::testing::{TestDatabase, create_databases};
use guerdon_persistence::{Access, DatabaseUrl, OpenDatabase, open_with_notifiers};
use guerdon_webhook_dispatcher::Bodies;
use uuid::Uuid;

use super::*;
use crate::platform::SystemIds;
use crate::settings::{MasterKey, Settings};
use crate::test_clock::TestClock;

/// 2026-11-24, 02:00 UTC.
const START: &str = "2026-11-24T02:00:00Z";
const HOUR: Span = Span::HOUR;
const DAY: Span = Span::DAY;

/// Two processes on one database.
struct Setup {
    _database: TestDatabase,
    opened: OpenDatabase,
    clock: Arc<TestClock>,
    is_stopping: Arc<AtomicBool>,
}

fn on_each_database(test: impl Fn(&Setup)) {
    for database in create_databases() {
        let url = DatabaseUrl::parse(&database.url).unwrap();
        let opened = open_with_notifiers(&url, Access::Command, Notifiers::default());
        let clock = Arc::new(TestClock::default());
        clock.set(start());
        test(&Setup { _database: database, opened: opened.unwrap(), clock, is_stopping: Arc::default() });
    }
}

fn start() -> Timestamp {
    Timestamp::parse(START).unwrap()
}

impl Setup {
    fn process(&self) -> DailyVerification {
        let is_stopping = Arc::clone(&self.is_stopping);
        let settings = Settings::from_sources(None, std::iter::empty()).unwrap();
        DailyVerification {
            store: Arc::clone(&self.opened.background),
            clock: Arc::<TestClock>::clone(&self.clock),
            keys: Arc::new(Keys::derive(&MasterKey::parse(&"01".repeat(32)).unwrap()).unwrap()),
            webhooks: settings.webhooks,
            daily_at: settings.verify_daily_at.unwrap(),
            is_stopping: Box::new(move || is_stopping.load(Ordering::Relaxed)),
        }
    }

    fn last_record(&self) -> Option<VerificationRecord> {
        self.opened.background.read_snapshot(|reads| VerificationRecord::load(reads)).unwrap()
    }

    /// Runs both processes at a time, and returns whether the ledger was verified then.
    fn verifies_at(&self, now: Timestamp) -> bool {
        self.clock.set(now);
        self.process().run_if_due(&mut || ());
        self.process().run_if_due(&mut || ());
        self.last_record().is_some_and(|record| record.ended_at() == Some(now))
    }
}

#[test]
fn the_ledger_is_verified_once_a_day() {
    on_each_database(|setup| {
        assert!(setup.verifies_at(start()), "it was never verified");
        assert!(!setup.verifies_at(start() + Span::minutes(59)));
        assert!(setup.verifies_at(start() + HOUR), "it is 03:00");
        assert!(!setup.verifies_at(start() + Span::hours(24)));
        assert!(setup.verifies_at(start() + Span::hours(26)), "it is 04:00");
        assert!(setup.verifies_at(start() + DAY * 9), "several days were missed");
    });
}

#[test]
fn a_clock_that_is_set_back_neither_repeats_nor_stops_the_verification() {
    on_each_database(|setup| {
        assert!(setup.verifies_at(start() + HOUR));
        assert!(!setup.verifies_at(start() - HOUR), "back before the time of day");
        assert!(!setup.verifies_at(start() + HOUR * 2));
        assert!(setup.verifies_at(start() + DAY + HOUR));
        assert!(setup.verifies_at(start() + DAY * 365), "the clock is a year ahead");
        assert!(setup.verifies_at(start() + DAY * 3), "and right again");
        assert!(!setup.verifies_at(start() + DAY * 3 + Span::minutes(1)));
    });
}

#[test]
fn one_of_several_processes_verifies() {
    on_each_database(|setup| {
        let claims: Vec<bool> = std::thread::scope(|scope| {
            let started: Vec<_> =
                (0..4).map(|_| scope.spawn(|| setup.process().claim_if_due().unwrap().is_some())).collect();
            started.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(claims.iter().filter(|is_claimed| **is_claimed).count(), 1, "{claims:?}");
    });
}

#[test]
fn an_interrupted_verification_runs_again_after_the_next_start() {
    on_each_database(|setup| {
        setup.is_stopping.store(true, Ordering::Relaxed);
        assert!(!setup.verifies_at(start()));
        setup.is_stopping.store(false, Ordering::Relaxed);
        assert!(setup.verifies_at(start()));
        setup.is_stopping.store(true, Ordering::Relaxed);
        assert!(!setup.verifies_at(start() + DAY));
        setup.is_stopping.store(false, Ordering::Relaxed);
        assert!(setup.verifies_at(start() + DAY));
    });
}

#[test]
fn violations_are_recorded() {
    on_each_database(|setup| {
        assert!(setup.verifies_at(start()));
        assert_eq!(setup.last_record().unwrap().violations, 0);
        let id = ProviderId::from_uuid(Uuid::from_u128(7));
        let forged = || CreateProvider {
            encrypted_shared_secret: vec![1; 64],
            ..CreateProvider::without_credentials(id, SingleLine::parse("Forged").unwrap())
        };
        let requester = &Requester::OPERATOR;
        let context = Context { clock: setup.clock.as_ref(), ids: &SystemIds, bodies: &Bodies, requester };
        setup.opened.background.transaction(|tx| create(tx, forged(), &context)).unwrap();
        assert!(setup.verifies_at(start() + DAY * 30));
        let record = setup.last_record().unwrap();
        assert_eq!(record.violations, 2, "the secret, and the fingerprint of the master key");
    });
}

#[test]
fn other_tasks_run_between_snapshots() {
    on_each_database(|setup| {
        setup.clock.set(start());
        let mut calls = 0;
        setup.process().run_if_due(&mut || calls += 1);
        assert!(calls >= AuditPart::ALL.len(), "each part has its own snapshots");
        setup.process().run_if_due(&mut || panic!("the ledger is verified already"));
    });
}
