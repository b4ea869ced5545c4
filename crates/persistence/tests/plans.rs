//! No statement of a request scans a whole table. In a database with 100,000 users and 300,000 transfers,
//! each statement finds its rows by an index. The test records the statements that the repositories send.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, PoisonError};

use guerdon_domain::audit_log::{Action, list_newest_entries};
use guerdon_domain::companies::UpdateCompany;
use guerdon_domain::events::{EventKind, EventState};
use guerdon_domain::idempotency::IdempotencyKey;
use guerdon_domain::journal::Actor;
use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::notifications::{Channel, Recipient};
use guerdon_domain::occasions;
use guerdon_domain::ports::{
    AuditLogQuery, ClaimRequest, DurationSubject, EventQuery, LockableRow, NewNotification,
    NotificationClaim, NotificationOutcome, NotificationQuery, NotificationState, ReplayQuery, Role,
    StoreError, StoreExt as _, Timestamp, Tx, UserQuery,
};
use guerdon_domain::recognitions::Sender;
use guerdon_domain::saml::{self, UpdateSaml};
use guerdon_domain::users::{self, UpdateUser};
use guerdon_domain::values::{
    CorporationId, DomainName, EmailAddress, EntityId, EventId, OccasionId, Page, RecognitionId, SingleLine,
    Update, UserId,
};
use guerdon_domain::wallets::{Account, WalletType};
use guerdon_persistence::testing::{TestDatabase, create_databases, postgres_if_covered, sqlite_if_covered};
use uuid::Uuid;

use crate::deliveries::reserve_notification;
use crate::support::{LedgerFixture, recorded_statements};

/// Every distinct statement that `work` sends.
fn distinct_statements(fixture: &LedgerFixture, work: impl FnOnce()) -> BTreeSet<String> {
    recorded_statements::record_statements(&fixture.database, work).into_iter().collect()
}

/// The tables that grow. A statement that reads all rows of one of them is a fault.
const LARGE_TABLES: [&str; 12] = [
    "accounts",
    "journal_entries",
    "companies",
    "corporations",
    "deliveries",
    "events",
    "idempotency_records",
    "notifications",
    "occasions",
    "recognitions",
    "transfers",
    "users",
];

/// Whether PostgreSQL scans a whole table. The rows of a partitioned table are in the partition for everything
/// before the database was created; its other partitions are empty, and may be scanned.
fn is_seq_scan_of(line: &str, table: &str) -> bool {
    ["", "_earlier"]
        .iter()
        .any(|suffix| format!("{line} ").contains(&format!("Seq Scan on {table}{suffix} ")))
}

/// Lines of a query plan that scan a large table.
fn full_scans(plan: &[String]) -> Vec<&String> {
    let reads_all = |line: &&String| {
        LARGE_TABLES
            .iter()
            .any(|table| is_seq_scan_of(line, table) || line.trim().starts_with(&format!("SCAN {table}")))
    };
    plan.iter().filter(reads_all).collect()
}

/// Rows for 100 providers with one company each, including the fixture's own. `ID` makes an id of `i`, `AT` a
/// timestamp.
const ROWS: &str = "
    INSERT INTO providers (id, name, api_key, api_secret_hash, encrypted_shared_secret, manages_all_domain_resources, suspended,
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
      FROM n WHERE i <= 50000;
    INSERT INTO occasions (id, company_id, name, title, default_message, enabled, visible, created_at, updated_at)
      SELECT ID, THEIRS, 'N', 'T', 'M', TRUE, TRUE, AT, AT FROM n WHERE i <= 10000;
    INSERT INTO journal_entries (id, company_id, provider_id, kind, actor, points_per_dollar, points, legs, subject_id,
      occasion_id, share, message, created_at) SELECT ID, THEIRS, THEIRS, 4, 1, 50, 1, 1, SOMEONE, THEIRS, TRUE, 'M', AT
      FROM n WHERE i <= 100000;
    INSERT INTO accounts (owner_id, kind, company_id, balance, spent, entry_count, rounding_shortfall, created_at)
      SELECT ID, 1, THEIRS, 1000, 0, 0, 0, AT FROM n WHERE i BETWEEN 100 AND 50000;
    INSERT INTO transfers (journal_entry_id, leg, company_id, debit_owner, debit_kind, debit_sequence, credit_owner, credit_kind,
      credit_sequence, amount, points, points_per_dollar, reason, created_at)
      SELECT ID, 1, THEIRS, THEIRS, 4, i, SOMEONE, 1, i, 20000000, 1, 50, 1, AT FROM n WHERE i >= 50000;
    INSERT INTO recognitions (journal_entry_id, leg, id, company_id, sender_id, receiver_id, share, created_at)
      SELECT ID, 1, ID, THEIRS, THEIRS, SOMEONE, TRUE, AT FROM n WHERE i BETWEEN 50000 AND 150000;
    INSERT INTO events (id, company_id, provider_id, kind, journal_entry_id, body, created_at)
      SELECT ID, THEIRS, THEIRS, 2, ID, BODY, AT FROM n WHERE i <= 50000;
    INSERT INTO deliveries (event_id, company_id, provider_id, state, attempts, attempts_before_replay)
      SELECT ID, THEIRS, THEIRS, 2, 1, 0 FROM n WHERE i <= 50000;
    INSERT INTO notifications (id, company_id, provider_id, channel, recipient, notification, state, attempts, next_attempt_at, created_at)
      SELECT ID, THEIRS, THEIRS, 1, 'a@b.example', '{}', 2, 1, NULL, AT FROM n WHERE i <= 10000;
    INSERT INTO idempotency_records (scope, idempotency_key, request_hash, status, body, created_at, expires_at)
      SELECT ID, i, HASH, 201, BYTES, AT, LATER FROM n WHERE i <= 10000;
";

fn sqlite_rows() -> String {
    let id = |i: &str| format!("CAST(printf('%016d', {i}) AS BLOB)");
    let rows = ROWS
        .replace("THEIRS", &id("1 + i % 99"))
        .replace("SOMEONE", &id("1 + i % 49991"))
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
         (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT i FROM n; BEGIN; {rows} COMMIT;"
    )
}

/// The same rows for PostgreSQL, with the planner statistics of a long-running server.
fn postgres_rows() -> String {
    let id = |i: &str| format!("lpad(to_hex({i}), 32, '0')::uuid");
    let rows = ROWS
        .replace("THEIRS", &id("1 + i % 99"))
        .replace("SOMEONE", &id("1 + i % 49991"))
        .replace("ID", &id("i"))
        .replace("BYTES", r"'\x00'")
        .replace("BODY", r"'\x7b7d'")
        .replace("HASH", "decode(repeat('00', 32), 'hex')")
        .replace("LATER", "to_timestamp(i + 1)")
        .replace("AT,", "to_timestamp(i),")
        .replace("AT FROM", "to_timestamp(i) FROM")
        .replace("AT\n", "to_timestamp(i)\n");
    format!(
        "SET guerdon.writer = on; CREATE TEMP TABLE n AS SELECT generate_series(1, 200000) AS i; {rows} ANALYZE"
    )
}

fn third_page() -> Page {
    Page::new(3, 100).unwrap()
}

fn request_like(fixture: &LedgerFixture, ann: UserId, corporation: CorporationId, occasion: OccasionId) {
    let (scope, company, page) = (fixture.provider, fixture.company, third_page());
    let domain = DomainName::parse("example.com").unwrap();
    let email = EmailAddress::parse("ann@example.com").unwrap();
    fixture.read_snapshot(|reads| -> Result<(), StoreError> {
        reads.find_provider_by_api_key("key")?;
        reads.find_company(scope, company)?;
        reads.find_company_by_domain(scope, &domain)?;
        for within in [None, Some(corporation)] {
            reads.list_companies(scope, within, page)?;
            reads.count_companies(scope, within)?;
        }
        reads.count_active_users(company)?;
        reads.list_active_user_ids_page(company, page)?;
        reads.find_active_user_by_email(company, &email)?;
        reads.list_admin_emails(company)?;
        reads.find_corporation(scope, corporation)?;
        reads.list_corporations(scope, page)?;
        reads.count_corporations(scope)?;
        reads.find_occasion(scope, occasion)?;
        reads.list_occasions(company, page)?;
        reads.count_occasions(company)?;
        reads.find_user(scope, ann)?;
        reads.find_user_summaries(scope, &[ann])?;
        reads.find_user_summaries(scope, &[ann, fixture.owner])?;
        reads.list_wallets(ann)?;
        reads.list_wallets_of_users(&[ann, fixture.owner])?;
        reads.account_balance(Account::Reserve(company))?;
        reads.list_transactions(Account::Wallet(WalletType::Peer, ann), page)?;
        for role in [Role::Receiver, Role::Sender] {
            reads.list_recognitions(ann, role, page)?;
            reads.count_recognitions(ann, role)?;
        }
        reads.find_recognition(scope, RecognitionId::from_uuid(Uuid::nil()))?;
        reads.saml_settings(company).map(drop)
    });
}

/// Claims a notification that is due, and one that an operator retries.
fn claim_notifications(
    tx: &mut dyn Tx,
    fixture: &LedgerFixture,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (context, now) = (fixture.context(), fixture.context().clock.now());
    let (provider, lease) = (fixture.provider, Uuid::nil());
    let channel = Channel::Mail;
    let claim = NotificationClaim { channel, after: Some(provider), limit: 8, now, lease_until: now, lease };
    let notification = NewNotification {
        id: context.ids.next_id(),
        company_id: fixture.company,
        provider_id: provider,
        recipient: Recipient::Mail(EmailAddress::parse("a@example.com")?),
        notification: reserve_notification(fixture.company),
        created_at: now,
    };
    tx.queue_notifications(std::slice::from_ref(&notification))?;
    tx.claim_notifications(&claim)?;
    tx.settle_notification(notification.id, lease, NotificationOutcome::Released(now))?;
    tx.retry_notification(channel, notification.id)?;
    tx.claim_notifications(&claim)?;
    tx.next_notification_due(channel)?;
    Ok(())
}

fn run_changes(fixture: &LedgerFixture, ann: UserId) {
    let (context, now) = (fixture.context(), fixture.context().clock.now());
    fixture.fund_wallet(WalletType::Peer, ann, 10);
    fixture.deposit_points(10);
    fixture.send_recognition(Sender::User(ann), &[fixture.owner], 1).unwrap();
    fixture.send_recognition(Sender::Company(fixture.company), &[fixture.owner, ann], 1).unwrap();
    let rate = UpdateCompany { rate: PointsPerDollar::new(51), ..UpdateCompany::default() };
    fixture.update_company(&rate).unwrap();
    let key = IdempotencyKey { scope: Uuid::nil(), key: "k".into() };
    let settings = UpdateSaml { idp_id: Update::Set(EntityId::parse("x").unwrap()), ..UpdateSaml::default() };
    let manager = UpdateUser { manager: Some(true), ..UpdateUser::default() };
    let (provider, lease) = (fixture.provider, Uuid::nil());
    let claim = ClaimRequest { provider, limit: 8, now, lease_until: now, lease };
    let far_future = Timestamp::from_unix_micros(200_000_000_000_000_000).unwrap(); // later than every id
    let work = |tx: &mut dyn Tx| -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        tx.lock_row(LockableRow::Company(fixture.company))?;
        tx.claim_idempotency_key(&key)?;
        tx.find_idempotency_record(&key, now)?;
        saml::update(tx, fixture.provider, fixture.company, &settings, &context)?;
        users::update(tx, fixture.provider, ann, &manager, &context)?;
        occasions::delete(tx, fixture.provider, fixture.occasion, &context)?;
        for &state in EventState::ALL {
            for since in [None, Some(Timestamp::UNIX_EPOCH)] {
                tx.replay_page(
                    &ReplayQuery {
                        provider,
                        state,
                        since,
                        not_attempted_since: since,
                        after: None,
                        limit: 100,
                    },
                    now,
                )?;
            }
        }
        tx.providers_with_due_events(now)?;
        tx.next_event_due()?;
        tx.claim_events(&claim)?;
        claim_notifications(tx, fixture)?;
        let deleted = tx.prune_events(far_future, None, 500)?.0;
        let deleted =
            [deleted, tx.prune_notifications(far_future, 500)?, tx.prune_idempotency_records(now, 500)?];
        assert!(deleted.iter().all(|count| *count > 400), "{deleted:?} of 500 each");
        Ok(())
    };
    fixture.store.transaction(work).unwrap();
    fixture.delete_user(ann).unwrap();
}

/// Searches that match few of a company's users, each with the index that it must use. With the index `users_all`,
/// a search would scan all users of the company.
fn user_searches() -> [(UserQuery, &'static str); 2] {
    let (email, employee_id) = (EmailAddress::parse("ann@example.com").ok(), SingleLine::parse("E-1").ok());
    [
        (UserQuery { email, ..UserQuery::default() }, "users_email"),
        (UserQuery { employee_id, ..UserQuery::default() }, "users_employee"),
    ]
}

/// A database with all of these rows, shared by the tests of this file. `None` if this run does not cover it.
type FilledDatabase = LazyLock<Option<Mutex<LedgerFixture>>>;

static SQLITE: FilledDatabase = LazyLock::new(|| sqlite_if_covered().map(fill_database));
static POSTGRES: FilledDatabase = LazyLock::new(|| postgres_if_covered().map(fill_database));

fn fill_database(database: TestDatabase) -> Mutex<LedgerFixture> {
    recorded_statements::start_recording();
    let fixture = LedgerFixture::new(database);
    fixture.database.execute_sql(&sqlite_rows(), &postgres_rows());
    Mutex::new(fixture)
}

/// Runs a test on a filled database when no other test uses it.
fn on_filled(database: &FilledDatabase, test: impl Fn(&LedgerFixture)) {
    if let Some(fixture) = &**database {
        test(&fixture.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[test]
fn no_statement_of_a_request_reads_a_whole_table() {
    let judge = |fixture: &LedgerFixture| {
        let ann = fixture.create_user("ann");
        let nil = Uuid::nil();
        let mut sent = distinct_statements(fixture, || {
            request_like(fixture, ann, CorporationId::from_uuid(nil), OccasionId::from_uuid(nil));
        });
        let reads = sent.len();
        sent.append(&mut distinct_statements(fixture, || run_changes(fixture, ann)));
        sent.retain(|statement| {
            ["SELECT", "UPDATE", "DELETE", "INSERT"].iter().any(|verb| statement.starts_with(verb))
        });
        assert!(reads >= 25 && sent.len() >= 45, "{reads} and {} statements recorded", sent.len());
        let plans = sent.iter().map(|statement| (statement, fixture.database.query_plan(statement)));
        let full_scan_plans: Vec<String> = plans
            .filter(|(_, plan)| !full_scans(plan).is_empty())
            .map(|(statement, plan)| format!("{statement}\n{}\n", plan.join("\n")))
            .collect();
        assert!(full_scan_plans.is_empty(), "{}", full_scan_plans.join("\n"));
        for (wanted, index) in user_searches() {
            let searched = distinct_statements(fixture, || {
                fixture
                    .read_snapshot(|reads| reads.list_users(fixture.company, &wanted, third_page()).map(drop))
            });
            let of_users = searched.iter().filter(|statement| statement.contains("ORDER BY"));
            let plans: Vec<String> =
                of_users.map(|statement| fixture.database.query_plan(statement).join("\n")).collect();
            assert!(
                !plans.is_empty() && plans.iter().all(|plan| plan.contains(index)),
                "not by {index}: {plans:?}"
            );
        }
        let found_by_key = distinct_statements(fixture, || {
            let (emails, ids) =
                ([EmailAddress::parse("ann@example.com").unwrap()], [SingleLine::parse("E-1").unwrap()]);
            fixture.read_snapshot(|reads| {
                reads.find_active_users_by_keys(fixture.company, &ids, &emails).map(drop)
            });
        });
        for (column, index) in [("employee_id", "users_employee"), ("email_folded", "users_email")] {
            let condition = |statement: &&String| {
                statement.split("WHERE").nth(1).is_some_and(|clause| clause.contains(column))
            };
            let plan = fixture.database.query_plan(found_by_key.iter().find(condition).unwrap()).join("\n");
            assert!(plan.contains(index), "not by {index}: {plan}");
        }
        let whole = fixture.database.query_plan("SELECT count(*) FROM transfers WHERE amount = 7");
        assert!(!full_scans(&whole).is_empty(), "a scan must be detected: {whole:?}");
    };
    on_filled(&SQLITE, judge);
    on_filled(&POSTGRES, judge);
}

/// Queries of the console on tables that have a row per user or event.
fn read_all_pages(fixture: &LedgerFixture) {
    let state = |state| EventQuery { state: Some(state), limit: 50, ..EventQuery::default() };
    fixture.read_snapshot(|reads| -> Result<(), StoreError> {
        reads.list_company_summaries(1)?;
        reads.count_low_reserves()?;
        reads.outbox_statistics()?;
        reads.count_unsent_notifications(Channel::Mail)?;
        for provider in [None, Some(fixture.provider)] {
            reads.count_undelivered_events(provider, 10_000)?;
            for undelivered in [EventState::Pending, EventState::Exhausted, EventState::Unaddressed] {
                reads.list_events(&EventQuery { provider, ..state(undelivered) })?;
            }
        }
        reads
            .list_events(&EventQuery { provider: Some(fixture.provider), ..state(EventState::Delivered) })?;
        let one = Some(EventId::from_uuid(Uuid::nil()));
        let rare = Some(EventKind::RedemptionCreated);
        for (provider, kind) in [(None, rare), (Some(fixture.provider), None), (Some(fixture.provider), rare)]
        {
            let all = EventQuery { provider, kind, limit: 50, ..EventQuery::default() };
            reads.list_events(&all)?;
            reads.list_events(&EventQuery { before: one, ..all })?;
            reads.list_events(&EventQuery { after: one, ..all })?;
        }
        let log = AuditLogQuery { limit: 50, ..AuditLogQuery::default() };
        list_newest_entries(reads, &AuditLogQuery { action: Some(Action::Deposited), ..log })?;
        list_newest_entries(reads, &AuditLogQuery { action: Some(Action::SecretRotated), ..log })?;
        list_newest_entries(reads, &AuditLogQuery { actor: Some(Actor::Operator), ..log })?;
        list_newest_entries(reads, &AuditLogQuery { company: Some(fixture.company), ..log })?;
        let without_recognitions = AuditLogQuery { without_recognitions: true, ..log };
        list_newest_entries(reads, &without_recognitions)?;
        list_newest_entries(
            reads,
            &AuditLogQuery { company: Some(fixture.company), ..without_recognitions },
        )?;
        list_newest_entries(reads, &AuditLogQuery { actor: Some(Actor::Operator), ..without_recognitions })?;
        reads.latest_attempts_of_events(&one.map_or_else(Vec::new, |event| vec![event; 50]))?;
        reads.list_provider_attempts()?;
        reads.duration_hours(DurationSubject::Deliveries(fixture.provider), 1)?;
        reads.count_sent_notifications(Channel::Mail, 10_000)?;
        reads.last_failed_attempt(fixture.provider).map(drop)
    });
}

#[test]
fn no_console_page_scans_a_growing_table() {
    let judge = |fixture: &LedgerFixture| {
        let sent = distinct_statements(fixture, || read_all_pages(fixture));
        let tables = ["deliveries", "accounts", "journal_entries"];
        let recorded: Vec<&String> =
            sent.iter().filter(|statement| tables.iter().any(|name| statement.contains(name))).collect();
        assert!(recorded.len() >= 16, "{} statements recorded", recorded.len());
        for statement in recorded {
            let plan = fixture.database.query_plan(statement);
            let walks = |line: &&String| {
                let line = line.trim();
                let is_whole = ["SCAN a", "SCAN deliveries", "SCAN events", "SCAN journal_entries"]
                    .contains(&line)
                    || (line.starts_with("SCAN") && line.contains("USING INDEX sqlite_autoindex"));
                // Pending events are few, so all of them may be read and sorted.
                let is_of_pending_events = statement.contains("deliveries.state = 1");
                let sorts = line.contains("TEMP B-TREE FOR ORDER BY") && statement.contains("events");
                is_whole
                    || sorts && !is_of_pending_events
                    || ["accounts", "deliveries", "events", "journal_entries"]
                        .iter()
                        .any(|table| is_seq_scan_of(line, table))
                    || line.contains("Index Scan Backward using deliveries_") && line.contains("_pkey")
            };
            assert_eq!(plan.iter().find(walks), None, "{statement}\n{}", plan.join("\n"));
        }
    };
    // In the reverse order of the test above, so that both databases are filled in parallel.
    on_filled(&POSTGRES, judge);
    on_filled(&SQLITE, judge);
}

/// Tables that are small or whose rows belong to no company.
const TABLES_WITHOUT_COMPANY: &str = "'companies', 'corporations', 'distribution_steps', 'unfinished_distributions', \
    'duration_statistics', 'failed_requests', 'idempotency_records', 'latest_attempts', 'provider_statistics', 'providers', 'schema_migrations', 'seals', 'service_statistics', 'settings'";

#[test]
fn every_row_of_a_large_table_has_a_company_id() {
    for database in create_databases() {
        let without = if database.is_embedded() {
            format!(
                "sqlite_master AS t WHERE type = 'table' AND name NOT IN ({TABLES_WITHOUT_COMPANY}) AND NOT EXISTS \
                 (SELECT 1 FROM pragma_table_info(t.name) AS c WHERE c.name = 'company_id')"
            )
        } else {
            format!(
                "pg_class AS t WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND relname NOT IN \
                 ({TABLES_WITHOUT_COMPANY}) AND NOT EXISTS (SELECT FROM pg_attribute AS c WHERE c.attrelid = t.oid \
                 AND c.attname = 'company_id')"
            )
        };
        assert_eq!(database.count_rows(&without), 0, "on {}", database.url);
    }
}

/// SQLite fills a temporary table for each list of over two values in a condition of a table, at each row.
#[test]
fn no_condition_of_a_table_needs_a_temporary_table() {
    on_filled(&SQLITE, |fixture| {
        let uses_temporary_table = |statement: &str| {
            fixture.database.sqlite_opcodes(statement).iter().any(|opcode| opcode == "OpenEphemeral")
        };
        for table in LARGE_TABLES {
            assert!(!uses_temporary_table(&format!("INSERT INTO {table} DEFAULT VALUES")), "{table}");
        }
        assert!(uses_temporary_table("SELECT kind FROM accounts WHERE balance NOT IN (1, 2, 3)"));
    });
}

#[test]
fn administrators_and_given_up_mails_are_found_by_their_indexes() {
    let judge = |fixture: &LedgerFixture| {
        let administrators = distinct_statements(fixture, || {
            fixture.read_snapshot(|reads| reads.list_admin_emails(fixture.company).map(drop));
        });
        let of_users = administrators.iter().find(|statement| statement.contains("company_admin")).unwrap();
        let plan = fixture.database.query_plan(of_users).join("\n");
        assert!(plan.contains("users_admins"), "not by users_admins: {plan}");
        let given_up = NotificationQuery {
            channel: Channel::Mail,
            state: Some(NotificationState::GivenUp),
            since: None,
            limit: 50,
        };
        let listed = distinct_statements(fixture, || {
            fixture.read_snapshot(|reads| reads.list_notifications(&given_up).map(drop));
        });
        let of_state = listed.iter().find(|statement| statement.contains("state = 3")).unwrap();
        let plan = fixture.database.query_plan(of_state).join("\n");
        assert!(plan.contains("notifications_given_up"), "not by notifications_given_up: {plan}");
    };
    on_filled(&SQLITE, judge);
    on_filled(&POSTGRES, judge);
}
