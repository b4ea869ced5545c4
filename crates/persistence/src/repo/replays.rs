//! Replays events.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use guerdon_domain::events::EventState;
use guerdon_domain::ports::{
    FeedPosition, ReplayCursor, ReplayQuery, ReplayedPage, Replays, StoreError, Timestamp,
};
use guerdon_domain::values::{EventId, checked_cast};
use uuid::Uuid;

use super::events::{CLOCK_SET_BACK_MICROS_MAX, first_id_since};
use super::{Db, Unit, timestamp_literal};
use crate::rows::conditions::{PENDING, is_handed_over};
use crate::rows::schema::deliveries;
use crate::rows::{DbTimestamp, Id, Identifier, SqlTimestamp};

/// A filter of deliveries.
type DeliveryFilter = Box<dyn BoxableExpression<deliveries::table, Db, SqlType = Bool>>;

impl Replays for Unit<'_> {
    fn replay_event(&mut self, id: EventId, now: Timestamp) -> Result<Option<bool>, StoreError> {
        let id = Id(id);
        let in_handed_over_company = sql::<Bool>(&is_handed_over("deliveries.company_id"));
        let existing: Option<bool> = self.query(|conn| {
            let delivery = deliveries::table.filter(deliveries::event_id.eq(id));
            delivery.select(in_handed_over_company).get_result(conn).optional()
        })?;
        match existing {
            None => return Ok(None),
            Some(true) => return self.record_failure(Err(StoreError::CompanyHandedOver)),
            Some(false) => {}
        }
        let ended = Box::new(deliveries::state.ne(EventState::Pending.code()));
        let waits = Box::new(sql::<Bool>(PENDING));
        let replayed = self.replay_ended(&[id], ended, now)? + self.make_due_now(&[id], waits, now)?;
        Ok(Some(replayed > 0))
    }

    fn replay_page(&mut self, query: &ReplayQuery, now: Timestamp) -> Result<ReplayedPage, StoreError> {
        let page = match query.state {
            EventState::Pending => self.find_waiting_events(query, now)?,
            EventState::Delivered => self.find_events_in_feed(query)?,
            EventState::Exhausted | EventState::Unaddressed => self.find_undelivered_events(query)?,
        };
        let ids: Vec<Id<EventId>> = page.iter().map(|cursor| Id(cursor.id)).collect();
        let filter = selected_deliveries(query);
        let replayed = match query.state {
            _ if ids.is_empty() => 0,
            EventState::Pending => self.make_due_now(&ids, filter, now)?,
            _ => self.replay_ended(&ids, filter, now)?,
        };
        Ok(ReplayedPage { examined: page.len(), replayed, last: page.last().copied() })
    }
}

impl Unit<'_> {
    /// Pending events that are due later, and those in flight, by the index `deliveries_due`.
    fn find_waiting_events(
        &mut self,
        query: &ReplayQuery,
        now: Timestamp,
    ) -> Result<Vec<ReplayCursor>, StoreError> {
        let after = query.after.and_then(|after| Some((Timestamp::from_unix_micros(after.key)?, after.id)));
        let (due, id) = after.unwrap_or((now, EventId::from_uuid(Uuid::max())));
        let page = sql::<(SqlTimestamp, Identifier)>(
            "SELECT next_attempt_at, event_id FROM deliveries WHERE provider_id = ",
        )
        .bind::<Identifier, _>(Id(query.provider))
        .sql(&format!(" AND {PENDING} AND (next_attempt_at, event_id) > ("))
        .bind::<SqlTimestamp, _>(DbTimestamp(due))
        .sql(", ")
        .bind::<Identifier, _>(Id(id))
        .sql(") ORDER BY next_attempt_at, event_id LIMIT ")
        .bind::<BigInt, _>(checked_cast::<i64, _>(query.limit));
        let convert =
            |(due, id): (DbTimestamp, Id<EventId>)| Ok(ReplayCursor { key: due.0.unix_micros(), id: id.0 });
        self.list(convert, |conn| page.get_results(conn))
    }

    /// Events of any state in the order of the feed, by the index `events_feed`. No index finds delivered events, but
    /// most events are delivered, so few are skipped.
    fn find_events_in_feed(&mut self, query: &ReplayQuery) -> Result<Vec<ReplayCursor>, StoreError> {
        let after = match (query.after, query.since) {
            (Some(after), _) => Some(FeedPosition { position: after.key, id: after.id }),
            (None, Some(since)) => self.position_before(query.provider, since, CLOCK_SET_BACK_MICROS_MAX)?,
            (None, None) => None,
        };
        let found = self.load_positions(query.provider, after, i64::MAX, checked_cast(query.limit))?;
        Ok(found.into_iter().map(|found| ReplayCursor { key: found.position, id: found.id }).collect())
    }

    /// Exhausted or unaddressed events in the order of their ids, by the partial index of the provider and the state.
    /// Ids increase with time, so events that are much older than `since` are not read.
    fn find_undelivered_events(&mut self, query: &ReplayQuery) -> Result<Vec<ReplayCursor>, StoreError> {
        let first = query.since.map_or_else(Uuid::nil, first_id_since);
        let after = query.after.map_or(first, |after| after.id.as_uuid());
        let page = sql::<Identifier>("SELECT event_id FROM deliveries WHERE provider_id = ")
            .bind::<Identifier, _>(Id(query.provider))
            .sql(&format!(" AND state = {} AND event_id > ", query.state.code()))
            .bind::<Identifier, _>(Id(after))
            .sql(" ORDER BY event_id LIMIT ")
            .bind::<BigInt, _>(checked_cast::<i64, _>(query.limit));
        self.list(|Id(id)| Ok(ReplayCursor { key: 0, id }), |conn| page.get_results(conn))
    }

    /// Replays the events that match the filter: they become due now and start a new retry schedule. Skips events of
    /// companies that were handed over. The filter must not match pending events.
    fn replay_ended(
        &mut self,
        ids: &[Id<EventId>],
        filter: DeliveryFilter,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let changed = self.query(|conn| {
            diesel::update(deliveries::table.filter(deliveries::event_id.eq_any(ids)))
                .filter(filter)
                .filter(sql::<Bool>(&format!("NOT {}", is_handed_over("deliveries.company_id"))))
                .set((
                    deliveries::state.eq(EventState::Pending.code()),
                    deliveries::attempts_before_replay.eq(deliveries::attempts),
                    deliveries::next_attempt_at.eq(Some(DbTimestamp(now))),
                ))
                .execute(conn)
        })?;
        self.queued.events |= changed > 0;
        Ok(changed)
    }

    /// Makes the events due now that match the filter and are due later. Skips events with an attempt in progress. The
    /// filter must match only pending events.
    fn make_due_now(
        &mut self,
        ids: &[Id<EventId>],
        filter: DeliveryFilter,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let now = DbTimestamp(now);
        let changed = self.query(|conn| {
            diesel::update(deliveries::table.filter(deliveries::event_id.eq_any(ids)))
                .filter(filter)
                .filter(deliveries::lease_id.is_null().and(deliveries::next_attempt_at.gt(Some(now))))
                .set(deliveries::next_attempt_at.eq(Some(now)))
                .execute(conn)
        })?;
        self.queued.events |= changed > 0;
        Ok(changed)
    }
}

/// The events of a query that have its state and meet its conditions on times.
fn selected_deliveries(query: &ReplayQuery) -> DeliveryFilter {
    let mut in_state = format!("state = {}", query.state.code());
    if let Some(since) = query.not_attempted_since {
        in_state.push_str(&format!(
            " AND NOT EXISTS (SELECT 1 FROM attempts WHERE attempts.event_id = deliveries.event_id \
             AND attempts.started_at >= {})",
            timestamp_literal(DbTimestamp(since))
        ));
    }
    match query.since {
        None => Box::new(sql::<Bool>(&in_state)),
        Some(since) => Box::new(
            sql::<Bool>(&format!(
                "{in_state} AND EXISTS (SELECT 1 FROM events WHERE id = event_id AND created_at >= "
            ))
            .bind::<SqlTimestamp, _>(DbTimestamp(since))
            .sql(")"),
        ),
    }
}
