//! PostgreSQL with all tables in a schema that the URL selects, and without a schema `public`.

use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, PgConnection};
use guerdon_domain::ports::{ClaimRequest, StoreExt as _};
use guerdon_domain::recognitions::Sender;
use guerdon_domain::wallets::WalletType;
use guerdon_persistence::testing::{TestDatabase, postgres_if_covered};
use guerdon_persistence::{Access, DatabaseUrl, OpenError, migrate, open};
use uuid::Uuid;

use crate::support::LedgerFixture;

/// An empty database whose URL selects a schema of this name, its only schema.
fn in_schema(mut database: TestDatabase, schema: &str) -> TestDatabase {
    database.execute_sql("", &format!("DROP SCHEMA public CASCADE; CREATE SCHEMA {schema}"));
    let option = schema.replace('"', "%22");
    database.url = format!("{}&options=-csearch_path%3D{option}", database.url);
    database
}

fn on_postgres(test: impl Fn(TestDatabase)) {
    postgres_if_covered().into_iter().for_each(test);
}

/// A session whose `search_path` does not include guerdon's schema.
fn connect_elsewhere(fixture: &LedgerFixture) -> PgConnection {
    let DatabaseUrl::Postgres(url) = fixture.database.database_url() else { unreachable!() };
    let mut conn = PgConnection::establish(&url).unwrap();
    conn.batch_execute("SET search_path = pg_catalog").unwrap();
    conn
}

#[test]
fn everything_works_in_a_schema_that_the_url_names() {
    for schema in ["cell_7", "\"Cell-7.x\""] {
        on_postgres(|database| {
            let database = in_schema(database, schema);
            assert_eq!(migrate(&database.database_url()).unwrap().len(), 1);
            let fixture = LedgerFixture::new(database);
            let (ann, bob) = (fixture.create_user("ann"), fixture.create_user("bob"));
            fixture.fund_wallet(WalletType::Peer, ann, 10);
            fixture.send_recognition(Sender::User(ann), &[fixture.owner, bob], 2).unwrap();
            fixture.redeem_points(bob, 1).unwrap();
            fixture.delete_user(bob).unwrap();
            let now = fixture.context().clock.now();
            let claim = ClaimRequest {
                provider: fixture.provider,
                limit: 8,
                now,
                lease_until: now,
                lease: Uuid::nil(),
            };
            let claimed = fixture.background.transaction(|tx| tx.claim_events(&claim)).unwrap().unwrap();
            assert_eq!(claimed.events.len(), 3);
            let head = fixture.seal_all();
            assert_eq!(fixture.audit_with(Some(head)), []);
            assert_eq!(fixture.store.check_schema().unwrap(), Vec::<String>::new());
        });
    }
}

#[test]
fn triggers_find_their_tables_from_a_session_with_another_search_path() {
    on_postgres(|database| {
        let database = in_schema(database, "cell_7");
        migrate(&database.database_url()).unwrap();
        let fixture = LedgerFixture::new(database);
        let ann = fixture.create_user("ann");
        fixture.deposit_points(10);
        fixture.send_recognition(Sender::Company(fixture.company), &[ann], 1).unwrap();
        let mut conn = connect_elsewhere(&fixture);
        let refused = conn.batch_execute("DELETE FROM cell_7.events").unwrap_err().to_string();
        assert!(refused.contains("only delivered events may be deleted"), "{refused}");
        let refused = conn.batch_execute("DELETE FROM cell_7.journal_entries").unwrap_err().to_string();
        assert!(refused.contains("rows of journal_entries are immutable"), "{refused}");
        let count = || fixture.read_snapshot(|reads| reads.count_active_users(fixture.company));
        assert_eq!(count(), 2);
        let delete = format!("UPDATE cell_7.users SET deleted_at = now() WHERE id = '{ann}'");
        conn.batch_execute(&delete).unwrap();
        assert_eq!(count(), 1);
        let add = "INSERT INTO cell_7.users (id, company_id, email, email_folded, first_name, manager, company_admin, \
                   corporation_admin, created_at, updated_at) SELECT gen_random_uuid(), company_id, 'x', 'x', 'X', \
                   false, false, false, now(), now() FROM cell_7.users WHERE deleted_at IS NOT NULL";
        conn.batch_execute(add).unwrap();
        assert_eq!(count(), 2);
    });
}

#[test]
fn every_function_that_uses_objects_of_a_schema_is_bound_to_it() {
    on_postgres(|database| {
        let functions = "pg_proc WHERE pronamespace = 'public'::regnamespace";
        assert_eq!(database.count_rows(functions), 9);
        // In functions with a standard SQL body, names are resolved when the function is created.
        let bound = "(prosqlbody IS NOT NULL OR proconfig = '{\"search_path=public, pg_temp\"}')";
        // These functions call only built-in functions.
        let rules = "proname IN ('journal_entry_is_valid', 'transfer_is_valid')";
        assert_eq!(database.count_rows(&format!("{functions} AND NOT {bound} AND NOT {rules}")), 0);
    });
}

#[test]
fn schema_changes_are_found_in_any_schema() {
    on_postgres(|database| {
        let database = in_schema(database, "cell_7");
        migrate(&database.database_url()).unwrap();
        let differences = |change: &str| {
            database.execute_sql("", change);
            database.open_store().check_schema().unwrap()
        };
        let found = differences("ALTER FUNCTION count_new_user() RESET search_path");
        assert!(
            matches!(found.as_slice(), [one] if one.starts_with("function count_new_user was changed")),
            "{found:?}"
        );
        let found = differences(
            "ALTER FUNCTION count_new_user() SET search_path = cell_7, pg_temp; \
             ALTER TABLE cell_7.notifications ADD COLUMN n integer; DROP INDEX cell_7.notifications_due",
        );
        assert_eq!(found, ["index notifications_due is missing"]);
    });
}

#[test]
fn a_url_without_an_existing_schema_is_refused() {
    on_postgres(|database| {
        let mut database = in_schema(database, "cell_7");
        database.url = database.url.replace("cell_7", "cell_8");
        let refused = migrate(&database.database_url()).unwrap_err().to_string();
        assert!(refused.contains("search_path exists"), "{refused}");
        assert!(matches!(
            open(&database.database_url(), Access::ServeWithoutDurability).map(drop),
            Err(OpenError::Missing(_))
        ));
    });
}
