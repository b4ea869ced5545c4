//! `verify` detects every kind of damage.

mod busy;
mod consistent;
mod ranges;
mod schema;
mod sealing;
mod single;
mod unsealed;

use std::num::NonZero;
use std::sync::OnceLock;
use std::time::Duration;

use guerdon_domain::audit::{AuditOptions, AuditPacer, Unpaced, Violation, verify_rows};
use guerdon_domain::companies::set_allow_zero_points;
use guerdon_domain::distributions::{CreateSchedule, Period, cancel_schedule, create_schedule};
use guerdon_domain::money::{Points, PointsPerDollar, Sum};
use guerdon_domain::occasions::{self, OccasionText};
use guerdon_domain::ports::{Store, StoreExt as _, Timestamp};
use guerdon_domain::recognitions::{self, Sender, UpdateRecognition};
use guerdon_domain::saml::{self, UpdateSaml};
use guerdon_domain::scheduler::{PausedSchedules, run_next_due_date};
use guerdon_domain::values::{EntityId, IsoDate, Message, SingleLine, Update};
use guerdon_domain::wallets::WalletType;
use guerdon_persistence::testing::{TestDatabase, create_databases};

use crate::support::{LedgerFixture, audit_options};

/// Removes the safeguards against damage: row constraints, triggers and unique indexes.
fn drop_safeguards(database: &TestDatabase) {
    const TRIGGERS: [&str; 13] = [
        "journal_entries_reject_updates",
        "journal_entries_reject_deletes",
        "recognitions_reject_updates",
        "recognitions_reject_deletes",
        "accounts_reject_updates",
        "accounts_reject_deletes",
        "transfers_reject_updates",
        "transfers_reject_deletes",
        "seals_reject_updates",
        "seals_reject_deletes",
        "events_deleted_after_delivery",
        "audit_entries_reject_updates",
        "audit_entries_reject_deletes",
    ];
    let mut sqlite: String = TRIGGERS.iter().map(|trigger| format!("DROP TRIGGER {trigger};")).collect();
    sqlite.push_str("DROP TRIGGER events_reject_updates; DROP INDEX journal_entries_unique_subject;");
    let postgres = "DO $$ DECLARE r record; BEGIN \
        FOR r IN SELECT conrelid::regclass AS t, conname AS n FROM pg_constraint \
          WHERE contype IN ('c', 'f') AND connamespace = 'public'::regnamespace AND conrelid <> 0 AND coninhcount = 0 \
          LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', r.t, r.n); END LOOP; \
        FOR r IN SELECT tgrelid::regclass AS t, tgname AS n FROM pg_trigger WHERE NOT tgisinternal AND tgparentid = 0 \
          LOOP EXECUTE format('DROP TRIGGER %I ON %s', r.n, r.t); END LOOP; END $$; DROP INDEX journal_entries_unique_subject;";
    database.execute_sql(&sqlite, postgres);
}

/// A ledger with all kinds of journal entries. All but the last entry are sealed.
fn create_sealed_ledger(database: TestDatabase) -> (LedgerFixture, [u8; 32]) {
    let fixture = LedgerFixture::with_rate(database, 7);
    let (ann, bob) = (fixture.create_user("ann"), fixture.create_user("bob"));
    fixture.fund_wallet(WalletType::Peer, ann, 30);
    fixture.fund_wallet(WalletType::User, bob, 12);
    fixture.fund_wallet(WalletType::Peer, fixture.owner, 5);
    let sent = fixture.send_recognition(Sender::User(ann), &[bob, fixture.owner], 10).unwrap();
    for _ in 0..5 {
        // The company adds a missing fraction of the last point.
        fixture.send_recognition(Sender::User(fixture.owner), &[bob], 1).unwrap();
    }
    fixture.deposit_points(8);
    fixture.send_recognition(Sender::Company(fixture.company), &[ann], 3).unwrap();
    let context = fixture.context();
    fixture.store.transaction(|tx| set_allow_zero_points(tx, fixture.company, true, &context)).unwrap();
    fixture.send_recognition(Sender::User(ann), &[bob], 0).unwrap();
    let message = Some(Message::parse("Thanks again").unwrap());
    let amend = UpdateRecognition { message, share: Some(false) };
    fixture
        .store
        .transaction(|tx| recognitions::update(tx, sent.first().unwrap().id, &amend, &context))
        .unwrap();
    let redeemed = fixture.redeem_points(bob, 4).unwrap();
    fixture.redeem_points(bob, 2).unwrap();
    fixture.refund_redemption(redeemed.id).unwrap();
    fixture.override_balance(ann, WalletType::Peer, 12).unwrap();
    fixture.change_rate(PointsPerDollar::new(14).unwrap());
    fixture.fund_wallet(WalletType::User, fixture.create_user("gone"), 6);
    fixture.delete_user(find_deleted_user(&fixture)).unwrap();
    create_audited_settings(&fixture);
    deliver_one(&fixture);
    let head = fixture.seal_all();
    fixture.deposit_points(1); // not yet sealed
    assert_eq!(fixture.audit_with(Some(head)), []);
    (fixture, head)
}

/// Audited settings: single sign-on, a global occasion, and two schedules, one already paid and one cancelled.
fn create_audited_settings(fixture: &LedgerFixture) {
    let context = fixture.context();
    let text = OccasionText {
        name: SingleLine::parse("Birthday").unwrap(),
        title: SingleLine::parse("Happy birthday").unwrap(),
        default_message: Message::parse("All the best").unwrap(),
    };
    let schedule = CreateSchedule {
        company_id: fixture.company,
        wallet: WalletType::Peer,
        sum: Sum::Points(Points::new(1).unwrap()),
        period: Period::Month,
        start_on: IsoDate::parse("2026-11-01").unwrap(),
    };
    let saml = UpdateSaml {
        idp_id: Update::Set(EntityId::parse("https://idp.example.com").unwrap()),
        ..UpdateSaml::default()
    };
    fixture.deposit_points(10);
    fixture
        .store
        .transaction(|tx| -> Result<_, Box<dyn std::error::Error + Send + Sync>> {
            occasions::create_global(tx, &text, &context)?;
            saml::update(tx, fixture.provider, fixture.company, &saml, &context)?;
            create_schedule(tx, &schedule, &context)?;
            let other = create_schedule(tx, &schedule, &context)?;
            cancel_schedule(tx, other.id, &context)?;
            Ok(())
        })
        .unwrap();
    assert!(
        run_next_due_date(
            fixture.background.as_ref(),
            &fixture.command_queue(),
            &mut PausedSchedules::default()
        )
        .unwrap()
        .is_some()
    );
}

/// Delivers the oldest event at the first attempt.
fn deliver_one(fixture: &LedgerFixture) {
    let event = "(SELECT event_id FROM deliveries ORDER BY event_id LIMIT 1)";
    let delivered = |started_at: &str, response: &str| {
        format!(
            "INSERT INTO attempts (event_id, id, company_id, number, started_at, duration_micros, status, response) \
             SELECT event_id, event_id, company_id, 1, {started_at}, 1, 200, {response} FROM deliveries \
             WHERE event_id = {event}; \
             UPDATE deliveries SET state = 2, attempts = 1, next_attempt_at = NULL WHERE event_id = {event}"
        )
    };
    fixture.database.execute_sql(&delivered("1795000000000000", "x'4f4b'"), &delivered("now()", "'OK'"));
}

fn find_deleted_user(fixture: &LedgerFixture) -> guerdon_domain::values::UserId {
    let email = guerdon_domain::values::EmailAddress::parse("gone@example.com").unwrap();
    fixture.read_snapshot(|reads| reads.find_active_user_by_email(fixture.company, &email)).unwrap()
}

/// The sealed ledger on each database of this run, built once, without safeguards. Tests that damage it copy it first.
fn unprotected_ledgers() -> &'static [(TestDatabase, [u8; 32])] {
    static SAMPLES: OnceLock<Vec<(TestDatabase, [u8; 32])>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let one = |database| {
            let (fixture, head) = create_sealed_ledger(database);
            let LedgerFixture { database, store, .. } = fixture;
            drop(store);
            drop_safeguards(&database);
            (database, head)
        };
        create_databases().into_iter().map(one).collect()
    })
}

/// A time after all entries of the sealed ledgers.
fn after_all_entries() -> Timestamp {
    Timestamp::from_unix_micros(1_795_000_600_000_000).unwrap()
}

/// The fewest threads that reveal a fault at the boundary between their shares of the work.
const TWO_THREADS: NonZero<usize> = NonZero::<usize>::MIN.saturating_add(1);

/// Makes an audit take a new snapshot wherever it can.
struct ShortestSnapshots;

impl AuditPacer for ShortestSnapshots {
    fn is_snapshot_too_old(&self, _age: Duration) -> bool {
        true
    }
}

/// The violations that an audit finds, sorted.
fn find_violations(store: &dyn Store, head: [u8; 32], pacer: &dyn AuditPacer) -> Vec<Violation> {
    let options = AuditOptions { pacer, ..audit_options(Some(head), after_all_entries()) };
    let mut found = verify_rows(store, &options, TWO_THREADS).unwrap().violations;
    found.sort_by(|a, b| (a.invariant, &a.detail).cmp(&(b.invariant, &b.detail)));
    found
}

/// Damages an intact ledger on each database and asserts that the audit reports at least these invariants as broken.
fn assert_violations(damage: &str, expected: &[&str]) {
    assert_violations_of_each(damage, damage, expected);
}

/// Like [`assert_violations`], with a separate statement for each database.
fn assert_violations_of_each(sqlite: &str, postgres: &str, expected: &[&str]) {
    for (sample, head) in unprotected_ledgers() {
        let database = sample.duplicate();
        let damage = if database.is_embedded() { sqlite } else { postgres };
        let prepared = format!("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; {sqlite}");
        database.execute_sql(&prepared, postgres);
        let store = database.open_for_command();
        let found = find_violations(store.as_ref(), *head, &Unpaced);
        let found_in_parts = find_violations(store.as_ref(), *head, &ShortestSnapshots);
        assert_eq!(found_in_parts, found, "{damage}: the number of snapshots makes a difference");
        for invariant in expected {
            assert!(
                found.iter().any(|violation| violation.invariant == *invariant),
                "{damage}: {invariant} not in {found:#?}"
            );
        }
    }
}
