//! Writes the results of deliveries with one statement.

use std::collections::HashSet;

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use guerdon_domain::ports::Settlement;

use super::insert_rows::InsertRows;
use crate::rows::{AttemptRow, DeclaredRow, SettlementRow};

struct SettleDeliveries<'r> {
    attempts: InsertRows<'r, AttemptRow<'r>>,
    settled: <SettlementRow as DeclaredRow>::Arrays<'r>,
}

impl QueryId for SettleDeliveries<'_> {
    type QueryId = SettleDeliveries<'static>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl RunQueryDsl<PgConnection> for SettleDeliveries<'_> {}

impl QueryFragment<Pg> for SettleDeliveries<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("WITH new AS (");
        self.attempts.walk_ast(out.reborrow())?;
        out.push_sql(
            " ON CONFLICT DO NOTHING RETURNING id) UPDATE deliveries AS d SET lease_id = NULL, \
             attempts = d.attempts + CASE WHEN new.id IS NULL THEN 0 ELSE 1 END, \
             state = CASE WHEN it.attempt_id IS NULL OR new.id IS NOT NULL THEN it.state ELSE it.state_if_recorded END, \
             next_attempt_at = CASE WHEN it.attempt_id IS NULL OR new.id IS NOT NULL THEN it.due \
             ELSE it.due_if_recorded END FROM ",
        );
        SettlementRow::push_arrays(&self.settled, out.reborrow())?;
        out.push_sql(" AS it (");
        out.push_sql(SettlementRow::COLUMN_NAMES);
        out.push_sql(
            ") LEFT JOIN new ON new.id = it.attempt_id \
             WHERE d.event_id = it.event_id AND d.lease_id = it.lease_id",
        );
        Ok(())
    }
}

/// Writes the results of deliveries. An attempt that is already recorded is not counted again, and its event
/// is released. If several settlements concern one event under one lease, the first counts, because it ends
/// the lease.
pub(crate) fn write_settlements(conn: &mut PgConnection, settlements: &[Settlement]) -> QueryResult<()> {
    let attempts = settlements.iter().filter_map(|settlement| {
        Some(AttemptRow::from_attempt(settlement.event, settlement.attempt.as_ref()?))
    });
    let attempts: Vec<AttemptRow<'_>> = attempts.collect();
    let mut seen = HashSet::with_capacity(settlements.len());
    let first_settlements =
        settlements.iter().filter(|settlement| seen.insert((settlement.event, settlement.lease)));
    let settled: Vec<SettlementRow> = first_settlements.map(SettlementRow::from_settlement).collect();
    let settle = SettleDeliveries {
        attempts: InsertRows::from_rows(&attempts),
        settled: SettlementRow::column_arrays(&settled),
    };
    settle.execute(conn).map(drop)
}
