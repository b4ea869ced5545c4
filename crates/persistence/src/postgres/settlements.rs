//! Writes the results of deliveries with one statement, or with two on Citus.

use std::collections::HashSet;

use diesel::pg::Pg;
use diesel::pg::sql_types::Array;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use guerdon_domain::ports::Settlement;

use super::insert_rows::InsertRows;
use crate::rows::schema::attempts;
use crate::rows::{AttemptRow, DeclaredRow, Id, Identifier, SettlementRow};
use crate::write_form::WriteForm;

/// Inserts the attempts and settles the deliveries.
struct SettleDeliveries<'r> {
    attempts: InsertRows<'r, AttemptRow<'r>>,
    settled: <SettlementRow as DeclaredRow>::Arrays<'r>,
}

/// Settles the deliveries after the attempts were inserted.
struct SettleAfterAttempts<'r> {
    /// The attempts that were not recorded before.
    new_attempts: Vec<Id>,
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
        out.push_sql(" ON CONFLICT DO NOTHING RETURNING id) ");
        push_update(&self.settled, out.reborrow())?;
        out.push_sql("new");
        out.push_sql(MATCHED);
        Ok(())
    }
}

impl QueryId for SettleAfterAttempts<'_> {
    type QueryId = SettleAfterAttempts<'static>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl RunQueryDsl<PgConnection> for SettleAfterAttempts<'_> {}

impl QueryFragment<Pg> for SettleAfterAttempts<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        push_update(&self.settled, out.reborrow())?;
        out.push_sql("unnest(");
        out.push_bind_param::<Array<Identifier>, _>(&self.new_attempts)?;
        out.push_sql(") AS new (id)");
        out.push_sql(MATCHED);
        Ok(())
    }
}

/// Appends the update up to the join with `new`, which has the ids of the attempts that were not recorded before.
fn push_update<'b>(
    settled: &'b <SettlementRow as DeclaredRow>::Arrays<'_>,
    mut out: AstPass<'_, 'b, Pg>,
) -> QueryResult<()> {
    out.push_sql(
        "UPDATE deliveries AS d SET lease_id = NULL, \
         attempts = d.attempts + CASE WHEN new.id IS NULL THEN 0 ELSE 1 END, \
         state = CASE WHEN settled.attempt_id IS NULL OR new.id IS NOT NULL THEN settled.state \
         ELSE settled.state_if_recorded END, \
         next_attempt_at = CASE WHEN settled.attempt_id IS NULL OR new.id IS NOT NULL THEN settled.due \
         ELSE settled.due_if_recorded END FROM unnest(",
    );
    SettlementRow::push_arrays(settled, ", ", out.reborrow())?;
    out.push_sql(") AS settled (");
    out.push_sql(SettlementRow::COLUMN_NAMES);
    out.push_sql(") LEFT JOIN ");
    Ok(())
}

const MATCHED: &str =
    " ON new.id = settled.attempt_id WHERE d.event_id = settled.event_id AND d.lease_id = settled.lease_id";

/// Writes the results of deliveries. An attempt that is already recorded is not counted again, and its event
/// is released. If several settlements concern one event under one lease, the first counts, because it ends
/// the lease.
pub(crate) fn write_settlements(
    conn: &mut PgConnection,
    settlements: &[Settlement],
    form: WriteForm,
) -> QueryResult<()> {
    let attempts = settlements.iter().filter_map(|settlement| {
        Some(AttemptRow::from_attempt(settlement.event, settlement.attempt.as_ref()?))
    });
    let attempts: Vec<AttemptRow<'_>> = attempts.collect();
    let mut seen = HashSet::with_capacity(settlements.len());
    let first_settlements =
        settlements.iter().filter(|settlement| seen.insert((settlement.event, settlement.lease)));
    let settled: Vec<SettlementRow> = first_settlements.map(SettlementRow::from_settlement).collect();
    let settled = SettlementRow::column_arrays(&settled);
    match form {
        WriteForm::OneStatement => {
            SettleDeliveries { attempts: InsertRows::from_rows(&attempts), settled }.execute(conn).map(drop)
        }
        WriteForm::StatementPerTable => {
            let insert = diesel::insert_into(attempts::table).values(&attempts).on_conflict_do_nothing();
            let is_any = !attempts.is_empty();
            let new_attempts =
                if is_any { insert.returning(attempts::id).get_results(conn)? } else { Vec::new() };
            SettleAfterAttempts { new_attempts, settled }.execute(conn).map(drop)
        }
    }
}
