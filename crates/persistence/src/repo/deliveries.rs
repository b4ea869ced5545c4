//! Delivering events.

use std::collections::{HashMap, HashSet};

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use guerdon_domain::events::EventState;
use guerdon_domain::ports::{
    Claim, Claimed, Deliveries, Fate, ReadProviders, Settlement, StoreError, Timestamp,
};
use guerdon_domain::values::{EventId, ProviderId};

use super::super::{BINDS, SKIP_LOCKED, insert_attempts, place};
use super::Unit;
use crate::rows::conditions::PENDING;
use crate::rows::schema::{deliveries, mails};
use crate::rows::types::{At, Id, Identifier, Moment};
use crate::rows::{AttemptRow, ClaimedEventRow, DueRow};

/// How many events one statement names.
const SLICE: usize = 1_000;

#[derive(QueryableByName)]
struct ProviderOnly {
    #[diesel(sql_type = Identifier)]
    id: Id<ProviderId>,
}

impl Deliveries for Unit<'_> {
    fn providers_with_due_events(&mut self, now: Timestamp) -> Result<Vec<ProviderId>, StoreError> {
        let query = format!(
            "SELECT id FROM providers WHERE NOT suspended AND EXISTS (SELECT 1 FROM deliveries \
             WHERE provider_id = providers.id AND {PENDING} AND next_attempt_at <= {}) ORDER BY id",
            place(1)
        );
        let found: Vec<ProviderOnly> =
            self.query(|conn| diesel::sql_query(query).bind::<Moment, _>(At(now)).get_results(conn))?;
        Ok(found.into_iter().map(|it| it.id.0).collect())
    }

    fn next_event_due(&mut self) -> Result<Option<Timestamp>, StoreError> {
        let query = format!(
            "SELECT min(due) AS due FROM (SELECT (SELECT next_attempt_at FROM deliveries \
             WHERE provider_id = providers.id AND {PENDING} ORDER BY next_attempt_at LIMIT 1) AS due \
             FROM providers WHERE NOT suspended) AS firsts"
        );
        let found: DueRow = self.query(|conn| diesel::sql_query(query).get_result(conn))?;
        Ok(found.due.map(|it| it.0))
    }

    fn claim_events(&mut self, claim: &Claim) -> Result<Option<Claimed>, StoreError> {
        let Some(provider) = self.provider(claim.provider)?.filter(|it| !it.suspended) else {
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
            let ids: Vec<Id<EventId>> = slice.iter().map(|it| it.id).collect();
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
        let new = self.insert_attempts(settlements)?;
        let mut delivered: HashMap<Id, Vec<Id<EventId>>> = HashMap::new();
        for it in settlements {
            let is_new = it.attempt.as_ref().map(|attempt| new.contains(&Id(attempt.id)));
            match (is_new, it.fate) {
                (Some(true), Fate::Delivered) => {
                    delivered.entry(Id(it.lease)).or_default().push(Id(it.event));
                }
                (Some(true), fate) => self.settle_one(it, fate, 1)?,
                (Some(false), _) => self.settle_one(it, it.given_back(), 0)?,
                (None, fate) => self.settle_one(it, fate, 0)?,
            }
        }
        for (lease, ids) in delivered {
            for slice in ids.chunks(SLICE) {
                self.query(|conn| {
                    diesel::update(deliveries::table.filter(deliveries::event_id.eq_any(slice)))
                        .filter(deliveries::lease_id.eq(Some(lease)))
                        .set((
                            deliveries::state.eq(EventState::Delivered.code()),
                            deliveries::attempts.eq(deliveries::attempts + 1),
                            deliveries::next_attempt_at.eq(None::<At>),
                            deliveries::lease_id.eq(None::<Id>),
                        ))
                        .execute(conn)
                })?;
            }
        }
        Ok(())
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

impl Unit<'_> {
    /// Adds the attempts that are not there yet; answers which these were.
    fn insert_attempts(&mut self, settlements: &[Settlement]) -> Result<HashSet<Id>, StoreError> {
        let made = settlements.iter().filter_map(|it| Some(AttemptRow::of(it.event, it.attempt.as_ref()?)));
        let rows: Vec<AttemptRow<'_>> = made.collect();
        let mut new = HashSet::with_capacity(rows.len());
        for slice in rows.chunks(BINDS / AttemptRow::COLUMNS) {
            new.extend(self.query(|conn| insert_attempts(conn, slice))?);
        }
        Ok(new)
    }

    fn settle_one(&mut self, it: &Settlement, fate: Fate, made: i16) -> Result<(), StoreError> {
        let (state, due) = match fate {
            Fate::Delivered => (EventState::Delivered, None),
            Fate::RetryAt(at) | Fate::Released(at) => (EventState::Pending, Some(At(at))),
            Fate::Exhausted => (EventState::Exhausted, None),
            Fate::Unaddressed => (EventState::Unaddressed, None),
        };
        self.query(|conn| {
            diesel::update(deliveries::table.find(Id(it.event)))
                .filter(deliveries::lease_id.eq(Some(Id(it.lease))))
                .set((
                    deliveries::state.eq(state.code()),
                    deliveries::attempts.eq(deliveries::attempts + made),
                    deliveries::next_attempt_at.eq(due),
                    deliveries::lease_id.eq(None::<Id>),
                ))
                .execute(conn)
        })?;
        Ok(())
    }
}
