//! A provider's events in the order in which their transactions were settled, and what became of each.

use std::collections::{HashMap, HashSet};

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use guerdon_domain::ports::{Feed, FeedPlace, FeedWanted, Lookup, MadeAttempt, StoreError, ToldEvent};
use guerdon_domain::values::{EventId, ProviderId, Timestamp, fit};

use super::super::{feed_before, place};
use super::Unit;
use crate::rows::schema::{attempts, deliveries, events};
use crate::rows::types::{Id, Identifier};
use crate::rows::{DatedPlaceRow, FareRow, FeedPlaceRow, MadeAttemptRow, QueuedEventRow};

/// No transaction that writes events is open for longer.
const SLACK_MICROS: i64 = 60_000_000;
/// So many events are looked at for those of a kind or a state; who asks goes on behind them.
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
        let mut ids: Vec<EventId> = places.iter().map(|it| it.id).collect();
        let mut next = places.last().copied();
        if is_filtered {
            let matching = self.matching(&ids, wanted)?;
            ids.retain(|it| matching.contains(it));
            if let Some(last) = ids.get(fit::<usize, _>(wanted.limit - 1)) {
                next = places.iter().find(|it| it.id == *last).copied();
            }
            ids.truncate(fit(wanted.limit));
        }
        let mut told = self.told(&ids)?;
        Ok(Feed {
            events: ids.iter().filter_map(|it| told.remove(it)).collect(),
            next: next.or(wanted.after),
        })
    }

    /// A place behind which stands what was caused at a moment or later. Places rise with time, but for transactions that
    /// were open meanwhile: so it is looked for, by halves, a little before the moment.
    fn place_before(
        &mut self,
        provider: ProviderId,
        since: Timestamp,
    ) -> Result<Option<FeedPlace>, StoreError> {
        let since = Timestamp::from_unix_micros(since.unix_micros() - SLACK_MICROS).unwrap_or(since);
        let (mut low, mut high) = (-1, self.query(feed_before)?);
        // The first event at `low` or behind it was caused before; that at `high`, if there is one, was not.
        while low + 1 < high {
            let middle = low.midpoint(high);
            match self.first_at(provider, middle, high)? {
                Some((position, created_at)) if created_at < since => low = position,
                _ => high = middle,
            }
        }
        Ok((low >= 0).then_some(FeedPlace { position: low, id: EventId::from_uuid(uuid::Uuid::max()) }))
    }

    /// The first event at a position or behind it, before another.
    fn first_at(
        &mut self,
        provider: ProviderId,
        position: i64,
        before: i64,
    ) -> Result<Option<(i64, Timestamp)>, StoreError> {
        let query = format!(
            "SELECT position, created_at FROM events WHERE provider_id = {} AND position >= {} AND position < {} \
             ORDER BY position, id LIMIT 1",
            place(1),
            place(2),
            place(3)
        );
        let row: Option<DatedPlaceRow> = self.query(|conn| {
            diesel::sql_query(query)
                .bind::<Identifier, _>(Id(provider))
                .bind::<BigInt, _>(position)
                .bind::<BigInt, _>(before)
                .get_result(conn)
                .optional()
        })?;
        Ok(row.map(DatedPlaceRow::read))
    }

    fn feed_places(&mut self, wanted: &FeedWanted, limit: i64) -> Result<Vec<FeedPlace>, StoreError> {
        let before = self.query(feed_before)?;
        let after = wanted
            .after
            .unwrap_or(FeedPlace { position: i64::MIN, id: EventId::from_uuid(uuid::Uuid::nil()) });
        let query = format!(
            "SELECT position, id FROM events WHERE provider_id = {} AND (position, id) > ({}, {}) AND position < {} \
             ORDER BY position, id LIMIT {}",
            place(1),
            place(2),
            place(3),
            place(4),
            place(5)
        );
        let rows: Vec<FeedPlaceRow> = self.query(|conn| {
            diesel::sql_query(query)
                .bind::<Identifier, _>(Id(wanted.provider))
                .bind::<BigInt, _>(after.position)
                .bind::<Identifier, _>(Id(after.id))
                .bind::<BigInt, _>(before)
                .bind::<BigInt, _>(limit)
                .get_results(conn)
        })?;
        Ok(rows.into_iter().map(FeedPlaceRow::read).collect())
    }

    /// Which of these are of the kind and in the state that are wanted.
    fn matching(&mut self, ids: &[EventId], wanted: &FeedWanted) -> Result<HashSet<EventId>, StoreError> {
        let ids: Vec<Id<EventId>> = ids.iter().map(|it| Id(*it)).collect();
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
        Ok(found.into_iter().map(|it| it.0).collect())
    }

    pub(super) fn told(&mut self, ids: &[EventId]) -> Result<HashMap<EventId, ToldEvent>, StoreError> {
        let ids: Vec<Id<EventId>> = ids.iter().map(|it| Id(*it)).collect();
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
            Some(it) if it.event.provider_id != scope => Lookup::Foreign,
            Some(it) => Lookup::Own(it),
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
