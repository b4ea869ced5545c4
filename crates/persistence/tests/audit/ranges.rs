//! Audits of tables with more rows than one range of ids has.

use guerdon_domain::audit::{AuditOptions, AuditPart};
use guerdon_domain::ports::Clock as _;
use guerdon_persistence::testing::{covers_postgres, create_databases, create_postgres};

use super::ShortestSnapshots;
use crate::support::recorded_statements::{record_statements, start_recording};
use crate::support::{LedgerFixture, audit_options};

/// Deliveries without events, in tables that PostgreSQL has not analyzed yet. None of the deliveries has an attempt.
const DELIVERIES: &str = "
    INSERT INTO deliveries (event_id, company_id, provider_id, state, attempts, attempts_before_replay)
      SELECT id, id, id, 2, 1, 0 FROM
      (SELECT lpad(to_hex(i), 32, '0')::uuid AS id FROM generate_series(1, 25000) AS i) AS ids;
";
const DELIVERIES_ON_SQLITE: &str = "
    WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 25000)
    INSERT INTO deliveries (event_id, company_id, provider_id, state, attempts, attempts_before_replay)
      SELECT id, id, id, 2, 1, 0 FROM (SELECT unhex(printf('%032x', i)) AS id FROM numbers);
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
fn tables_without_statistics_are_read_through_indexes() {
    if !covers_postgres() {
        return;
    }
    start_recording();
    let fixture = LedgerFixture::new(create_postgres());
    fixture.database.execute_sql("", DELIVERIES);
    let options = audit_options(None, fixture.clock.now());
    let statements = record_statements(&fixture.database, || {
        fixture.store.audit_part(AuditPart::Tables, &options).map(drop).unwrap();
    });
    // The plan is read in another session, to which the preference of the audit must apply as well.
    let for_all_sessions = "DO $$ BEGIN \
        EXECUTE format('ALTER DATABASE %I SET enable_seqscan = off', current_database()); END $$";
    fixture.database.execute_sql("", for_all_sessions);
    let of_attempts = statements.iter().filter(|statement| statement.contains("no attempt has status 200"));
    let plans = of_attempts.map(|statement| fixture.database.query_plan(statement).join("\n"));
    let plans: Vec<String> = plans.collect();
    assert_eq!(plans.len(), 6, "the violations and their number, in each of three ranges");
    for plan in plans {
        assert!(!plan.contains("Seq Scan"), "{plan}");
    }
}
