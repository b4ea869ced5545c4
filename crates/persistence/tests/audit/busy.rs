//! Audits of a ledger that changes between their snapshots.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use guerdon_domain::audit::{AuditOptions, AuditPacer, AuditPart, verify_rows};
use guerdon_domain::ports::{Clock as _, StoreError, StoreExt as _, Tx};
use guerdon_domain::recognitions::{self, Recognition, Sender, UpdateRecognition};
use guerdon_domain::users::{self, UpdateUser};
use guerdon_domain::values::{Message, UserId};
use guerdon_domain::wallets::WalletType;
use guerdon_persistence::testing::{create_databases, postgres_if_covered};

use super::TWO_THREADS;
use crate::size::create_users;
use crate::steps::one_step;
use crate::support::{LedgerFixture, audit_options, on_each_database};

/// More legs than the audit of the journal reads together.
const LEGS_OF_SEVERAL_PAGES: usize = 12_000;
/// A distribution to this number of users takes several steps.
const USERS_IN_STEPS: usize = 1_050;

/// Changes the ledger before each snapshot of an audit.
struct ChangesBeforeSnapshots<'a> {
    change: &'a (dyn Fn(usize) + Sync),
    /// Returns whether a snapshot is over when the audit asks for the given time.
    is_over: fn(usize) -> bool,
    snapshots: AtomicUsize,
    questions: AtomicUsize,
}

impl<'a> ChangesBeforeSnapshots<'a> {
    fn new(is_over: fn(usize) -> bool, change: &'a (dyn Fn(usize) + Sync)) -> Self {
        Self { change, is_over, snapshots: AtomicUsize::new(0), questions: AtomicUsize::new(0) }
    }
}

impl AuditPacer for ChangesBeforeSnapshots<'_> {
    fn pause(&self) -> Result<(), StoreError> {
        (self.change)(self.snapshots.fetch_add(1, Ordering::Relaxed));
        Ok(())
    }

    fn is_snapshot_too_old(&self, _age: Duration) -> bool {
        (self.is_over)(self.questions.fetch_add(1, Ordering::Relaxed))
    }
}

/// Sends recognitions from the company to all of these users, and seals them.
fn send_and_seal(fixture: &LedgerFixture, users: &[UserId], legs: usize) -> Vec<Recognition> {
    let count = legs / users.len();
    fixture.deposit_points(i64::try_from(legs).unwrap());
    let all = (0..count)
        .flat_map(|_| fixture.send_recognition(Sender::Company(fixture.company), users, 1).unwrap());
    let sent = all.collect();
    fixture.seal_all();
    sent
}

fn amend_recognition(fixture: &LedgerFixture, sent: &[Recognition], number: usize) {
    let id = sent.iter().cycle().nth(number * 31).unwrap().id;
    let message = Some(Message::parse(&format!("amended by {number}")).unwrap());
    let (change, context) = (UpdateRecognition { message, share: None }, fixture.context());
    fixture.store.transaction(|tx| recognitions::update(tx, id, &change, &context)).unwrap();
}

fn seal_next(fixture: &LedgerFixture) {
    let now = fixture.clock.now();
    if let Some(next) = fixture.read_snapshot(|reads| reads.next_seal(now, 1_000)) {
        fixture.store.transaction(|tx| tx.insert_seal(&next)).unwrap();
    }
}

#[test]
fn a_ledger_that_changes_between_snapshots_passes_the_audit() {
    on_each_database(|fixture| {
        let users: Vec<UserId> = (0..8).map(|n| fixture.create_user(&format!("user-{n}"))).collect();
        let sent = send_and_seal(fixture, &users, 400);
        fixture.deposit_points(100_000);
        let change = |number: usize| {
            let user = users[number % users.len()];
            match number % 6 {
                0 => drop(fixture.send_recognition(Sender::Company(fixture.company), &users, 2).unwrap()),
                1 => fixture.fund_wallet(WalletType::Peer, user, 5),
                2 => amend_recognition(fixture, &sent, number),
                3 => fixture.override_balance(user, WalletType::Peer, 3).unwrap(),
                4 => drop(fixture.create_user(&format!("late-{number}"))),
                _ => seal_next(fixture),
            }
        };
        let pacer = ChangesBeforeSnapshots::new(|_| true, &change);
        let now = fixture.clock.now() + Duration::from_secs(60);
        let options = AuditOptions { pacer: &pacer, ..audit_options(None, now) };
        let report = verify_rows(fixture.store.as_ref(), &options, TWO_THREADS).unwrap();
        assert_eq!(report.violations, []);
        assert!(pacer.snapshots.into_inner() > users.len(), "each account can have its own snapshot");
    });
}

#[test]
fn a_distribution_in_steps_between_snapshots_passes_the_audit() {
    for database in create_databases() {
        let fixture = &LedgerFixture::new(database);
        let users = create_users(fixture, USERS_IN_STEPS);
        let sent = send_and_seal(fixture, &users[..100], LEGS_OF_SEVERAL_PAGES);
        fixture.deposit_points(100_000);
        for first in 0..2 {
            let change = |number: usize| match number.checked_sub(first) {
                Some(0) => {
                    let everybody = fixture.all_recipients(WalletType::Peer);
                    fixture.distribute_points(WalletType::Peer, 1, everybody).unwrap();
                }
                Some(1) => one_step(fixture),
                Some(2) => assert!(fixture.finish_distributions().is_empty()),
                _ => {
                    amend_recognition(fixture, &sent, number);
                    seal_next(fixture);
                }
            };
            let pacer = ChangesBeforeSnapshots::new(|_| true, &change);
            let options = AuditOptions {
                pacer: &pacer,
                ..audit_options(None, fixture.clock.now() + Duration::from_secs(60))
            };
            let findings = fixture.store.audit_part(AuditPart::Journal, &options).unwrap();
            assert_eq!(findings.into_violations(), [], "begins at snapshot {first}");
            assert!(pacer.snapshots.into_inner() > 1, "the sealed part is read in several snapshots");
            fixture.finish_distributions();
        }
    }
}

#[test]
fn a_statement_that_takes_too_long_ends_the_audit() {
    if let Some(database) = postgres_if_covered() {
        let fixture = &LedgerFixture::new(database);
        let options = AuditOptions {
            statement_duration_max: Some(Duration::from_secs(1)),
            ..audit_options(None, fixture.clock.now())
        };
        let locked = fixture.database.begin_and_execute("LOCK TABLE accounts");
        let ended = verify_rows(fixture.store.as_ref(), &options, TWO_THREADS);
        assert!(matches!(ended, Err(StoreError::Unavailable(_))), "{ended:?}");
        drop(locked);
        assert_eq!(verify_rows(fixture.store.as_ref(), &options, TWO_THREADS).unwrap().violations, []);
    }
}

#[test]
fn an_account_that_is_created_before_a_half_checked_one_is_skipped() {
    on_each_database(|fixture| {
        for from_end in 1..=10 {
            let users = ["x", "y"].map(|name| fixture.create_user(&format!("{name}-{from_end}")));
            users.iter().for_each(|user| fixture.fund_wallet(WalletType::User, *user, 5));
            let audit_balances = |change: &(dyn Fn(usize) + Sync)| {
                let pacer = ChangesBeforeSnapshots::new(|number| number % 2 == 0, change);
                let options = AuditOptions { pacer: &pacer, ..audit_options(None, fixture.clock.now()) };
                let findings = fixture.store.audit_part(AuditPart::Balances, &options).unwrap();
                assert_eq!(findings.into_violations(), [], "{from_end}");
                pacer.snapshots.into_inner()
            };
            let promote = UpdateUser { manager: Some(true), ..UpdateUser::default() };
            let promote_users = || {
                for user in users {
                    let context = fixture.context();
                    let promote =
                        |tx: &mut dyn Tx| users::update(tx, fixture.provider, user, &promote, &context);
                    fixture.store.transaction(promote).unwrap();
                }
            };
            let snapshots = audit_balances(&|_| ());
            audit_balances(&|number| {
                if number + from_end == snapshots {
                    promote_users();
                }
            });
        }
    });
}
