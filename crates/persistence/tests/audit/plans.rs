//! The plans of the audit's queries on PostgreSQL.

use guerdon_domain::audit::AuditPart;
use guerdon_domain::ports::Clock as _;
use guerdon_persistence::testing::{covers_postgres, create_postgres};

use crate::support::recorded_statements::{record_statements, start_recording};
use crate::support::{LedgerFixture, audit_options};

/// Delivered events in tables that the server has not analyzed yet.
const DELIVERED_EVENTS: &str = "
    INSERT INTO deliveries (event_id, company_id, provider_id, state, attempts, attempts_before_replay)
      SELECT id, id, id, 2, 1, 0 FROM
      (SELECT lpad(to_hex(i), 32, '0')::uuid AS id FROM generate_series(1, 100000) AS i) AS events;
    INSERT INTO attempts (event_id, id, company_id, number, started_at, duration_micros, status, response)
      SELECT event_id, event_id, company_id, 1, now(), 1, 200, '' FROM deliveries;
";

#[test]
fn large_tables_without_statistics_are_not_joined_by_nested_loops() {
    if !covers_postgres() {
        return;
    }
    start_recording();
    let fixture = LedgerFixture::new(create_postgres());
    fixture.database.execute_sql("", DELIVERED_EVENTS);
    let options = audit_options(None, fixture.clock.now());
    let statements = record_statements(&fixture.database, || {
        fixture.store.audit_part(AuditPart::Tables, &options).map(drop).unwrap();
    });
    let of_attempts = statements.iter().find(|statement| statement.contains("no attempt has status 200"));
    let plan = fixture.database.query_plan(of_attempts.unwrap()).join("\n");
    assert!(!plan.contains("Nested Loop"), "{plan}");
}
