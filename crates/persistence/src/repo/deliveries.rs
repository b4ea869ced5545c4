//! Claims and settles events.

use std::time::Duration;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable};
use guerdon_domain::ports::{
    CLOCK_TOLERANCE, ClaimRequest, ClaimedBatch, Deliveries, ReadProviders, Settlement, StoreError, Timestamp,
};
use guerdon_domain::values::{EventId, ProviderId, checked_cast};

use super::{Unit, into_id, lock_and_skip_locked, placeholder, write_settlements};
use crate::failpoint::{failpoint, is_mutant};
use crate::rows::conditions::PENDING;
use crate::rows::schema::{deliveries, notifications};
use crate::rows::{ClaimedEventRow, DbTimestamp, Id, Identifier, SqlTimestamp};

/// The maximum number of events of one statement.
const EVENTS_PER_STATEMENT: usize = 1_000;

/// Selects when the next event of a provider is due. With `EXISTS` instead, PostgreSQL would join all due
/// events.
fn next_attempt_query() -> String {
    format!(
        "SELECT next_attempt_at FROM deliveries WHERE provider_id = providers.id AND {PENDING} \
         ORDER BY next_attempt_at LIMIT 1"
    )
}

impl Deliveries for Unit<'_> {
    fn providers_with_due_events(&mut self, now: Timestamp) -> Result<Vec<ProviderId>, StoreError> {
        let query =
            format!("SELECT id FROM providers WHERE NOT suspended AND ({}) <= ", next_attempt_query());
        let query = sql::<Identifier>(&query).bind::<SqlTimestamp, _>(DbTimestamp(now)).sql(" ORDER BY id");
        self.list(into_id, |conn| query.get_results(conn))
    }

    fn next_event_due(&mut self) -> Result<Option<Timestamp>, StoreError> {
        let query = format!(
            "SELECT min(due) FROM (SELECT ({}) AS due FROM providers WHERE NOT suspended) AS firsts",
            next_attempt_query()
        );
        let found: Option<DbTimestamp> =
            self.query(|conn| sql::<Nullable<SqlTimestamp>>(&query).get_result(conn))?;
        Ok(found.map(|found| found.0))
    }

    fn claim_events(&mut self, claim: &ClaimRequest) -> Result<Option<ClaimedBatch>, StoreError> {
        let Some(provider) = self.find_provider(claim.provider)?.filter(|provider| !provider.suspended)
        else {
            return Ok(None);
        };
        let is_due = if is_mutant("claim_leased_events") { "IS DISTINCT FROM" } else { "<=" };
        let lock = lock_and_skip_locked("deliveries");
        let lock = if is_mutant("claim_without_lock") { Default::default() } else { lock };
        let query = format!(
            "SELECT event_id AS id, deliveries.company_id AS company_id, body, attempts, attempts_before_replay \
             FROM deliveries JOIN events ON id = event_id \
             WHERE deliveries.provider_id = {} AND {PENDING} AND next_attempt_at {is_due} {} \
             ORDER BY next_attempt_at, event_id LIMIT {}{lock}",
            placeholder(1),
            placeholder(2),
            placeholder(3)
        );
        let rows: Vec<ClaimedEventRow> = self.query(|conn| {
            failpoint("lease.select")?;
            diesel::sql_query(query)
                .bind::<Identifier, _>(Id(claim.provider))
                .bind::<SqlTimestamp, _>(DbTimestamp(claim.now))
                .bind::<BigInt, _>(i64::from(claim.limit))
                .get_results(conn)
        })?;
        for slice in rows.chunks(EVENTS_PER_STATEMENT) {
            let ids: Vec<Id<EventId>> = slice.iter().map(|event| event.id).collect();
            self.query(|conn| {
                failpoint("lease.update")?;
                diesel::update(deliveries::table.filter(deliveries::event_id.eq_any(&ids)))
                    .set((
                        deliveries::lease_id.eq(Some(Id(claim.lease))),
                        deliveries::next_attempt_at.eq(Some(DbTimestamp(claim.lease_until))),
                    ))
                    .execute(conn)
            })?;
        }
        let claimed = rows.into_iter().map(ClaimedEventRow::into_claimed_event).collect();
        Ok(Some(ClaimedBatch { provider, events: self.record_failure(claimed)? }))
    }

    fn settle_events(&mut self, settlements: &[Settlement]) -> Result<(), StoreError> {
        let form = self.limits.write_form();
        for slice in settlements.chunks(EVENTS_PER_STATEMENT) {
            self.query(|conn| {
                failpoint("settlement.write")?;
                write_settlements(conn, slice, form)?;
                failpoint("settlement.written").map_err(Into::into)
            })?;
        }
        Ok(())
    }

    fn reschedule_after_clock_change(
        &mut self,
        now: Timestamp,
        waits: &[Duration],
        lease: Duration,
    ) -> Result<usize, StoreError> {
        self.query(super::disable_statement_timeout)?;
        // The times are bound as values. If the statement computed them, they would not be constants on every
        // database.
        let mut moments = Vec::new();
        let mut bound = |wait: Duration| {
            moments.push(DbTimestamp(now + wait));
            placeholder(checked_cast(moments.len()))
        };
        let mut latest = |tolerance: Duration| {
            let leased = bound(lease + tolerance);
            let steps = waits.iter().zip(0..);
            let steps: String =
                steps.map(|(wait, n)| format!(" WHEN {n} THEN {}", bound(*wait + tolerance))).collect();
            format!(
                "CASE WHEN lease_id IS NOT NULL THEN {leased} \
                 ELSE CASE attempts - attempts_before_replay{steps} ELSE next_attempt_at END END"
            )
        };
        let query = format!(
            "UPDATE deliveries SET next_attempt_at = {} WHERE {PENDING} AND next_attempt_at > {}",
            latest(Duration::ZERO),
            latest(CLOCK_TOLERANCE)
        );
        let update = moments.into_iter().fold(diesel::sql_query(query).into_boxed(), |update, moment| {
            update.bind::<SqlTimestamp, _>(moment)
        });
        let changed = self.query(|conn| update.execute(conn))?;
        self.queued.events |= changed > 0;
        Ok(changed)
    }

    fn end_leases(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let due = Some(DbTimestamp(now));
        self.query(|conn| {
            diesel::update(
                deliveries::table.filter(sql::<Bool>(&format!("{PENDING} AND lease_id IS NOT NULL"))),
            )
            .set((deliveries::lease_id.eq(None::<Id>), deliveries::next_attempt_at.eq(due)))
            .execute(conn)
        })?;
        self.execute(|conn| {
            diesel::update(
                notifications::table.filter(sql::<Bool>(&format!("{PENDING} AND lease_id IS NOT NULL"))),
            )
            .set((notifications::lease_id.eq(None::<Id>), notifications::next_attempt_at.eq(due)))
            .execute(conn)
        })
    }
}
