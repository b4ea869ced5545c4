//! Damage to tables outside the ledger: settings, schedules, the audit log and events.

use super::assert_violations;

const UPDATE_SCHEDULES: &str = "UPDATE schedules SET";
const WHERE_ACTIVE: &str = "WHERE cancelled_at IS NULL";

#[test]
fn changed_schedules() {
    assert_violations(
        &format!("{UPDATE_SCHEDULES} points = 100000 {WHERE_ACTIVE}"),
        &["audit log", "schedule"],
    );
    assert_violations(&format!("{UPDATE_SCHEDULES} wallet = 1 {WHERE_ACTIVE}"), &["audit log", "schedule"]);
    assert_violations(&format!("{UPDATE_SCHEDULES} due_at = created_at {WHERE_ACTIVE}"), &["schedule"]);
    assert_violations(&format!("{UPDATE_SCHEDULES} next_on = '2027-01-01' {WHERE_ACTIVE}"), &["schedule"]);
    assert_violations(&format!("{UPDATE_SCHEDULES} cancelled_at = created_at"), &["schedule"]);
    assert_violations(&format!("{UPDATE_SCHEDULES} cancelled_at = NULL"), &["schedule"]);
    assert_violations("DELETE FROM schedules", &["audit log"]);
    assert_violations(
        "UPDATE journal_entries SET due_on = '2027-01-01' WHERE due_on IS NOT NULL",
        &["schedule", "seal"],
    );
}

#[test]
fn the_audit_log() {
    assert_violations("UPDATE audit_entries SET detail = 'nothing' WHERE action = 14", &["seal", "head"]);
    assert_violations("UPDATE audit_entries SET reference = 'somebody' WHERE action = 1", &["seal", "head"]);
    assert_violations("DELETE FROM audit_entries", &["seal", "head", "audit log"]);
    assert_violations("DELETE FROM audit_entries WHERE action = 14", &["seal", "head", "audit log"]);
    assert_violations(
        "UPDATE audit_entries SET state_digest = NULL WHERE action = 1",
        &["seal", "audit log"],
    );
}

#[test]
fn settings_that_only_audited_commands_and_requests_change() {
    assert_violations("UPDATE providers SET encrypted_shared_secret = api_secret_hash", &["audit log"]);
    assert_violations("UPDATE providers SET api_secret_hash = encrypted_shared_secret", &["audit log"]);
    for (secret, until) in [
        ("former_api_secret_hash", "former_api_secret_until"),
        ("former_encrypted_shared_secret", "former_shared_secret_until"),
    ] {
        // A second secret that no audit entry explains.
        let damage = format!("UPDATE providers SET {secret} = api_secret_hash, {until} = created_at");
        assert_violations(&damage, &["audit log"]);
    }
    assert_violations("UPDATE providers SET callback_url = 'https://elsewhere.example.com/'", &["audit log"]);
    assert_violations("UPDATE providers SET manages_all_domain_resources = 1 = 0", &["audit log"]);
    assert_violations("UPDATE companies SET allow_zero_points = 1 = 0", &["audit log"]);
    assert_violations("UPDATE saml_settings SET idp_id = 'https://other.example.com'", &["audit log"]);
    assert_violations("DELETE FROM saml_settings", &["audit log"]);
    assert_violations("UPDATE occasions SET default_message = 'x' WHERE company_id IS NULL", &["audit log"]);
    assert_violations("DELETE FROM occasions WHERE company_id IS NULL", &["audit log"]);
}

#[test]
fn occasions_and_users() {
    assert_violations("DELETE FROM occasions WHERE company_id IS NOT NULL", &["occasion of a recognition"]);
    assert_violations(
        "UPDATE occasions SET company_id = id WHERE company_id IS NOT NULL",
        &["occasion of a recognition"],
    );
    let undeleted = "UPDATE users SET deleted_at = NULL; UPDATE accounts SET closed_at = NULL";
    assert_violations(undeleted, &["deletion of a user"]);
    let deleted = "UPDATE users SET deleted_at = created_at WHERE first_name = 'bob'; \
                   UPDATE accounts SET closed_at = created_at WHERE owner_id = (SELECT id FROM users WHERE first_name = 'bob')";
    assert_violations(deleted, &["deletion of a user"]);
    assert_violations(
        "UPDATE accounts SET created_at = (SELECT max(created_at) FROM journal_entries)",
        &["creation of an account"],
    );
}

#[test]
fn seals_have_consistent_times_and_ranges() {
    assert_violations(
        "UPDATE seals SET journal_before = journal_before + 1000000 WHERE sequence = (SELECT max(sequence) FROM seals)",
        &["seal"],
    );
    assert_violations("UPDATE seals SET audit_before = audit_before + 1000000", &["seal"]);
    assert_violations(
        "UPDATE seals SET created_at = (SELECT min(created_at) FROM journal_entries)",
        &["seal"],
    );
    assert_violations("UPDATE seals SET events_digest = head", &["seal"]);
}

#[test]
fn changed_event_bodies() {
    let replaced = |from: &str, to: &str| {
        let text = format!("replace(CAST(body AS TEXT), '{from}', '{to}')");
        (
            format!("UPDATE events SET body = CAST({text} AS BLOB) WHERE kind = 3"),
            format!(
                "UPDATE events SET body = convert_to(replace(convert_from(body, 'UTF8'), '{from}', '{to}'), 'UTF8') \
                 WHERE kind = 3"
            ),
        )
    };
    let (sqlite, postgres) = replaced(" 4", " 400");
    super::assert_violations_of_each(&sqlite, &postgres, &["event's body", "sealed events"]);
    super::assert_violations_of_each(
        "UPDATE events SET body = x'7b7d'",
        "UPDATE events SET body = '{}'",
        &["event's body", "sealed events"],
    );
    super::assert_violations_of_each(
        "UPDATE events SET original_digest = zeroblob(32)",
        "UPDATE events SET original_digest = decode(repeat('00', 32), 'hex')",
        &["erased event", "sealed events"],
    );
    assert_violations(
        "UPDATE events SET created_at = (SELECT max(created_at) FROM journal_entries) WHERE kind = 3",
        &["events of a journal entry"],
    );
    assert_violations(
        "UPDATE deliveries SET state = 2, next_attempt_at = NULL",
        &["delivered by an attempt"],
    );
    super::assert_violations_of_each(
        "UPDATE deliveries SET next_attempt_at = next_attempt_at + 400000000000",
        "UPDATE deliveries SET next_attempt_at = next_attempt_at + interval '5 days'",
        &["next attempt of a delivery"],
    );
    assert_violations(
        "INSERT INTO settings VALUES ('events_pruned_before', '9000000000000000')",
        &["pruning"],
    );
}
