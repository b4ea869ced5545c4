//! A provider's events in the order in which their transactions were settled, with their delivery states.

use std::collections::{HashMap, HashSet};

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use guerdon_domain::ports::{Feed, FeedPlace, FeedWanted, Lookup, MadeAttempt, StoreError, ToldEvent};
use guerdon_domain::values::{EventId, ProviderId, Timestamp, fit};

use super::super::feed_before;
use super::Unit;
use crate::rows::schema::{attempts, deliveries, events};
use crate::rows::types::{At, Id, Identifier, Moment};
use crate::rows::{FareRow, MadeAttemptRow, QueuedEventRow};

/// The maximum duration of a transaction that writes events.
const SLACK_MICROS: i64 = 60_000_000;
/// The maximum number of events that are read to find those of a kind or a state. The client continues after
/// them.
const LOOKED_AT: i64 = 1_000;

impl Unit<'_> {
    pub(super) fn feed_part(&mut self, wanted: &FeedWanted) -> Result<Feed, StoreError> {
        let begun = match (wanted.after, wanted.since) {
            (None, Some(since)) => self.place_before(wanted.provider, since)?,
            (after, _) => after,
        };
        let wanted = &FeedWanted { after: begun, ..*wanted };
        let is_filtered = wanted.kind.is_some() || wanted.state.is_some();
        let places = self.feed_places(wanted, if is_filtered { LOOKED_AT } else { wanted.limit })?;
        let mut ids: Vec<EventId> = places.iter().map(|place| place.id).collect();
        let mut next = places.last().copied();
        if is_filtered {
            let matching = self.matching(&ids, wanted)?;
            ids.retain(|id| matching.contains(id));
            if let Some(last) = ids.get(fit::<usize, _>(wanted.limit - 1)) {
                next = places.iter().find(|place| place.id == *last).copied();
            }
            ids.truncate(fit(wanted.limit));
        }
        let mut told = self.told(&ids)?;
        Ok(Feed {
            events: ids.iter().filter_map(|id| told.remove(id)).collect(),
            next: next.or(wanted.after),
        })
    }

    /// A position before the first event that was created at a time or later. Positions increase with time,
    /// except for transactions that were open meanwhile: so a binary search finds a position a little before
    /// the time.
    fn place_before(
        &mut self,
        provider: ProviderId,
        since: Timestamp,
    ) -> Result<Option<FeedPlace>, StoreError> {
        let since = Timestamp::from_unix_micros(since.unix_micros() - SLACK_MICROS).unwrap_or(since);
        let (mut low, mut high) = (-1, self.query(feed_before)?);
        // The first event at or after `low` was created before the time; the one at `high`, if any, was not.
        while low + 1 < high {
            let middle = low.midpoint(high);
            match self.first_at(provider, middle, high)? {
                Some((position, created_at)) if created_at < since => low = position,
                _ => high = middle,
            }
        }
        Ok((low >= 0).then_some(FeedPlace { position: low, id: EventId::from_uuid(uuid::Uuid::max()) }))
    }

    /// The first event at or after a position and before another.
    fn first_at(
        &mut self,
        provider: ProviderId,
        position: i64,
        before: i64,
    ) -> Result<Option<(i64, Timestamp)>, StoreError> {
        let query = sql::<(BigInt, Moment)>("SELECT position, created_at FROM events WHERE provider_id = ")
            .bind::<Identifier, _>(Id(provider))
            .sql(" AND position >= ")
            .bind::<BigInt, _>(position)
            .sql(" AND position < ")
            .bind::<BigInt, _>(before)
            .sql(" ORDER BY position, id LIMIT 1");
        let found: Option<(i64, At)> = self.query(|conn| query.get_result(conn).optional())?;
        Ok(found.map(|(position, created_at)| (position, created_at.0)))
    }

    fn feed_places(&mut self, wanted: &FeedWanted, limit: i64) -> Result<Vec<FeedPlace>, StoreError> {
        let before = self.query(feed_before)?;
        let after = wanted
            .after
            .unwrap_or(FeedPlace { position: i64::MIN, id: EventId::from_uuid(uuid::Uuid::nil()) });
        let query = sql::<(BigInt, Identifier)>("SELECT position, id FROM events WHERE provider_id = ")
            .bind::<Identifier, _>(Id(wanted.provider))
            .sql(" AND (position, id) > (")
            .bind::<BigInt, _>(after.position)
            .sql(", ")
            .bind::<Identifier, _>(Id(after.id))
            .sql(") AND position < ")
            .bind::<BigInt, _>(before)
            .sql(" ORDER BY position, id LIMIT ")
            .bind::<BigInt, _>(limit);
        let found: Vec<(i64, Id<EventId>)> = self.query(|conn| query.get_results(conn))?;
        Ok(found.into_iter().map(|(position, Id(id))| FeedPlace { position, id }).collect())
    }

    /// Which of these events have the wanted kind and state.
    fn matching(&mut self, ids: &[EventId], wanted: &FeedWanted) -> Result<HashSet<EventId>, StoreError> {
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

    pub(super) fn told(&mut self, ids: &[EventId]) -> Result<HashMap<EventId, ToldEvent>, StoreError> {
        let ids: Vec<Id<EventId>> = ids.iter().map(|id| Id(*id)).collect();
        let rows: Vec<(QueuedEventRow, FareRow, Vec<u8>)> = self.query(|conn| {
            deliveries::table
                .inner_join(events::table)
                .filter(deliveries::event_id.eq_any(ids))
                .select((QueuedEventRow::as_select(), FareRow::as_select(), events::body))
                .get_results(conn)
        })?;
        let read = |(event, fare, body): (QueuedEventRow, FareRow, Vec<u8>)| {
            let event = event.read(fare)?;
            Ok((event.id, ToldEvent { event, body }))
        };
        self.keep(rows.into_iter().map(read).collect())
    }

    pub(super) fn told_event(
        &mut self,
        scope: ProviderId,
        id: EventId,
    ) -> Result<Lookup<ToldEvent>, StoreError> {
        let found = self.told(&[id])?.remove(&id);
        Ok(match found {
            None => Lookup::Absent,
            Some(found) if found.event.provider_id != scope => Lookup::Foreign,
            Some(found) => Lookup::Own(found),
        })
    }

    pub(super) fn attempts_at(&mut self, id: EventId) -> Result<Vec<MadeAttempt>, StoreError> {
        let rows: Vec<MadeAttemptRow> = self.query(|conn| {
            attempts::table
                .filter(attempts::event_id.eq(Id(id)))
                .order((attempts::number, attempts::id))
                .select(MadeAttemptRow::as_select())
                .get_results(conn)
        })?;
        self.keep(rows.into_iter().map(MadeAttemptRow::read).collect())
    }
}
