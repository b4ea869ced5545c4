//! No statement of a request scans a whole table. In a database with 100,000 users and 900,000 transfers, each
//! statement finds its rows by an index. The statements are recorded on the connections of the repositories.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, PoisonError};

use guerdon_domain::audit_log::{Action, newest};
use guerdon_domain::companies::UpdateCompany;
use guerdon_domain::events::{EventKind, EventState};
use guerdon_domain::idempotency::IdempotencyKey;
use guerdon_domain::journal::Actor;
use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::occasions;
use guerdon_domain::ports::{
    AuditWanted, Claim, EventsWanted, Role, Row, StoreError, StoreExt as _, Timestamp, Tx, Wanted,
};
use guerdon_domain::recognitions::Sender;
use guerdon_domain::saml::{self, UpdateSaml};
use guerdon_domain::users::{self, UpdateUser};
use guerdon_domain::values::{
    CorporationId, DomainName, EmailAddress, EntityId, EventId, Line, OccasionId, Page, Update, UserId,
};
use guerdon_domain::wallets::{Account, WalletType};
use guerdon_persistence::testing::{TestDatabase, covers_postgres, covers_sqlite, each, postgres, sqlite};
use uuid::Uuid;

use crate::support::{World, overheard};

/// Every distinct statement that `work` sends.
fn statements(world: &World, work: impl FnOnce()) -> BTreeSet<String> {
    overheard::statements(&world.database, work).into_iter().collect()
}

/// The tables that grow. A statement that reads all rows of one of them is a fault.
const LARGE: [&str; 12] = [
    "accounts",
    "journal_entries",
    "companies",
    "corporations",
    "deliveries",
    "events",
    "idempotency_records",
    "mails",
    "occasions",
    "recognitions",
    "transfers",
    "users",
];

/// Lines of a query plan that scan a large table.
fn scans(plan: &[String]) -> Vec<&String> {
    let reads_all = |line: &&String| {
        LARGE.iter().any(|table| {
            let line = line.trim();
            line.contains(&format!("Seq Scan on {table}")) || line.starts_with(&format!("SCAN {table}"))
        })
    };
    plan.iter().filter(reads_all).collect()
}

/// Rows for 100 providers with one company each, including the world's own. `ID` makes an id of `i`, `AT` a timestamp.
const ROWS: &str = "
    INSERT INTO providers (id, name, api_key, api_secret_hash, shared_secret_sealed, manages_all_domain_resources, suspended,
      created_at, updated_at) SELECT ID, 'P', 'p' || i, BYTES, BYTES, FALSE, FALSE, AT, AT FROM n WHERE i < 100;
    INSERT INTO companies (id, provider_id, domain, company_name, owner_id, logo_url, points_per_dollar, allow_zero_points,
      created_at, updated_at) SELECT ID, ID, 'c' || i || '.example.net', 'C', ID, 'https://x.example', 50, FALSE, AT, AT
      FROM n WHERE i < 100;
    INSERT INTO corporations (id, provider_id, name, created_at, updated_at)
      SELECT ID, THEIRS, 'C', AT, AT FROM n WHERE i <= 10000;
    INSERT INTO companies (id, provider_id, domain, company_name, owner_id, logo_url, points_per_dollar, allow_zero_points,
      created_at, updated_at) SELECT ID, THEIRS, 'd' || i || '.example.net', 'C', ID, 'https://x.example', 50, FALSE, AT, AT
      FROM n WHERE i BETWEEN 101 AND 10000;
    INSERT INTO users (id, company_id, email, email_folded, first_name, manager, company_admin, corporation_admin,
      created_at, updated_at) SELECT ID, THEIRS, i || '@x.example', i || '@x.example', 'N', FALSE, FALSE, FALSE, AT, AT
      FROM n WHERE i <= 100000;
    INSERT INTO occasions (id, company_id, name, title, default_message, enabled, visible, created_at, updated_at)
      SELECT ID, THEIRS, 'N', 'T', 'M', TRUE, TRUE, AT, AT FROM n WHERE i <= 20000;
    INSERT INTO journal_entries (id, company_id, provider_id, kind, actor, points_per_dollar, points, legs, subject_id,
      occasion_id, share, message, created_at) SELECT ID, THEIRS, THEIRS, 4, 1, 50, 1, 1, SOMEONE, THEIRS, TRUE, 'M', AT
      FROM n WHERE i <= 200000;
    INSERT INTO accounts (owner_id, kind, company_id, balance, spent, entry_count, rounding_shortfall, created_at)
      SELECT ID, 1, THEIRS, 1000, 0, 0, 0, AT FROM n WHERE i BETWEEN 100 AND 100000;
    INSERT INTO transfers (journal_entry_id, leg, company_id, debit_owner, debit_kind, debit_sequence, credit_owner, credit_kind,
      credit_sequence, amount, points, points_per_dollar, reason, created_at)
      SELECT ID, 1, THEIRS, THEIRS, 4, i, SOMEONE, 1, i, 20000000, 1, 50, 1, AT FROM n WHERE i >= 100000;
    INSERT INTO recognitions (journal_entry_id, leg, id, company_id, sender_id, receiver_id, share, created_at)
      SELECT ID, 1, ID, THEIRS, THEIRS, SOMEONE, TRUE, AT FROM n WHERE i BETWEEN 100000 AND 300000;
    INSERT INTO events (id, company_id, provider_id, kind, journal_entry_id, body, created_at)
      SELECT ID, THEIRS, THEIRS, 2, ID, BODY, AT FROM n WHERE i <= 100000;
    INSERT INTO deliveries (event_id, company_id, provider_id, state, attempts, attempts_before_replay)
      SELECT ID, THEIRS, THEIRS, 2, 1, 0 FROM n WHERE i <= 100000;
    INSERT INTO mails (id, company_id, recipient, notification, state, attempts, next_attempt_at, created_at)
      SELECT ID, THEIRS, 'a@b.example', '{}', 2, 1, NULL, AT FROM n WHERE i <= 20000;
    INSERT INTO idempotency_records (scope, idempotency_key, request_hash, status, body, created_at, expires_at)
      SELECT ID, i, HASH, 201, BYTES, AT, LATER FROM n WHERE i <= 20000;
";

fn sqlite_rows() -> String {
    let id = |i: &str| format!("CAST(printf('%016d', {i}) AS BLOB)");
    let rows = ROWS
        .replace("THEIRS", &id("1 + i % 99"))
        .replace("SOMEONE", &id("1 + i % 99991"))
        .replace("ID", &id("i"))
        .replace("BYTES", "x'00'")
        .replace("BODY", "x'7b7d'")
        .replace("HASH", "zeroblob(32)")
        .replace("LATER", "i + 1")
        .replace("AT,", "i,")
        .replace("AT FROM", "i FROM")
        .replace("AT\n", "i\n");
    format!(
        "PRAGMA synchronous = OFF; CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS \
         (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT i FROM n; BEGIN; {rows} COMMIT;"
    )
}

/// The same rows, with the planner statistics of a long-running server.
fn postgres_rows() -> String {
    let id = |i: &str| format!("lpad(to_hex({i}), 32, '0')::uuid");
    let rows = ROWS
        .replace("THEIRS", &id("1 + i % 99"))
        .replace("SOMEONE", &id("1 + i % 99991"))
        .replace("ID", &id("i"))
        .replace("BYTES", r"'\x00'")
        .replace("BODY", r"'\x7b7d'")
        .replace("HASH", "decode(repeat('00', 32), 'hex')")
        .replace("LATER", "to_timestamp(i + 1)")
        .replace("AT,", "to_timestamp(i),")
        .replace("AT FROM", "to_timestamp(i) FROM")
        .replace("AT\n", "to_timestamp(i)\n");
    format!(
        "SET guerdon.writer = on; CREATE TEMP TABLE n AS SELECT generate_series(1, 1000000) AS i; {rows} ANALYZE"
    )
}

fn page() -> Page {
    Page::new(3, 100).unwrap()
}

fn request_like(world: &World, ann: UserId, corporation: CorporationId, occasion: OccasionId) {
    let (scope, company, page) = (world.provider, world.company, page());
    let domain = DomainName::parse("example.com").unwrap();
    let email = EmailAddress::parse("ann@example.com").unwrap();
    world.reading(|reads| -> Result<(), StoreError> {
        reads.provider_by_api_key("key")?;
        reads.company(scope, company)?;
        reads.company_by_domain(scope, &domain)?;
        for within in [None, Some(corporation)] {
            reads.companies(scope, within, page)?;
            reads.company_count(scope, within)?;
        }
        reads.active_user_count(company)?;
        reads.active_users_page(company, page)?;
        reads.active_user_by_email(company, &email)?;
        reads.admin_emails(company)?;
        reads.corporation(scope, corporation)?;
        reads.corporations(scope, page)?;
        reads.corporation_count(scope)?;
        reads.occasion(scope, occasion)?;
        reads.occasions(company, page)?;
        reads.occasion_count(company)?;
        reads.user(scope, ann)?;
        reads.people(scope, &[ann])?;
        reads.people(scope, &[ann, world.owner])?;
        reads.wallets(ann)?;
        reads.wallets_of(&[ann, world.owner])?;
        reads.balance(Account::Reserve(company))?;
        reads.transactions(Account::Wallet(WalletType::Peer, ann), page)?;
        for role in [Role::Receiver, Role::Sender] {
            reads.recognitions(ann, role, page)?;
            reads.recognition_count(ann, role)?;
        }
        reads.saml(company).map(drop)
    });
}

fn changes(world: &World, ann: UserId) {
    let (context, now) = (world.context(), world.context().clock.now());
    world.fund(WalletType::Peer, ann, 10);
    world.deposit(10);
    world.send(Sender::User(ann), &[world.owner], 1).unwrap();
    world.send(Sender::Company(world.company), &[world.owner, ann], 1).unwrap();
    let rate = UpdateCompany { rate: PointsPerDollar::new(51), ..UpdateCompany::default() };
    world.update(&rate).unwrap();
    let key = IdempotencyKey { scope: Uuid::nil(), key: "k".into() };
    let settings = UpdateSaml { idp_id: Update::Set(EntityId::parse("x").unwrap()), ..UpdateSaml::default() };
    let manager = UpdateUser { manager: Some(true), ..UpdateUser::default() };
    let (provider, lease) = (world.provider, Uuid::nil());
    let claim = Claim { provider, limit: 8, now, until: now, lease };
    let far = Timestamp::from_unix_micros(200_000_000_000_000_000).unwrap(); // later than every id
    let work = |tx: &mut dyn Tx| -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        tx.hold(Row::Company(world.company))?;
        tx.claim_key(&key)?;
        tx.idempotency_record(&key, now)?;
        saml::update(tx, world.provider, world.company, &settings, &context)?;
        users::update(tx, world.provider, ann, &manager, &context)?;
        occasions::delete(tx, world.provider, world.occasion, &context)?;
        tx.providers_with_due_events(now)?;
        tx.next_event_due()?;
        tx.claim_events(&claim)?;
        tx.claim_mails(now, now, lease, 8)?;
        tx.next_mail_due()?;
        let gone = tx.prune_events(far, None, 500)?.0;
        let gone = [gone, tx.prune_mails(far, 500)?, tx.prune_idempotency_records(now, 500)?];
        assert!(gone.iter().all(|count| *count > 400), "{gone:?} of 500 each");
        Ok(())
    };
    world.store.transaction(work).unwrap();
    world.delete(ann).unwrap();
}

/// Searches that match few of a company's users, and the index of each. `users_all` would scan all users of the
/// company.
fn searches() -> [(Wanted, &'static str); 2] {
    let (email, employee_id) = (EmailAddress::parse("ann@example.com").ok(), Line::parse("E-1").ok());
    [
        (Wanted { email, ..Wanted::default() }, "users_email"),
        (Wanted { employee_id, ..Wanted::default() }, "users_employee"),
    ]
}

/// A database with all of these rows, shared by the tests of this file. `None` if this run does not cover it.
type Filled = LazyLock<Option<Mutex<World>>>;

static SQLITE: Filled = LazyLock::new(|| covers_sqlite().then(|| fill(sqlite())));
static POSTGRES: Filled = LazyLock::new(|| covers_postgres().then(|| fill(postgres())));

fn fill(database: TestDatabase) -> Mutex<World> {
    overheard::listen();
    let world = World::new(database);
    world.database.tamper(&sqlite_rows(), &postgres_rows());
    Mutex::new(world)
}

/// Runs a test on a filled database when no other test uses it.
fn on_filled(database: &Filled, test: impl Fn(&World)) {
    if let Some(world) = &**database {
        test(&world.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[test]
fn no_statement_of_a_request_reads_a_whole_table() {
    let judge = |world: &World| {
        let ann = world.user("ann");
        let nil = Uuid::nil();
        let mut sent = statements(world, || {
            request_like(world, ann, CorporationId::from_uuid(nil), OccasionId::from_uuid(nil));
        });
        let reads = sent.len();
        sent.append(&mut statements(world, || changes(world, ann)));
        sent.retain(|statement| {
            ["SELECT", "UPDATE", "DELETE", "INSERT"].iter().any(|verb| statement.starts_with(verb))
        });
        assert!(reads >= 25 && sent.len() >= 45, "{reads} and {} statements recorded", sent.len());
        let told = sent.iter().map(|statement| (statement, world.database.plan(statement)));
        let faults: Vec<String> = told
            .filter(|(_, plan)| !scans(plan).is_empty())
            .map(|(statement, plan)| format!("{statement}\n{}\n", plan.join("\n")))
            .collect();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        for (wanted, index) in searches() {
            let searched = statements(world, || {
                world.reading(|reads| reads.users(world.company, &wanted, page()).map(drop))
            });
            let of_users = searched.iter().filter(|statement| statement.contains("ORDER BY"));
            let plans: Vec<String> =
                of_users.map(|statement| world.database.plan(statement).join("\n")).collect();
            assert!(
                !plans.is_empty() && plans.iter().all(|plan| plan.contains(index)),
                "not by {index}: {plans:?}"
            );
        }
        let found_by_key = statements(world, || {
            let (emails, ids) =
                ([EmailAddress::parse("ann@example.com").unwrap()], [Line::parse("E-1").unwrap()]);
            world.reading(|reads| reads.active_users_of(world.company, &ids, &emails).map(drop));
        });
        for (column, index) in [("employee_id", "users_employee"), ("email_folded", "users_email")] {
            let condition = |statement: &&String| {
                statement.split("WHERE").nth(1).is_some_and(|clause| clause.contains(column))
            };
            let plan = world.database.plan(found_by_key.iter().find(condition).unwrap()).join("\n");
            assert!(plan.contains(index), "not by {index}: {plan}");
        }
        let whole = world.database.plan("SELECT count(*) FROM transfers WHERE amount = 7");
        assert!(!scans(&whole).is_empty(), "a scan must be detected: {whole:?}");
    };
    on_filled(&SQLITE, judge);
    on_filled(&POSTGRES, judge);
}

/// Queries of the console on tables that have a row per user or event.
fn pages(world: &World) {
    let state = |state| EventsWanted { state: Some(state), limit: 50, ..EventsWanted::default() };
    world.reading(|reads| -> Result<(), StoreError> {
        reads.company_lines(1)?;
        reads.low_reserves()?;
        reads.outbox_depth()?;
        for provider in [None, Some(world.provider)] {
            reads.undelivered(provider, 10_000)?;
            for undelivered in [EventState::Exhausted, EventState::Unaddressed] {
                reads.events(&EventsWanted { provider, ..state(undelivered) })?;
            }
        }
        reads.events(&EventsWanted { provider: Some(world.provider), ..state(EventState::Delivered) })?;
        let one = Some(EventId::from_uuid(Uuid::nil()));
        let rare = Some(EventKind::RedemptionCreated);
        for (provider, kind) in [(None, rare), (Some(world.provider), None), (Some(world.provider), rare)] {
            let all = EventsWanted { provider, kind, limit: 50, ..EventsWanted::default() };
            reads.events(&all)?;
            reads.events(&EventsWanted { before: one, ..all })?;
            reads.events(&EventsWanted { after: one, ..all })?;
        }
        let log = AuditWanted { limit: 50, ..AuditWanted::default() };
        newest(reads, &AuditWanted { action: Some(Action::Deposited), ..log })?;
        newest(reads, &AuditWanted { action: Some(Action::SecretRotated), ..log })?;
        newest(reads, &AuditWanted { actor: Some(Actor::Operator), ..log })?;
        newest(reads, &AuditWanted { company: Some(world.company), ..log })?;
        reads.sent_mails(10_000)?;
        reads.last_failure(world.provider).map(drop)
    });
}

#[test]
fn no_console_page_scans_a_growing_table() {
    let judge = |world: &World| {
        let sent = statements(world, || pages(world));
        let tables = ["deliveries", "accounts", "journal_entries"];
        let asked: Vec<&String> =
            sent.iter().filter(|statement| tables.iter().any(|name| statement.contains(name))).collect();
        assert!(asked.len() >= 16, "{} statements recorded", asked.len());
        for statement in asked {
            let plan = world.database.plan(statement);
            let walks = |line: &&String| {
                let line = line.trim();
                let is_whole = ["SCAN a", "SCAN deliveries", "SCAN events", "SCAN journal_entries"]
                    .contains(&line)
                    || (line.starts_with("SCAN") && line.contains("USING INDEX sqlite_autoindex"));
                is_whole
                    || line.contains("TEMP B-TREE FOR ORDER BY") && statement.contains("events")
                    || ["accounts", "deliveries", "events", "journal_entries"]
                        .iter()
                        .any(|table| line.contains(&format!("Seq Scan on {table}")))
                    || line.contains("Index Scan Backward using deliveries_pkey")
            };
            assert_eq!(plan.iter().find(walks), None, "{statement}\n{}", plan.join("\n"));
        }
    };
    // In the reverse order of the test above, so that both databases are filled in parallel.
    on_filled(&POSTGRES, judge);
    on_filled(&SQLITE, judge);
}

/// Tables that are small or whose rows belong to no company.
const OF_NO_COMPANY: &str = "'companies', 'corporations', 'distribution_steps', 'distributions_under_way', \
    'idempotency_records', 'provider_statistics', 'providers', 'schema_migrations', 'seals', 'service_statistics', 'settings'";

#[test]
fn every_row_of_a_large_table_has_a_company_id() {
    for database in each() {
        let without = if database.is_embedded() {
            format!(
                "sqlite_master AS t WHERE type = 'table' AND name NOT IN ({OF_NO_COMPANY}) AND NOT EXISTS \
                 (SELECT 1 FROM pragma_table_info(t.name) AS c WHERE c.name = 'company_id')"
            )
        } else {
            format!(
                "pg_class AS t WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT IN \
                 ({OF_NO_COMPANY}) AND NOT EXISTS (SELECT FROM pg_attribute AS c WHERE c.attrelid = t.oid \
                 AND c.attname = 'company_id')"
            )
        };
        assert_eq!(database.count(&without), 0, "on {}", database.url);
    }
}
