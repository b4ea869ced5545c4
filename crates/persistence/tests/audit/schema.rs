//! Damage to the safeguards in the schema.

use guerdon_persistence::testing::each;

use crate::support::World;

fn check(sqlite: &str, postgres: &str, told: &str) {
    for database in each() {
        let world = World::new(database);
        world.database.tamper(sqlite, postgres);
        let found = world.audit();
        assert!(
            found.iter().any(|violation| violation.invariant == "schema" && violation.detail.contains(told)),
            "{told} not in {found:?}"
        );
    }
}

#[test]
fn missing_or_weakened_schema_guards_are_found() {
    check(
        "DROP TRIGGER transfers_reject_deletes",
        "DROP TRIGGER transfers_immutable ON transfers",
        "transfers_immutable",
    );
    check(
        "DROP INDEX journal_entries_once",
        "DROP INDEX journal_entries_once",
        "journal_entries_once is missing",
    );
    let needed = "DROP INDEX transfers_debit"; // verify itself uses this index
    check(needed, needed, "transfers_debit is missing");
    check(
        "CREATE TRIGGER pump AFTER INSERT ON journal_entries BEGIN SELECT 1; END",
        "CREATE TRIGGER pump AFTER INSERT ON journal_entries FOR EACH ROW EXECUTE FUNCTION refuse_change()",
        "pump was added",
    );
    let loosened = "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = \
                    replace(sql, 'kind >= 6 OR balance >= 0', 'kind >= 1 OR balance >= 0') WHERE name = 'accounts';";
    check(loosened, "ALTER TABLE accounts DROP CONSTRAINT never_negative", "accounts");
}

#[test]
fn disabled_or_emptied_postgres_guards_are_found() {
    for database in each().into_iter().filter(|database| !database.is_embedded()) {
        let world = World::new(database);
        for (damage, mend, told) in [
            (
                "ALTER TABLE transfers DISABLE TRIGGER transfers_immutable",
                "ALTER TABLE transfers ENABLE TRIGGER transfers_immutable",
                "transfers_immutable is not as it was made",
            ),
            (
                "ALTER FUNCTION refuse_change() RENAME TO kept; CREATE FUNCTION refuse_change() RETURNS trigger \
                 LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
                "DROP FUNCTION refuse_change(); ALTER FUNCTION kept() RENAME TO refuse_change",
                "refuse_change is not as it was made",
            ),
        ] {
            world.database.tamper("", damage);
            let found = world.audit();
            assert!(found.iter().any(|violation| violation.detail.contains(told)), "{told} not in {found:?}");
            world.database.tamper("", mend);
            assert_eq!(world.audit(), []);
        }
    }
}
