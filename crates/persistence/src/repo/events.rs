//! Events in the outbox.

use std::time::Duration;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable};
use guerdon_domain::events::{EventKind, EventState};
use guerdon_domain::notifications::Channel;
use guerdon_domain::ports::{
    EventQuery, EventWithBody, FeedPage, FeedQuery, Lookup, NewEvent, Outbox, OutboxStatistics, QueuedEvent,
    ReadOutbox, RecordedAttempt, StoreError, Timestamp,
};
use guerdon_domain::values::{EventId, ProviderId};
use uuid::Uuid;

use super::super::{BOUND_VALUES_MAX, OLDEST_EVENT_ID, feed_delay_micros};
use super::Unit;
use crate::rows::conditions::{GIVEN_UP, IS_NOT_RECEIVED_EVENT, PENDING};
use crate::rows::schema::{attempts, deliveries, events};
use crate::rows::types::{DbTimestamp, Id, Identifier, SqlTimestamp, first_id_of_millisecond};
use crate::rows::{
    AttemptSummaryRow, DeliveryRow, DeliveryStateRow, EventRow, QueuedEventRow, RecordedAttemptRow,
};
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

    fn list_attempts(&mut self, id: EventId, limit: i64) -> Result<Vec<RecordedAttempt>, StoreError> {
        let query = latest_attempts(id, limit).select(RecordedAttemptRow::as_select());
        let rows: Vec<RecordedAttemptRow> = self.query(|conn| query.get_results(conn))?;
        self.sort_attempts(rows.into_iter().map(RecordedAttemptRow::into_recorded_attempt))
    }

    fn list_attempts_without_responses(
        &mut self,
        id: EventId,
        limit: i64,
    ) -> Result<Vec<RecordedAttempt>, StoreError> {
        let query = latest_attempts(id, limit).select(AttemptSummaryRow::as_select());
        let rows: Vec<AttemptSummaryRow> = self.query(|conn| query.get_results(conn))?;
        self.sort_attempts(rows.into_iter().map(AttemptSummaryRow::into_recorded_attempt))
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

impl Unit<'_> {
    /// Sorts attempts, which were read newest first, oldest first.
    fn sort_attempts(
        &mut self,
        newest_first: impl DoubleEndedIterator<Item = Result<RecordedAttempt, StoreError>>,
    ) -> Result<Vec<RecordedAttempt>, StoreError> {
        let mut attempts: Vec<RecordedAttempt> = self.record_failure(newest_first.rev().collect())?;
        attempts.sort_by_key(|attempt| attempt.number);
        Ok(attempts)
    }
}

/// The latest attempts at an event, newest first: their ids increase with time.
#[diesel::dsl::auto_type]
fn latest_attempts(id: EventId, limit: i64) -> _ {
    let event: Id<EventId> = Id(id);
    attempts::table.filter(attempts::event_id.eq(event)).order(attempts::id.desc()).limit(limit)
}

/// An id below every id that was created at a time or later, provided that the clock was not set back by more
/// than an hour.
pub(super) fn first_id_since(since: Timestamp) -> Uuid {
    first_id_of_millisecond(since.unix_micros() / 1_000 - 3_600_000)
}
