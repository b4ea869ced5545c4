//! Events in the outbox.

use std::time::Duration;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable};
use guerdon_domain::events::{EventKind, EventState};
use guerdon_domain::ports::{
    EventQuery, EventWithBody, FeedPage, FeedQuery, Lookup, NewEvent, Outbox, OutboxStatistics, QueuedEvent,
    ReadOutbox, RecordedAttempt, StoreError, Timestamp,
};
use guerdon_domain::values::{EventId, ProviderId};
use uuid::Uuid;

use super::{OLDEST_EVENT_ID, Unit, WITHOUT_INDEX, feed_delay_micros};
use crate::rows::conditions::{IS_NOT_RECEIVED_EVENT, PENDING};
use crate::rows::schema::{attempts, deliveries, events};
use crate::rows::{
    AttemptSummaryRow, DbTimestamp, DeliveryRow, DeliveryStateRow, EventRow, Id, Identifier, QueuedEventRow,
    RecordedAttemptRow, SqlTimestamp, first_id_of_millisecond,
};

/// Searches by time find every row unless the clock was set back by more than this.
pub(super) const CLOCK_SET_BACK_MICROS_MAX: i64 = 3_600_000_000;

impl ReadOutbox for Unit<'_> {
    fn list_events(&mut self, query: &EventQuery) -> Result<Vec<QueuedEvent>, StoreError> {
        self.query(super::disable_statement_timeout)?;
        let id = id_column(query);
        let mut wanted = deliveries::table
            .inner_join(events::table)
            .select((QueuedEventRow::as_select(), DeliveryStateRow::as_select()))
            .into_boxed();
        if let Some(state) = query.state {
            wanted = wanted.filter(sql::<Bool>(&format!("deliveries.state = {}", state.code())));
        }
        if let Some(kind) = query.kind {
            wanted = wanted.filter(sql::<Bool>(&format!("events.kind = {}", kind.code())));
            if kind != EventKind::RecognitionReceived && query.state != Some(EventState::Pending) {
                wanted = wanted.filter(sql::<Bool>(&format!("events.{IS_NOT_RECEIVED_EVENT}")));
            }
        }
        if let Some(since) = query.since {
            let is_recent =
                sql::<Bool>(&format!("{id} >= ")).bind::<Identifier, _>(Id(first_id_since(since)));
            wanted = wanted.filter(is_recent.and(events::created_at.ge(DbTimestamp(since))));
        }
        // Each sort order is that of an index over the wanted rows. Ids increase with time, and so do positions.
        let cursor = query.before.map(|before| (before, "<")).or(query.after.map(|after| (after, ">")));
        let is_ascending = query.after.is_some() || query.oldest;
        let wanted = match (query.provider, query.state, query.since) {
            // Most events are delivered, so few are skipped.
            (Some(provider), None | Some(EventState::Delivered), None) => {
                wanted = wanted.filter(events::provider_id.eq(Id(provider)));
                if let Some((cursor, side)) = cursor {
                    let beyond = format!(
                        "(events.position, events.id) {side} \
                         ((SELECT position FROM events AS cursor_event WHERE cursor_event.id = "
                    );
                    let beyond = sql::<Bool>(&beyond).bind::<Identifier, _>(Id(cursor)).sql("), ");
                    wanted = wanted.filter(beyond.bind::<Identifier, _>(Id(cursor)).sql(")"));
                }
                if is_ascending {
                    wanted.order((events::position.asc(), events::id.asc()))
                } else {
                    wanted.order((events::position.desc(), events::id.desc()))
                }
            }
            (provider, ..) => {
                if let Some(provider) = provider {
                    wanted = wanted.filter(deliveries::provider_id.eq(Id(provider)));
                }
                if let Some((cursor, side)) = cursor {
                    let beyond = sql::<Bool>(&format!("{id} {side} ")).bind::<Identifier, _>(Id(cursor));
                    wanted = wanted.filter(beyond);
                }
                let direction = if is_ascending { "ASC" } else { "DESC" };
                wanted.order(sql::<Bool>(&format!("{id} {direction}")))
            }
        };
        let wanted = wanted.limit(query.limit);
        let convert =
            |(event, delivery): (QueuedEventRow, DeliveryStateRow)| event.into_queued_event(delivery);
        let mut found = self.list(convert, |conn| wanted.get_results(conn))?;
        if is_ascending {
            found.reverse();
        }
        Ok(found)
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

    fn list_attempts(&mut self, id: EventId, limit: i64) -> Result<Vec<RecordedAttempt>, StoreError> {
        let query = latest_attempts(id, limit).select(RecordedAttemptRow::as_select());
        self.list(RecordedAttemptRow::into_recorded_attempt, |conn| query.get_results(conn))
            .map(sort_attempts)
    }

    fn list_attempts_without_responses(
        &mut self,
        id: EventId,
        limit: i64,
    ) -> Result<Vec<RecordedAttempt>, StoreError> {
        let query = latest_attempts(id, limit).select(AttemptSummaryRow::as_select());
        self.list(AttemptSummaryRow::into_recorded_attempt, |conn| query.get_results(conn)).map(sort_attempts)
    }

    fn outbox_statistics(&mut self) -> Result<OutboxStatistics, StoreError> {
        self.query(super::disable_statement_timeout)?; // after a long outage, many deliveries are pending
        let query = format!(
            "SELECT pending, created_at FROM \
             (SELECT count(*) AS pending, {OLDEST_EVENT_ID} AS oldest FROM deliveries WHERE {PENDING}) AS queued \
             LEFT JOIN events ON id = oldest"
        ); // ids increase with time
        let statistics = sql::<(BigInt, Nullable<SqlTimestamp>)>(&query);
        let (pending, oldest): (i64, Option<DbTimestamp>) = self.query(|conn| statistics.get_result(conn))?;
        let feed_delay_micros = self.query(feed_delay_micros)?;
        Ok(OutboxStatistics {
            pending,
            oldest_created_at: oldest.map(|oldest| oldest.0),
            oldest_transaction_age: Duration::from_micros(feed_delay_micros.try_into().unwrap_or(0)),
        })
    }
}

impl Outbox for Unit<'_> {
    fn queue_events(&mut self, new: &[NewEvent]) -> Result<(), StoreError> {
        self.queued.add_events(new);
        for event in new {
            let row = EventRow::from_event(event);
            self.execute(|conn| diesel::insert_into(events::table).values(&row).execute(conn))?;
            let row = DeliveryRow::for_new_event(event);
            self.execute(|conn| diesel::insert_into(deliveries::table).values(&row).execute(conn))?;
        }
        Ok(())
    }
}

/// Sorts attempts by number, oldest first. The input is newest first.
fn sort_attempts(mut attempts: Vec<RecordedAttempt>) -> Vec<RecordedAttempt> {
    attempts.reverse();
    attempts.sort_by_key(|attempt| attempt.number);
    attempts
}

/// The column of the event's id by which to filter and sort, so that the index over the requested state or kind is
/// used. For pending events that is prevented: they are few, and are read by the index `deliveries_due`, whose order
/// differs.
fn id_column(query: &EventQuery) -> String {
    match query.state {
        None if query.kind.is_some() => "events.id".to_owned(),
        Some(EventState::Pending) => format!("{WITHOUT_INDEX}deliveries.event_id"),
        _ => "deliveries.event_id".to_owned(),
    }
}

/// The latest attempts at an event, newest first: their ids increase with time.
#[diesel::dsl::auto_type]
fn latest_attempts(id: EventId, limit: i64) -> _ {
    let event: Id<EventId> = Id(id);
    attempts::table.filter(attempts::event_id.eq(event)).order(attempts::id.desc()).limit(limit)
}

/// An id below every id that was created at a time or later, provided that the clock was not set back by more than
/// [`CLOCK_SET_BACK_MICROS_MAX`].
pub(super) fn first_id_since(since: Timestamp) -> Uuid {
    first_id_of_millisecond((since.unix_micros() - CLOCK_SET_BACK_MICROS_MAX) / 1_000)
}
