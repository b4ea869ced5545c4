//! Damage in which all dependent rows were adjusted, so that only the hash chain of seals reveals it.

use guerdon_persistence::testing::create_databases;

use super::{assert_violations, create_sealed_ledger, drop_safeguards};

/// Removes the second redemption, of two points, and all of its traces.
const REDEMPTION_REMOVED: &str = "
    DELETE FROM deliveries WHERE event_id = (SELECT id FROM journal_entries WHERE kind = 8 AND points = 2);
    DELETE FROM events WHERE id = (SELECT id FROM journal_entries WHERE kind = 8 AND points = 2);
    UPDATE accounts SET balance = balance - t.amount, entry_count = entry_count - 1
      FROM transfers AS t JOIN journal_entries AS j ON j.id = t.journal_entry_id
      WHERE j.kind = 8 AND j.points = 2 AND kind_and_owner_of_credit;
    UPDATE accounts SET balance = balance + t.amount, entry_count = entry_count - 1, spent = spent - t.amount
      FROM transfers AS t JOIN journal_entries AS j ON j.id = t.journal_entry_id
      WHERE j.kind = 8 AND j.points = 2 AND kind_and_owner_of_debit;
    UPDATE transfers SET debit_sequence = debit_sequence - 1 WHERE reason = 5;
    UPDATE transfers SET credit_sequence = credit_sequence - 1 WHERE reason = 5;
    DELETE FROM transfers WHERE journal_entry_id = (SELECT id FROM journal_entries WHERE kind = 8 AND points = 2);
    DELETE FROM journal_entries WHERE kind = 8 AND points = 2;
";

fn redemption_removed() -> String {
    REDEMPTION_REMOVED
        .replace(
            "kind_and_owner_of_credit",
            "accounts.owner_id = t.credit_owner AND accounts.kind = t.credit_kind",
        )
        .replace(
            "kind_and_owner_of_debit",
            "accounts.owner_id = t.debit_owner AND accounts.kind = t.debit_kind",
        )
}

#[test]
fn consistent_changes_and_removals_break_the_seal() {
    let reference = "UPDATE journal_entries SET reference = 'somebody else' WHERE kind = 6";
    let key = "UPDATE journal_entries SET idempotency_key = 'k' WHERE kind = 6";
    let provider = "UPDATE journal_entries SET actor = 1 WHERE kind = 8";
    let date = "UPDATE journal_entries SET subject_id = company_id, due_on = '2026-01-31' WHERE kind = 7 AND points = 5";
    let message = "UPDATE journal_entries SET message = 'Never mind' WHERE kind = 4 AND points = 1";
    // A recognition of zero points has no transfer that could contradict it.
    let receiver = "UPDATE recognitions SET receiver_id = \
        (SELECT id FROM users WHERE id NOT IN (r.sender_id, r.receiver_id) AND email LIKE 'gone%') \
        FROM recognitions AS r WHERE r.id = recognitions.id \
        AND recognitions.journal_entry_id = (SELECT id FROM journal_entries WHERE kind = 4 AND points = 0)";
    for damage in [reference, key, provider, date, message, receiver, &redemption_removed()] {
        assert_violations(damage, &["seal", "head"]);
    }
    assert_violations(
        "UPDATE seals SET head = (SELECT head FROM seals WHERE sequence = 1) WHERE sequence = 2",
        &["seal"],
    );
    assert_violations("DELETE FROM seals WHERE sequence = 2", &["seal"]);
    assert_violations("UPDATE seals SET journal_entries = journal_entries + 1 WHERE sequence = 2", &["seal"]);
}

#[test]
fn new_seals_hide_consistent_damage_without_a_known_head() {
    for damage in
        [redemption_removed(), "UPDATE journal_entries SET reference = 'x' WHERE kind = 6".to_owned()]
    {
        for database in create_databases() {
            let (fixture, head) = create_sealed_ledger(database);
            drop_safeguards(&fixture.database);
            fixture.database.execute_sql(&damage, &damage);
            let of_the_ledger = |head| {
                let found = fixture.audit_with(head);
                found.into_iter().map(|violation| violation.invariant).collect::<Vec<_>>()
            };
            assert_eq!(of_the_ledger(None), ["seal"], "{damage}");
            let forged = "DELETE FROM seals";
            fixture.database.execute_sql(forged, forged);
            assert_eq!(of_the_ledger(None), Vec::<&str>::new(), "deleting all seals hides the damage");
            let new = fixture.seal_all();
            assert_eq!(of_the_ledger(None), Vec::<&str>::new(), "new seals are valid");
            assert_eq!(of_the_ledger(Some(new)), Vec::<&str>::new());
            assert_eq!(of_the_ledger(Some(head)), ["head"], "but their head differs");
        }
    }
}

#[test]
fn a_known_head_is_found_after_later_seals() {
    for database in create_databases() {
        let (fixture, head) = create_sealed_ledger(database);
        for _ in 0..5 {
            fixture.deposit_points(1);
            fixture.seal_all();
        }
        assert_eq!(fixture.audit_with(Some(head)), []);
        let mut other = head;
        other[0] ^= 1;
        let found: Vec<&str> =
            fixture.audit_with(Some(other)).iter().map(|violation| violation.invariant).collect();
        assert_eq!(found, ["head"]);
    }
}

#[test]
fn recorded_pruning_explains_missing_delivered_events() {
    for database in create_databases() {
        let (fixture, _) = create_sealed_ledger(database);
        let deliver = "UPDATE deliveries SET state = 2, next_attempt_at = NULL \
                       WHERE event_id IN (SELECT id FROM events WHERE kind = 1)";
        fixture.database.execute_sql(deliver, deliver);
        let prune = "DELETE FROM events WHERE kind = 1; \
                     DELETE FROM deliveries WHERE event_id NOT IN (SELECT id FROM events)";
        fixture.database.execute_sql(prune, prune);
        assert!(
            fixture.audit_ledger().iter().all(|violation| violation.invariant == "events of a journal entry"),
            "{:?}",
            fixture.audit_ledger()
        );
        assert!(!fixture.audit_ledger().is_empty());
        let now = fixture.context().clock.now().unix_micros();
        let note = format!("INSERT INTO settings VALUES ('events_pruned_before', '{now}')");
        fixture.database.execute_sql(&note, &note);
        assert_eq!(fixture.audit_ledger(), []);
    }
}
