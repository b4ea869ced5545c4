//! `verify` detects every kind of damage.

mod consistent;
mod schema;
mod single;
mod unsealed;

use std::num::NonZero;
use std::sync::OnceLock;

use guerdon_domain::companies::set_allow_zero_points;
use guerdon_domain::distributions::{CreateSchedule, Period, cancel_schedule, create_schedule};
use guerdon_domain::money::{Points, PointsPerDollar, Sum};
use guerdon_domain::occasions::{self, OccasionText};
use guerdon_domain::ports::{StoreExt as _, Timestamp};
use guerdon_domain::recognitions::{self, Sender, UpdateRecognition};
use guerdon_domain::saml::{self, UpdateSaml};
use guerdon_domain::scheduler::{StoodBack, run_due};
use guerdon_domain::values::{EntityId, IsoDate, Line, Message, Update};
use guerdon_domain::wallets::WalletType;
use guerdon_persistence::testing::{TestDatabase, each};

use crate::support::{World, verify};

/// Removes the safeguards against damage: row constraints, triggers and unique indexes.
fn unguard(database: &TestDatabase) {
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
    sqlite.push_str("DROP TRIGGER events_reject_updates; DROP INDEX journal_entries_once;");
    let postgres = "DO $$ DECLARE r record; BEGIN \
        FOR r IN SELECT conrelid::regclass AS t, conname AS n FROM pg_constraint \
          WHERE contype IN ('c', 'f') AND connamespace = 'public'::regnamespace AND conrelid <> 0 \
          LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', r.t, r.n); END LOOP; \
        FOR r IN SELECT tgrelid::regclass AS t, tgname AS n FROM pg_trigger WHERE NOT tgisinternal \
          LOOP EXECUTE format('DROP TRIGGER %I ON %s', r.n, r.t); END LOOP; END $$; DROP INDEX journal_entries_once;";
    database.tamper(&sqlite, postgres);
}

/// A ledger with all kinds of journal entries. All but the last entry are sealed.
fn eventful(database: TestDatabase) -> (World, [u8; 32]) {
    let world = World::at_rate(database, 7);
    let (ann, bob) = (world.user("ann"), world.user("bob"));
    world.fund(WalletType::Peer, ann, 30);
    world.fund(WalletType::User, bob, 12);
    world.fund(WalletType::Peer, world.owner, 5);
    let sent = world.send(Sender::User(ann), &[bob, world.owner], 10).unwrap();
    for _ in 0..5 {
        world.send(Sender::User(world.owner), &[bob], 1).unwrap(); // the last one lacks a fraction, which is added
    }
    world.deposit(8);
    world.send(Sender::Company(world.company), &[ann], 3).unwrap();
    let context = world.context();
    world.store.transaction(|tx| set_allow_zero_points(tx, world.company, true, &context)).unwrap();
    world.send(Sender::User(ann), &[bob], 0).unwrap();
    let message = Some(Message::parse("Thanks again").unwrap());
    let amend = UpdateRecognition { message, share: Some(false) };
    world
        .store
        .transaction(|tx| recognitions::update(tx, sent.first().unwrap().id, &amend, &context))
        .unwrap();
    let redeemed = world.redeem(bob, 4).unwrap();
    world.redeem(bob, 2).unwrap();
    world.refund(redeemed.id).unwrap();
    world.put(ann, WalletType::Peer, 12).unwrap();
    world.change_rate(PointsPerDollar::new(14).unwrap());
    world.fund(WalletType::User, world.user("gone"), 6);
    world.delete(gone(&world)).unwrap();
    settings(&world);
    deliver_one(&world);
    let head = world.seal();
    world.deposit(1); // not yet sealed
    assert_eq!(world.audit_with(Some(head)), []);
    (world, head)
}

/// Audited settings: single sign-on, a global occasion, and two schedules, one already paid and one cancelled.
fn settings(world: &World) {
    let context = world.context();
    let text = OccasionText {
        name: Line::parse("Birthday").unwrap(),
        title: Line::parse("Happy birthday").unwrap(),
        default_message: Message::parse("All the best").unwrap(),
    };
    let schedule = CreateSchedule {
        company_id: world.company,
        wallet: WalletType::Peer,
        sum: Sum::Points(Points::new(1).unwrap()),
        every: Period::Month,
        start_on: IsoDate::parse("2026-11-01").unwrap(),
    };
    let saml = UpdateSaml {
        idp_id: Update::Set(EntityId::parse("https://idp.example.com").unwrap()),
        ..UpdateSaml::default()
    };
    world.deposit(10);
    world
        .store
        .transaction(|tx| -> Result<_, Box<dyn std::error::Error + Send + Sync>> {
            occasions::create_global(tx, &text, &context)?;
            saml::update(tx, world.provider, world.company, &saml, &context)?;
            create_schedule(tx, &schedule, &context)?;
            let other = create_schedule(tx, &schedule, &context)?;
            cancel_schedule(tx, other.id, &context)?;
            Ok(())
        })
        .unwrap();
    assert!(
        run_due(world.background.as_ref(), &world.commands(), &mut StoodBack::default()).unwrap().is_some()
    );
}

/// Delivers the oldest event at the first attempt.
fn deliver_one(world: &World) {
    let event = "(SELECT event_id FROM deliveries ORDER BY event_id LIMIT 1)";
    let delivered = |started_at: &str, answer: &str| {
        format!(
            "INSERT INTO attempts (event_id, id, company_id, number, started_at, duration_micros, status, answer) \
             SELECT event_id, event_id, company_id, 1, {started_at}, 1, 200, {answer} FROM deliveries \
             WHERE event_id = {event}; \
             UPDATE deliveries SET state = 2, attempts = 1, next_attempt_at = NULL WHERE event_id = {event}"
        )
    };
    world.database.tamper(&delivered("1795000000000000", "x'4f4b'"), &delivered("now()", "'OK'"));
}

fn gone(world: &World) -> guerdon_domain::values::UserId {
    let email = guerdon_domain::values::EmailAddress::parse("gone@example.com").unwrap();
    world.reading(|reads| reads.active_user_by_email(world.company, &email)).unwrap()
}

/// The sealed ledger on each database of this run, built once. Tests that damage it copy it first.
fn samples() -> &'static [(TestDatabase, [u8; 32])] {
    static SAMPLES: OnceLock<Vec<(TestDatabase, [u8; 32])>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let one = |database| {
            let (world, head) = eventful(database);
            let World { database, store, .. } = world;
            drop(store);
            (database, head)
        };
        each().into_iter().map(one).collect()
    })
}

/// A time after everything in the samples.
fn moment() -> Timestamp {
    Timestamp::from_unix_micros(1_795_000_600_000_000).unwrap()
}

/// The fewest threads that reveal a fault at the boundary between their shares of the work.
const TWO: NonZero<usize> = NonZero::<usize>::MIN.saturating_add(1);

/// Damages a sound ledger on each database and asserts that the audit reports exactly these invariants as broken.
fn check(damage: &str, expected: &[&str]) {
    check_each(damage, damage, expected);
}

/// Like [`check`], with a separate statement for each database.
fn check_each(sqlite: &str, postgres: &str, expected: &[&str]) {
    for (sample, head) in samples() {
        let database = sample.duplicate();
        unguard(&database);
        let damage = if database.is_embedded() { sqlite } else { postgres };
        let prepared = format!("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; {sqlite}");
        database.tamper(&prepared, postgres);
        let found = verify(database.store().as_ref(), Some(*head), moment(), TWO);
        for invariant in expected {
            assert!(
                found.iter().any(|violation| violation.invariant == *invariant),
                "{damage}: {invariant} not in {found:#?}"
            );
        }
    }
}
