//! Damage to one row that contradicts another row.

use guerdon_persistence::testing::sqlite_if_covered;

use super::{assert_violations, create_sealed_ledger};

#[test]
fn changed_accounts() {
    assert_violations(
        "UPDATE accounts SET balance = balance + 1 WHERE kind = 1",
        &["balance", "conservation"],
    );
    assert_violations(
        "UPDATE accounts SET balance = balance + CASE kind WHEN 4 THEN 5 ELSE -5 END WHERE kind IN (4, 6)",
        &["balance"],
    );
    assert_violations("UPDATE accounts SET balance = -1 WHERE kind = 2", &["balance", "conservation"]);
    assert_violations("UPDATE accounts SET spent = spent + 1 WHERE kind = 2", &["spent"]);
    assert_violations("UPDATE accounts SET entry_count = entry_count + 1 WHERE kind = 4", &["entry count"]);
    assert_violations(
        "UPDATE accounts SET closed_at = NULL WHERE closed_at IS NOT NULL",
        &["wallets of a deleted user"],
    );
    assert_violations(
        "UPDATE accounts SET balance = 9 WHERE closed_at IS NOT NULL AND kind = 1",
        &["balance of a closed account"],
    );
    assert_violations("UPDATE accounts SET alert_below = 7 WHERE kind = 4", &["reserve alert"]);
    assert_violations("UPDATE accounts SET company_id = owner_id WHERE kind = 1", &["owner of an account"]);
}

#[test]
fn missing_and_unexpected_accounts() {
    assert_violations(
        "DELETE FROM accounts WHERE kind = 2 AND entry_count > 0",
        &["transfer's account", "peer wallet"],
    );
    assert_violations("DELETE FROM accounts WHERE kind = 8", &["company accounts"]);
    assert_violations("DELETE FROM accounts WHERE kind = 2 AND entry_count = 0", &["peer wallet"]);
    assert_violations("DELETE FROM users WHERE first_name = 'ann'", &["owner of an account"]);
    assert_violations("DELETE FROM companies", &["owner of an account", "company's journal entries"]);
    assert_violations("UPDATE active_users SET number = number + 1", &["active users"]);
    assert_violations("DELETE FROM active_users", &["active users"]);
    assert_violations("UPDATE users SET manager = 1 = 1 WHERE first_name = 'ann'", &["manager wallet"]);
}

#[test]
fn changed_transfers() {
    assert_violations(
        "UPDATE transfers SET amount = amount + 7 WHERE reason = 1 AND leg = 1",
        &["price", "balance"],
    );
    assert_violations("UPDATE transfers SET points = points + 1 WHERE reason = 1", &["price"]);
    assert_violations("UPDATE transfers SET points = 9000000000000000000 WHERE reason = 7", &["price"]);
    assert_violations(
        "UPDATE transfers SET amount = 9000000000000000000 WHERE reason = 7",
        &["price", "balance"],
    );
    assert_violations(
        "UPDATE transfers SET points_per_dollar = 8 WHERE reason = 1",
        &["transfer's journal entry"],
    );
    assert_violations(
        "UPDATE transfers SET created_at = (SELECT max(created_at) FROM journal_entries) WHERE reason = 1",
        &["transfer's journal entry"],
    );
    assert_violations("UPDATE transfers SET reason = 6 WHERE reason = 7", &["transfer's reason"]);
    assert_violations("UPDATE transfers SET reason = 2 WHERE reason = 1", &["transfer's reason"]);
    assert_violations("UPDATE transfers SET credit_kind = 3 WHERE reason = 1", &["transfer's parties"]);
    assert_violations("UPDATE transfers SET debit_kind = 3 WHERE reason = 3", &["transfer's parties"]);
    assert_violations(
        "UPDATE transfers SET credit_owner = (SELECT id FROM users WHERE first_name = 'gone') WHERE reason = 5",
        &["transfer's parties"],
    );
    assert_violations(
        "UPDATE transfers SET company_id = journal_entry_id WHERE reason = 1",
        &["transfer's journal entry"],
    );
    assert_violations("UPDATE transfers SET leg = 5 WHERE leg = 2", &["transfer's leg"]);
    assert_violations(
        "UPDATE transfers SET debit_sequence = debit_sequence + 100 WHERE reason = 1",
        &["entry sequence"],
    );
    assert_violations("UPDATE transfers SET amount = amount + 1 WHERE reason = 6", &["balance"]);
}

#[test]
fn missing_and_unexpected_transfers() {
    assert_violations(
        "DELETE FROM transfers WHERE reason = 1 AND leg = 2",
        &["transfers of a journal entry", "entry sequence"],
    );
    assert_violations("DELETE FROM transfers WHERE reason = 8", &["entry sequence"]);
    assert_violations("DELETE FROM transfers WHERE reason = 5", &["transfers of a journal entry"]);
    assert_violations(
        "UPDATE transfers SET journal_entry_id = company_id WHERE reason = 4",
        &["transfer's journal entry"],
    );
    assert_violations(
        "UPDATE transfers SET reason = 8, leg = 0, points = 0, debit_kind = 8 WHERE reason = 3 AND points = 5",
        &["rounding"],
    );
    assert_violations("UPDATE transfers SET amount = 10000000 WHERE reason = 8", &["rounding"]);
}

#[test]
fn changed_journal_entries() {
    assert_violations("UPDATE journal_entries SET points = points + 1 WHERE kind = 4", &["price"]);
    assert_violations(
        "UPDATE journal_entries SET legs = legs + 1 WHERE kind = 4",
        &["recognitions of a journal entry"],
    );
    assert_violations(
        "UPDATE journal_entries SET kind = 6, subject_id = NULL WHERE kind = 8",
        &["transfer's reason"],
    );
    assert_violations("UPDATE journal_entries SET kind = 77 WHERE kind = 8", &["journal entry"]);
    assert_violations("UPDATE journal_entries SET message = NULL WHERE kind = 4", &["journal entry"]);
    assert_violations(
        "UPDATE journal_entries SET points_per_dollar = 9 WHERE kind = 2",
        &["company's journal entries"],
    );
    assert_violations(
        "UPDATE journal_entries SET subject_id = (SELECT id FROM users WHERE first_name = 'bob') WHERE kind = 10",
        &["transfer's parties"],
    );
    assert_violations("UPDATE journal_entries SET points = points + 2 WHERE kind = 10", &["override"]);
    assert_violations("UPDATE companies SET points_per_dollar = 50", &["company's journal entries"]);
}

#[test]
fn missing_journal_entries() {
    assert_violations("DELETE FROM journal_entries WHERE kind = 7", &["transfer's journal entry"]);
    assert_violations(
        "DELETE FROM journal_entries WHERE kind = 4",
        &["recognition's journal entry", "event's journal entry"],
    );
    assert_violations("DELETE FROM journal_entries WHERE kind = 5", &["amendment", "event's journal entry"]);
    assert_violations("DELETE FROM journal_entries WHERE kind = 2", &["company's journal entries"]);
}

#[test]
fn changed_or_missing_recognitions() {
    assert_violations(
        "DELETE FROM recognitions WHERE leg = 2",
        &["recognitions of a journal entry", "event's journal entry"],
    );
    assert_violations("UPDATE recognitions SET share = 1 = 0 WHERE leg = 2", &["amendment"]);
    assert_violations("UPDATE recognitions SET message = 'forged' WHERE leg = 2", &["amendment"]);
    assert_violations("UPDATE recognitions SET message = 'forged' WHERE message IS NOT NULL", &["amendment"]);
    assert_violations("UPDATE recognitions SET message = NULL", &["amendment"]);
    assert_violations("UPDATE journal_entries SET subject_id = company_id WHERE kind = 5", &["amendment"]);
    assert_violations(
        "UPDATE recognitions SET receiver_id = (SELECT id FROM users WHERE first_name = 'gone') WHERE leg = 2",
        &["transfer's parties"],
    );
    assert_violations(
        "UPDATE recognitions SET sender_id = company_id WHERE leg = 2",
        &["recognition's journal entry"],
    );
    assert_violations(
        "UPDATE recognitions SET journal_entry_id = company_id WHERE leg = 2",
        &["recognition's journal entry"],
    );
}

#[test]
fn events_and_deliveries() {
    assert_violations(
        "DELETE FROM events WHERE kind = 1",
        &["events of a journal entry", "delivery of an event"],
    );
    assert_violations(
        "UPDATE events SET provider_id = company_id WHERE kind = 3",
        &["events of a journal entry"],
    );
    assert_violations("UPDATE events SET kind = 2 WHERE kind = 3", &["events of a journal entry"]);
    assert_violations(
        "UPDATE events SET id = company_id WHERE kind = 2",
        &["events of a journal entry", "event's journal entry"],
    );
    assert_violations("DELETE FROM deliveries", &["delivery of an event"]);
    assert_violations("UPDATE deliveries SET next_attempt_at = NULL", &["state of a delivery"]);
    assert_violations(
        "UPDATE deliveries SET state = 2, next_attempt_at = NULL, lease_id = event_id",
        &["state of a delivery"],
    );
    assert_violations("UPDATE deliveries SET attempts = 3", &["attempts"]);
}

#[test]
fn changed_or_missing_users() {
    assert_violations("UPDATE users SET company_admin = 1 = 0 WHERE email LIKE 'owner@%'", &["owner"]);
    assert_violations(
        "UPDATE users SET corporation_admin = company_admin WHERE company_admin",
        &["corporation admin"],
    );
}

#[test]
fn unreadable_rows_are_reported_together_with_other_violations() {
    let Some(database) = sqlite_if_covered() else { return };
    let (fixture, _) = create_sealed_ledger(database);
    super::drop_safeguards(&fixture.database);
    let damage = "PRAGMA ignore_check_constraints = ON; \
                  UPDATE transfers SET journal_entry_id = CAST(journal_entry_id || x'00' AS BLOB) WHERE reason = 7; \
                  UPDATE accounts SET balance = balance + 1 WHERE kind = 4";
    fixture.database.execute_sql(damage, "");
    let found = fixture.audit_ledger();
    for invariant in ["unreadable", "conservation"] {
        assert!(
            found.iter().any(|violation| violation.invariant == invariant),
            "{invariant} not in {found:#?}"
        );
    }
}

/// An index that has silently lost all of its entries.
#[test]
fn an_index_that_differs_from_its_table() {
    for (index, table, columns, expected) in [
        ("transfers_debit", "transfers", "debit_owner, debit_kind, debit_sequence", "entry count"),
        ("transfers_credit", "transfers", "credit_owner, credit_kind, credit_sequence", "entry count"),
        ("recognitions_receiver", "recognitions", "receiver_id, created_at, id", "storage"),
        ("users_active", "users", "company_id, created_at, id", "storage"),
    ] {
        let Some(database) = sqlite_if_covered() else { return };
        let (fixture, _) = create_sealed_ledger(database);
        let but = if table == "users" { "deleted_at IS NULL AND 0" } else { "0" };
        let unique = if table == "transfers" { "UNIQUE" } else { "" };
        let emptied = format!(
            "CREATE TABLE kept AS SELECT sql FROM sqlite_schema WHERE name = '{index}'; DROP INDEX {index}; \
             CREATE {unique} INDEX {index} ON {table} ({columns}) WHERE {but}; PRAGMA writable_schema = ON; \
             UPDATE sqlite_schema SET sql = (SELECT sql FROM kept) WHERE name = '{index}'; \
             PRAGMA writable_schema = RESET; DROP TABLE kept"
        );
        fixture.database.execute_sql(&emptied, "");
        let found = fixture.audit_ledger();
        assert!(found.iter().any(|violation| violation.invariant == expected), "{index}: {found:#?}");
    }
}
