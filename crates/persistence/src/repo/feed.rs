//! Reads a provider's events in the order of their positions, with their delivery states.

use std::collections::{HashMap, HashSet};

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use guerdon_domain::companies::MoveDirection;
use guerdon_domain::ports::{EventWithBody, FeedPage, FeedPosition, FeedQuery, StoreError};
use guerdon_domain::values::{EventId, ProviderId, Timestamp, checked_cast};

use super::{Unit, feed_complete_before};
use crate::rows::schema::{deliveries, events};
use crate::rows::{DbTimestamp, DeliveryStateRow, Id, Identifier, QueuedEventRow, SqlTimestamp};

/// The assumed maximum duration of a transaction that writes events. A list that starts at a time starts this much
/// earlier, so that it misses no event.
const START_MARGIN_MICROS: i64 = 60_000_000;
/// The maximum number of events that one request examines to find the events of a kind or a state. The client
/// continues after the examined events.
const SCANNED_EVENTS_MAX: i64 = 1_000;

impl Unit<'_> {
    pub(super) fn find_page(&mut self, wanted: &FeedQuery) -> Result<FeedPage, StoreError> {
        let after = match (wanted.after, wanted.since) {
            (None, Some(since)) => self.position_before(wanted.provider, since, START_MARGIN_MICROS)?,
            (after, _) => after,
        };
        let wanted = &FeedQuery { after, ..*wanted };
        let is_filtered = wanted.kind.is_some() || wanted.state.is_some();
        let before = self.query(feed_complete_before)?;
        let limit = if is_filtered { SCANNED_EVENTS_MAX } else { wanted.limit };
        let positions = self.load_positions(wanted.provider, after, before, limit)?;
        let mut ids: Vec<EventId> = positions.iter().map(|position| position.id).collect();
        let mut next = positions.last().copied();
        if is_filtered {
            let matching = self.filter_events(&ids, wanted)?;
            ids.retain(|id| matching.contains(id));
            if let Some(last) = ids.get(checked_cast::<usize, _>(wanted.limit - 1)) {
                next = positions.iter().find(|position| position.id == *last).copied();
            }
            ids.truncate(checked_cast(wanted.limit));
        }
        Ok(FeedPage { ids, next: next.or(wanted.after) })
    }

    /// A position before the first event that arrived at a time or later; `None` if the list must be read from its
    /// beginning. An event of an imported company arrived when the import began, if that is later than its creation.
    /// Any other event arrived when it was created. Positions increase with the time of arrival, except between
    /// transactions that overlapped or after the clock was set back. A binary search therefore looks for `since` minus
    /// `margin_micros`.
    pub(super) fn position_before(
        &mut self,
        provider: ProviderId,
        since: Timestamp,
        margin_micros: i64,
    ) -> Result<Option<FeedPosition>, StoreError> {
        let since = Timestamp::from_unix_micros(since.unix_micros() - margin_micros).unwrap_or(since);
        let (mut low, mut high) = (-1, self.query(feed_complete_before)?);
        // The first event at or after `low` arrived before the time; the one at `high`, if any, did not.
        while low + 1 < high {
            let middle = low.midpoint(high);
            match self.first_event_from(provider, middle, high)? {
                Some((position, arrived_at)) if arrived_at < since => low = position,
                _ => high = middle,
            }
        }
        Ok((low >= 0).then_some(FeedPosition { position: low, id: EventId::from_uuid(uuid::Uuid::max()) }))
    }

    /// The position of the first event at or after one position and before another, and when it arrived.
    fn first_event_from(
        &mut self,
        provider: ProviderId,
        position: i64,
        before: i64,
    ) -> Result<Option<(i64, Timestamp)>, StoreError> {
        let query = sql::<(BigInt, SqlTimestamp, Nullable<SqlTimestamp>)>(&format!(
            "SELECT position, created_at, (SELECT max(created_at) FROM company_moves \
             WHERE company_moves.company_id = events.company_id AND direction = {}) \
             FROM events WHERE provider_id = ",
            MoveDirection::Incoming.code()
        ))
        .bind::<Identifier, _>(Id(provider))
        .sql(" AND position >= ")
        .bind::<BigInt, _>(position)
        .sql(" AND position < ")
        .bind::<BigInt, _>(before)
        .sql(" ORDER BY position, id LIMIT 1");
        type Found = (i64, DbTimestamp, Option<DbTimestamp>);
        let convert = |(position, created_at, imported_at): Found| {
            Ok((position, imported_at.map_or(created_at.0, |imported_at| imported_at.0.max(created_at.0))))
        };
        self.find(convert, |conn| query.get_result(conn))
    }

    /// A provider's events after a position and before another, in their order; `None` starts with the first one.
    pub(super) fn load_positions(
        &mut self,
        provider: ProviderId,
        after: Option<FeedPosition>,
        before: i64,
        limit: i64,
    ) -> Result<Vec<FeedPosition>, StoreError> {
        let after =
            after.unwrap_or(FeedPosition { position: i64::MIN, id: EventId::from_uuid(uuid::Uuid::nil()) });
        let query = sql::<(BigInt, Identifier)>("SELECT position, id FROM events WHERE provider_id = ")
            .bind::<Identifier, _>(Id(provider))
            .sql(" AND (position, id) > (")
            .bind::<BigInt, _>(after.position)
            .sql(", ")
            .bind::<Identifier, _>(Id(after.id))
            .sql(") AND position < ")
            .bind::<BigInt, _>(before)
            .sql(" ORDER BY position, id LIMIT ")
            .bind::<BigInt, _>(limit);
        self.list(|(position, Id(id))| Ok(FeedPosition { position, id }), |conn| query.get_results(conn))
    }

    /// Which of these events have the wanted kind and state.
    fn filter_events(&mut self, ids: &[EventId], wanted: &FeedQuery) -> Result<HashSet<EventId>, StoreError> {
        let ids: Vec<Id<EventId>> = ids.iter().map(|id| Id(*id)).collect();
        let mut found = deliveries::table
            .inner_join(events::table)
            .filter(deliveries::event_id.eq_any(ids))
            .select(deliveries::event_id)
            .into_boxed();
        if let Some(kind) = wanted.kind {
            found = found.filter(events::kind.eq(kind.code()));
        }
        if let Some(state) = wanted.state {
            found = found.filter(deliveries::state.eq(state.code()));
        }
        let found: Vec<Id<EventId>> = self.query(|conn| found.get_results(conn))?;
        Ok(found.into_iter().map(|id| id.0).collect())
    }

    pub(super) fn load_events(
        &mut self,
        ids: &[EventId],
    ) -> Result<HashMap<EventId, EventWithBody>, StoreError> {
        let ids: Vec<Id<EventId>> = ids.iter().map(|id| Id(*id)).collect();
        let convert = |(event, delivery, body): (QueuedEventRow, DeliveryStateRow, Vec<u8>)| {
            let event = event.into_queued_event(delivery)?;
            Ok((event.id, EventWithBody { event, body }))
        };
        let found = self.list(convert, |conn| {
            deliveries::table
                .inner_join(events::table)
                .filter(deliveries::event_id.eq_any(ids))
                .select((QueuedEventRow::as_select(), DeliveryStateRow::as_select(), events::body))
                .get_results(conn)
        })?;
        Ok(found.into_iter().collect())
    }
}
