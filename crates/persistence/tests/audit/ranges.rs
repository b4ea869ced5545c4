//! Audits of tables with more rows than one range of ids has.

use guerdon_domain::audit::{AuditOptions, AuditPart};
use guerdon_domain::ports::Clock as _;
use guerdon_persistence::testing::{create_databases, postgres_if_covered};

use super::ShortestSnapshots;
use crate::support::recorded_statements::{record_statements, start_recording};
use crate::support::{LedgerFixture, audit_options};

/// Deliveries without events that count more attempts than are stored, none of them successful.
const DELIVERIES: &str = "
    INSERT INTO deliveries (event_id, company_id, provider_id, state, attempts, attempts_before_replay)
      SELECT id, id, id, 2, 2, 0 FROM
      (SELECT lpad(to_hex(i), 32, '0')::uuid AS id FROM generate_series(1, 25000) AS i) AS ids;
    INSERT INTO attempts (event_id, id, company_id, number, started_at, duration_micros, status, response)
      SELECT event_id, event_id, company_id, 1, now(), 1, 500, '' FROM deliveries ON CONFLICT DO NOTHING;
";
const DELIVERIES_ON_SQLITE: &str = "
    WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 25000)
    INSERT INTO deliveries (event_id, company_id, provider_id, state, attempts, attempts_before_replay)
      SELECT id, id, id, 2, 2, 0 FROM (SELECT unhex(printf('%032x', i)) AS id FROM numbers);
    INSERT INTO attempts (event_id, id, company_id, number, started_at, duration_micros, status, response)
      SELECT event_id, event_id, company_id, 1, 0, 1, 500, x'' FROM deliveries;
";

#[test]
fn rows_of_every_range_are_checked_once() {
    for database in create_databases() {
        let fixture = LedgerFixture::new(database);
        fixture.database.execute_sql(DELIVERIES_ON_SQLITE, DELIVERIES);
        let options = AuditOptions { pacer: &ShortestSnapshots, ..audit_options(None, fixture.clock.now()) };
        let findings = fixture.store.audit_part(AuditPart::Tables, &options).unwrap();
        let violations = findings.into_violations();
        for invariant in ["delivery of an event", "attempts", "delivered by an attempt"] {
            let last = violations.iter().rfind(|violation| violation.invariant == invariant).unwrap();
            assert_eq!(last.detail, "and 24900 more", "{invariant}");
        }
    }
}

#[test]
fn rows_that_are_missing_in_the_statistics_are_read_through_indexes() {
    let Some(database) = postgres_if_covered() else { return };
    start_recording();
    let fixture = LedgerFixture::new(database);
    // As in a growing table, all later ranges are beyond the statistics.
    let analyzed = DELIVERIES.replace("25000", "100") + "ANALYZE;";
    fixture.database.execute_sql("", &analyzed);
    fixture.database.execute_sql("", &DELIVERIES.replace("series(1,", "series(101,"));
    let options = audit_options(None, fixture.clock.now());
    let statements = record_statements(&fixture.database, || {
        fixture.store.audit_part(AuditPart::Tables, &options).map(drop).unwrap();
    });
    // The plan is read in another session, to which the settings of the audit must apply as well.
    for method in ["seqscan", "hashjoin", "mergejoin", "material"] {
        let for_all_sessions = format!(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET enable_{method} = off', current_database()); END $$"
        );
        fixture.database.execute_sql("", &for_all_sessions);
    }
    let of_attempts = statements.iter().filter(|statement| statement.contains("no attempt has status 200"));
    let plans = of_attempts.map(|statement| fixture.database.query_plan(statement).join("\n"));
    let plans: Vec<String> = plans.collect();
    assert_eq!(plans.len(), 6, "the violations and their number, in each of three ranges");
    for plan in plans {
        assert!(!plan.contains("Seq Scan") && !plan.contains("Join Filter"), "{plan}");
    }
}
