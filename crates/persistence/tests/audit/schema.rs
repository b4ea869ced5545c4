//! Damage to the safeguards in the schema.

use std::num::NonZero;

use guerdon_domain::audit::{Violation, verify};
use guerdon_domain::ports::Clock as _;
use guerdon_persistence::testing::{create_databases, postgres_if_covered};

use crate::support::{LedgerFixture, audit_options};

/// The violations in the schema and in all rows.
fn verify_all(fixture: &LedgerFixture) -> Vec<Violation> {
    let options = audit_options(None, fixture.clock.now());
    verify(fixture.store.as_ref(), &options, NonZero::<usize>::MIN).unwrap().violations
}

fn assert_schema_difference(sqlite: &str, postgres: &str, expected: &str) {
    for database in create_databases() {
        let fixture = LedgerFixture::new(database);
        fixture.database.execute_sql(sqlite, postgres);
        let found = verify_all(&fixture);
        assert!(
            found
                .iter()
                .any(|violation| violation.invariant == "schema" && violation.detail.contains(expected)),
            "{expected} not in {found:?}"
        );
    }
}

#[test]
fn missing_or_weakened_schema_guards_are_found() {
    assert_schema_difference(
        "DROP TRIGGER transfers_reject_deletes",
        "DROP TRIGGER transfers_immutable ON transfers",
        "transfers_",
    );
    assert_schema_difference(
        "DROP INDEX journal_entries_unique_subject",
        "DROP INDEX journal_entries_unique_subject",
        "journal_entries_unique_subject is missing",
    );
    let needed = "DROP INDEX transfers_debit"; // verify itself uses this index
    assert_schema_difference(needed, needed, "transfers_debit is missing");
    assert_schema_difference(
        "CREATE TRIGGER pump AFTER INSERT ON journal_entries BEGIN SELECT 1; END",
        "CREATE TRIGGER pump AFTER INSERT ON journal_entries FOR EACH ROW EXECUTE FUNCTION refuse_change()",
        "pump was added",
    );
    let loosened = "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = \
                    replace(sql, 'kind >= 6 OR balance >= 0', 'kind >= 1 OR balance >= 0') WHERE name = 'accounts';";
    assert_schema_difference(
        loosened,
        "ALTER TABLE accounts DROP CONSTRAINT balance_is_not_negative",
        "accounts",
    );
}

#[test]
fn disabled_or_emptied_postgres_guards_are_found() {
    if let Some(database) = postgres_if_covered() {
        let fixture = LedgerFixture::new(database);
        for (damage, repair, expected) in [
            (
                "ALTER TABLE transfers DISABLE TRIGGER transfers_immutable",
                "ALTER TABLE transfers ENABLE TRIGGER transfers_immutable",
                "transfers_immutable was changed",
            ),
            (
                "ALTER FUNCTION refuse_change() RENAME TO kept; CREATE FUNCTION refuse_change() RETURNS trigger \
                 LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
                "DROP FUNCTION refuse_change(); ALTER FUNCTION kept() RENAME TO refuse_change",
                "refuse_change was changed",
            ),
        ] {
            fixture.database.execute_sql("", damage);
            let found = verify_all(&fixture);
            assert!(
                found.iter().any(|violation| violation.detail.contains(expected)),
                "{expected} not in {found:?}"
            );
            fixture.database.execute_sql("", repair);
            assert_eq!(verify_all(&fixture), []);
        }
    }
}
