//! Claims and settles events.

use std::time::Duration;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable};
use guerdon_domain::ports::{
    CLOCK_TOLERANCE, Claim, Claimed, Deliveries, ReadProviders, Settlement, StoreError, Timestamp,
};
use guerdon_domain::values::{EventId, ProviderId};

use super::super::{SKIP_LOCKED, place, settle};
use super::Unit;
use crate::rows::ClaimedEventRow;
use crate::rows::conditions::PENDING;
use crate::rows::schema::{deliveries, mails};
use crate::rows::types::{At, Id, Identifier, Moment};

/// The maximum number of events of one statement.
const SLICE: usize = 1_000;

/// Selects when the next event of a provider is due. With `EXISTS` instead, PostgreSQL would join all due
/// events.
fn next_attempt() -> String {
    format!(
        "SELECT next_attempt_at FROM deliveries WHERE provider_id = providers.id AND {PENDING} \
         ORDER BY next_attempt_at LIMIT 1"
    )
}

impl Deliveries for Unit<'_> {
    fn providers_with_due_events(&mut self, now: Timestamp) -> Result<Vec<ProviderId>, StoreError> {
        let query = format!("SELECT id FROM providers WHERE NOT suspended AND ({}) <= ", next_attempt());
        let query = sql::<Identifier>(&query).bind::<Moment, _>(At(now)).sql(" ORDER BY id");
        let found: Vec<Id<ProviderId>> = self.query(|conn| query.get_results(conn))?;
        Ok(found.into_iter().map(|id| id.0).collect())
    }

    fn next_event_due(&mut self) -> Result<Option<Timestamp>, StoreError> {
        let query = format!(
            "SELECT min(due) FROM (SELECT ({}) AS due FROM providers WHERE NOT suspended) AS firsts",
            next_attempt()
        );
        let found: Option<At> = self.query(|conn| sql::<Nullable<Moment>>(&query).get_result(conn))?;
        Ok(found.map(|found| found.0))
    }

    fn claim_events(&mut self, claim: &Claim) -> Result<Option<Claimed>, StoreError> {
        let Some(provider) = self.provider(claim.provider)?.filter(|provider| !provider.suspended) else {
            return Ok(None);
        };
        let query = format!(
            "SELECT event_id AS id, deliveries.company_id AS company_id, body, attempts, attempts_before_replay \
             FROM deliveries JOIN events ON id = event_id \
             WHERE deliveries.provider_id = {} AND {PENDING} AND next_attempt_at <= {} \
             ORDER BY next_attempt_at, event_id LIMIT {}{SKIP_LOCKED}",
            place(1),
            place(2),
            place(3)
        );
        let rows: Vec<ClaimedEventRow> = self.query(|conn| {
            diesel::sql_query(query)
                .bind::<Identifier, _>(Id(claim.provider))
                .bind::<Moment, _>(At(claim.now))
                .bind::<BigInt, _>(i64::from(claim.limit))
                .get_results(conn)
        })?;
        for slice in rows.chunks(SLICE) {
            let ids: Vec<Id<EventId>> = slice.iter().map(|event| event.id).collect();
            self.query(|conn| {
                diesel::update(deliveries::table.filter(deliveries::event_id.eq_any(&ids)))
                    .set((
                        deliveries::lease_id.eq(Some(Id(claim.lease))),
                        deliveries::next_attempt_at.eq(Some(At(claim.until))),
                    ))
                    .execute(conn)
            })?;
        }
        let claimed = rows.into_iter().map(ClaimedEventRow::read).collect();
        Ok(Some(Claimed { provider, events: self.keep(claimed)? }))
    }

    fn settle_events(&mut self, settlements: &[Settlement]) -> Result<(), StoreError> {
        for slice in settlements.chunks(SLICE) {
            self.query(|conn| settle(conn, slice))?;
        }
        Ok(())
    }

    fn bring_back(
        &mut self,
        now: Timestamp,
        waits: &[Duration],
        lease: Duration,
    ) -> Result<usize, StoreError> {
        self.query(super::super::lift_time_limit)?;
        // The times are bound as values: computed in the statement, they would not be constants on every
        // database.
        let mut moments = Vec::new();
        let mut bound = |wait: Duration| {
            moments.push(At(now + wait));
            place(u8::try_from(moments.len()).unwrap_or(u8::MAX))
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
        let update = moments
            .into_iter()
            .fold(diesel::sql_query(query).into_boxed(), |update, moment| update.bind::<Moment, _>(moment));
        let changed = self.query(|conn| update.execute(conn))?;
        self.queued.events |= changed > 0;
        Ok(changed)
    }

    fn end_leases(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let due = Some(At(now));
        self.query(|conn| {
            diesel::update(
                deliveries::table.filter(sql::<Bool>(&format!("{PENDING} AND lease_id IS NOT NULL"))),
            )
            .set((deliveries::lease_id.eq(None::<Id>), deliveries::next_attempt_at.eq(due)))
            .execute(conn)
        })?;
        self.query(|conn| {
            diesel::update(mails::table.filter(sql::<Bool>(&format!("{PENDING} AND lease_id IS NOT NULL"))))
                .set((mails::lease_id.eq(None::<Id>), mails::next_attempt_at.eq(due)))
                .execute(conn)
        })?;
        Ok(())
    }
}
