//! Events in the outbox.

use std::time::Duration;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable};
use guerdon_domain::events::{EventKind, EventState};
use guerdon_domain::notifications::Channel;
use guerdon_domain::ports::{
    EventQuery, EventWithBody, FeedPage, FeedQuery, Lookup, NewEvent, Outbox, OutboxStatistics, QueuedEvent,
    ReadOutbox, RecordedAttempt, Replays, StoreError, Timestamp,
};
use guerdon_domain::values::{EventId, ProviderId};
use uuid::Uuid;

use super::super::{BOUND_VALUES_MAX, Db, OLDEST_EVENT_ID, feed_delay_micros};
use super::Unit;
use crate::rows::conditions::{GIVEN_UP, IS_NOT_RECEIVED_EVENT, PENDING};
use crate::rows::schema::{attempts, deliveries, events};
use crate::rows::types::{DbTimestamp, Id, Identifier, SqlTimestamp, first_id_of_millisecond};
use crate::rows::{DeliveryRow, DeliveryStateRow, EventRow, QueuedEventRow, RecordedAttemptRow};
use crate::statement_chunks::split_into_statements;

impl ReadOutbox for Unit<'_> {
    fn list_events(&mut self, query: &EventQuery) -> Result<Vec<QueuedEvent>, StoreError> {
        self.query(super::disable_statement_timeout)?;
        let mut wanted = deliveries::table
            .inner_join(events::table)
            .select((QueuedEventRow::as_select(), DeliveryStateRow::as_select()))
            .into_boxed();
        if let Some(state) = query.state {
            wanted = wanted.filter(sql::<Bool>(&format!("deliveries.state = {}", state.code())));
        }
        if let Some(kind) = query.kind {
            wanted = wanted.filter(sql::<Bool>(&format!("events.kind = {}", kind.code())));
            if kind != EventKind::RecognitionReceived {
                wanted = wanted.filter(sql::<Bool>(&format!("events.{IS_NOT_RECEIVED_EVENT}")));
            }
        }
        if let Some(since) = query.since {
            wanted = wanted.filter(deliveries::event_id.ge(Id(first_id_since(since))));
            wanted = wanted.filter(events::created_at.ge(DbTimestamp(since)));
        }
        // Each sort order is that of an index over the wanted rows. Ids increase with time, and so do positions.
        let cursor = query.before.map(|before| (before, "<")).or(query.after.map(|after| (after, ">")));
        let wanted = match (query.provider, query.state, query.since) {
            // Most events are delivered, so few are skipped.
            (Some(provider), None | Some(EventState::Delivered), None) => {
                wanted = wanted.filter(events::provider_id.eq(Id(provider)));
                if let Some((id, side)) = cursor {
                    let beyond = format!(
                        "(events.position, events.id) {side} ((SELECT position FROM events AS it WHERE it.id = "
                    );
                    let beyond = sql::<Bool>(&beyond).bind::<Identifier, _>(Id(id)).sql("), ");
                    wanted = wanted.filter(beyond.bind::<Identifier, _>(Id(id)).sql(")"));
                }
                if query.after.is_some() {
                    wanted.order((events::position.asc(), events::id.asc()))
                } else {
                    wanted.order((events::position.desc(), events::id.desc()))
                }
            }
            (provider, state, _) => {
                if let Some(provider) = provider {
                    wanted = wanted.filter(deliveries::provider_id.eq(Id(provider)));
                }
                let id =
                    if state.is_none() && query.kind.is_some() { "events.id" } else { "deliveries.event_id" };
                if let Some((cursor, side)) = cursor {
                    let beyond = sql::<Bool>(&format!("{id} {side} ")).bind::<Identifier, _>(Id(cursor));
                    wanted = wanted.filter(beyond);
                }
                let direction = if query.after.is_some() { "ASC" } else { "DESC" };
                wanted.order(sql::<Bool>(&format!("{id} {direction}")))
            }
        };
        let wanted = wanted.limit(query.limit);
        let mut found: Vec<(QueuedEventRow, DeliveryStateRow)> =
            self.query(|conn| wanted.get_results(conn))?;
        if query.after.is_some() {
            found.reverse();
        }
        self.record_failure(found.into_iter().map(|(event, fare)| event.into_queued_event(fare)).collect())
    }

    fn find_feed_page(&mut self, wanted: &FeedQuery) -> Result<FeedPage, StoreError> {
        self.find_page(wanted)
    }

    fn load_feed_page(&mut self, page: &FeedPage) -> Result<Vec<EventWithBody>, StoreError> {
        let mut events = self.load_events(&page.ids)?;
        Ok(page.ids.iter().filter_map(|id| events.remove(id)).collect())
    }

    fn find_event(&mut self, scope: ProviderId, id: EventId) -> Result<Lookup<EventWithBody>, StoreError> {
        let found = self.find_event_any_provider(id)?;
        Ok(Lookup::in_scope(scope, found.map(|found| (found.event.provider_id, found))))
    }

    fn find_event_any_provider(&mut self, id: EventId) -> Result<Option<EventWithBody>, StoreError> {
        Ok(self.load_events(&[id])?.remove(&id))
    }

    fn list_attempts(&mut self, id: EventId) -> Result<Vec<RecordedAttempt>, StoreError> {
        let rows: Vec<RecordedAttemptRow> = self.query(|conn| {
            attempts::table
                .filter(attempts::event_id.eq(Id(id)))
                .order((attempts::number, attempts::id))
                .select(RecordedAttemptRow::as_select())
                .get_results(conn)
        })?;
        self.record_failure(rows.into_iter().map(RecordedAttemptRow::into_recorded_attempt).collect())
    }

    fn outbox_statistics(&mut self) -> Result<OutboxStatistics, StoreError> {
        self.query(super::disable_statement_timeout)?; // after a long outage, many deliveries are pending
        let mail = Channel::Mail.code();
        let query = format!(
            "SELECT pending, created_at, (SELECT count(*) FROM notifications WHERE channel = {mail} AND {PENDING}), \
             (SELECT count(*) FROM notifications WHERE channel = {mail} AND {GIVEN_UP}) FROM \
             (SELECT count(*) AS pending, {OLDEST_EVENT_ID} AS oldest FROM deliveries WHERE {PENDING}) AS queued \
             LEFT JOIN events ON id = oldest"
        ); // ids increase with time
        let statistics = sql::<(BigInt, Nullable<SqlTimestamp>, BigInt, BigInt)>(&query);
        let (pending, oldest, mails_waiting, mails_given_up): (i64, Option<DbTimestamp>, i64, i64) =
            self.query(|conn| statistics.get_result(conn))?;
        let feed_delay_micros = self.query(feed_delay_micros)?;
        Ok(OutboxStatistics {
            pending,
            oldest_created_at: oldest.map(|oldest| oldest.0),
            mails_waiting,
            mails_given_up,
            oldest_transaction_age: Duration::from_micros(feed_delay_micros.try_into().unwrap_or(0)),
        })
    }
}

impl Outbox for Unit<'_> {
    fn queue_events(&mut self, new: &[NewEvent]) -> Result<(), StoreError> {
        self.queued.add_events(new);
        for slice in split_into_statements(
            new,
            BOUND_VALUES_MAX / EventRow::COLUMNS.max(DeliveryRow::COLUMNS),
            |event| event.body.len(),
        ) {
            let rows: Vec<EventRow<'_>> = slice.iter().map(EventRow::from_event).collect();
            self.query(|conn| match rows.as_slice() {
                [one] => diesel::insert_into(events::table).values(one).execute(conn),
                many => diesel::insert_into(events::table).values(many).execute(conn),
            })?;
            let rows: Vec<DeliveryRow> = slice.iter().map(DeliveryRow::for_new_event).collect();
            self.query(|conn| match rows.as_slice() {
                [one] => diesel::insert_into(deliveries::table).values(one).execute(conn),
                many => diesel::insert_into(deliveries::table).values(many).execute(conn),
            })?;
        }
        Ok(())
    }
}

impl Replays for Unit<'_> {
    fn replay_event(&mut self, id: EventId, now: Timestamp) -> Result<Option<bool>, StoreError> {
        let id = Id(id);
        let closed = sql::<Bool>(IN_HANDED_OVER_COMPANY);
        let existing: Option<bool> = self.query(|conn| {
            deliveries::table.filter(deliveries::event_id.eq(id)).select(closed).get_result(conn).optional()
        })?;
        match existing {
            None => return Ok(None),
            Some(true) => return self.record_failure(Err(StoreError::CompanyHandedOver)),
            Some(false) => {}
        }
        let ended = deliveries::event_id.eq(id).and(deliveries::state.ne(EventState::Pending.code()));
        let waits = deliveries::event_id.eq(id).and(sql::<Bool>(PENDING));
        let replayed = self.replay_ended(Box::new(ended), now)? + self.make_due_now(Box::new(waits), now)?;
        Ok(Some(replayed > 0))
    }

    fn replay_events_since(
        &mut self,
        provider: ProviderId,
        since: Option<Timestamp>,
        state: Option<EventState>,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let mut replayed = 0;
        for state in state.map_or(EventState::ALL.to_vec(), |state| vec![state]) {
            let which = match since {
                Some(since) => events_since(provider, since, state),
                None => events_in_state(provider, state),
            };
            replayed += match state {
                EventState::Pending => self.make_due_now(which, now)?,
                _ => self.replay_ended(which, now)?,
            };
        }
        Ok(replayed)
    }

    fn replay_events(
        &mut self,
        provider: ProviderId,
        state: EventState,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        self.query(super::disable_statement_timeout)?; // after a long outage, there are many such deliveries
        match state {
            EventState::Delivered => Ok(0),
            state => self.replay_events_since(provider, None, Some(state), now),
        }
    }
}

/// The condition that the company of a delivery was handed over.
const IN_HANDED_OVER_COMPANY: &str = "EXISTS (SELECT 1 FROM companies WHERE companies.id = deliveries.company_id \
    AND companies.handed_over_at IS NOT NULL)";

/// A filter of deliveries.
type DeliveryFilter = Box<dyn BoxableExpression<deliveries::table, Db, SqlType = Bool>>;

impl Unit<'_> {
    /// Makes ended events due now, with a new schedule, except those of companies that were handed over.
    fn replay_ended(&mut self, which: DeliveryFilter, now: Timestamp) -> Result<usize, StoreError> {
        let changed = self.query(|conn| {
            diesel::update(deliveries::table.filter(which))
                .filter(sql::<Bool>(&format!("NOT {IN_HANDED_OVER_COMPANY}")))
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

    /// Makes pending events due now that wait for a later time, except those with an attempt in progress.
    fn make_due_now(&mut self, which: DeliveryFilter, now: Timestamp) -> Result<usize, StoreError> {
        let now = DbTimestamp(now);
        let changed = self.query(|conn| {
            diesel::update(deliveries::table.filter(which))
                .filter(deliveries::lease_id.is_null().and(deliveries::next_attempt_at.gt(Some(now))))
                .set(deliveries::next_attempt_at.eq(Some(now)))
                .execute(conn)
        })?;
        self.queued.events |= changed > 0;
        Ok(changed)
    }
}

/// A provider's events in a state. The state's number is part of the SQL, so that the partial index of the state can be
/// used.
fn events_in_state(provider: ProviderId, state: EventState) -> DeliveryFilter {
    let in_state = sql::<Bool>(&format!("state = {}", state.code()));
    Box::new(deliveries::provider_id.eq(Id(provider)).and(in_state))
}

/// A provider's events in a state that were created at a time or later. Ids increase with time, so events
/// that are much older are not read.
fn events_since(provider: ProviderId, since: Timestamp, state: EventState) -> DeliveryFilter {
    Box::new(
        sql::<Bool>("provider_id = ")
            .bind::<Identifier, _>(Id(provider))
            .sql(&format!(" AND state = {} AND event_id >= ", state.code()))
            .bind::<Identifier, _>(Id(first_id_since(since)))
            .sql(" AND EXISTS (SELECT 1 FROM events WHERE id = event_id AND created_at >= ")
            .bind::<SqlTimestamp, _>(DbTimestamp(since))
            .sql(")"),
    )
}

/// An id below every id that was created at a time or later, provided that the clock was not set back by more
/// than an hour.
pub(super) fn first_id_since(since: Timestamp) -> Uuid {
    first_id_of_millisecond(since.unix_micros() / 1_000 - 3_600_000)
}
