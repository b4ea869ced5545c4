//! Events in the outbox.

use std::time::Duration;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable};
use guerdon_domain::events::{EventKind, EventState};
use guerdon_domain::ports::{
    Depth, EventsWanted, Feed, FeedWanted, Lookup, MadeAttempt, NewEvent, Outbox, QueuedEvent, ReadOutbox,
    Replays, StoreError, Timestamp, ToldEvent,
};
use guerdon_domain::values::{EventId, ProviderId};
use uuid::Uuid;

use super::super::{BINDS, Db, FEED_HELD_MICROS, OLDEST_ID};
use super::Unit;
use crate::rows::conditions::{EXHAUSTED, GIVEN_UP, NOT_RECEIVED, PENDING, UNADDRESSED};
use crate::rows::schema::{deliveries, events};
use crate::rows::types::{At, Id, Identifier, Moment};
use crate::rows::{DeliveryRow, EventRow, FareRow, QueuedEventRow};
use crate::slices::slices;

#[derive(QueryableByName)]
struct DepthRow {
    #[diesel(sql_type = BigInt)]
    pending: i64,
    #[diesel(sql_type = Nullable<Moment>)]
    oldest: Option<At>,
    #[diesel(sql_type = BigInt)]
    mails_waiting: i64,
    #[diesel(sql_type = BigInt)]
    mails_given_up: i64,
    #[diesel(sql_type = BigInt)]
    feed_held_micros: i64,
}

impl ReadOutbox for Unit<'_> {
    fn events(&mut self, asked: &EventsWanted) -> Result<Vec<QueuedEvent>, StoreError> {
        self.query(super::super::lift_time_limit)?;
        let mut wanted = deliveries::table
            .inner_join(events::table)
            .select((QueuedEventRow::as_select(), FareRow::as_select()))
            .into_boxed();
        if let Some(state) = asked.state {
            wanted = wanted.filter(sql::<Bool>(&format!("deliveries.state = {}", state.code())));
        }
        if let Some(kind) = asked.kind {
            wanted = wanted.filter(sql::<Bool>(&format!("events.kind = {}", kind.code())));
            if kind != EventKind::RecognitionReceived {
                wanted = wanted.filter(sql::<Bool>(&format!("events.{NOT_RECEIVED}")));
            }
        }
        if let Some(since) = asked.since {
            wanted = wanted.filter(deliveries::event_id.ge(Id(first_id(since))));
            wanted = wanted.filter(events::created_at.ge(At(since)));
        }
        // Each order follows an index over the wanted rows. Ids increase with time, and so do positions.
        let cursor = asked.before.map(|before| (before, "<")).or(asked.after.map(|after| (after, ">")));
        let wanted = match (asked.provider, asked.state, asked.since) {
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
                if asked.after.is_some() {
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
                    if state.is_none() && asked.kind.is_some() { "events.id" } else { "deliveries.event_id" };
                if let Some((cursor, side)) = cursor {
                    let beyond = sql::<Bool>(&format!("{id} {side} ")).bind::<Identifier, _>(Id(cursor));
                    wanted = wanted.filter(beyond);
                }
                let direction = if asked.after.is_some() { "ASC" } else { "DESC" };
                wanted.order(sql::<Bool>(&format!("{id} {direction}")))
            }
        };
        let wanted = wanted.limit(asked.limit);
        let mut found: Vec<(QueuedEventRow, FareRow)> = self.query(|conn| wanted.get_results(conn))?;
        if asked.after.is_some() {
            found.reverse();
        }
        self.keep(found.into_iter().map(|(event, fare)| event.read(fare)).collect())
    }

    fn feed(&mut self, wanted: &FeedWanted) -> Result<Feed, StoreError> {
        self.feed_part(wanted)
    }

    fn event(&mut self, scope: ProviderId, id: EventId) -> Result<Lookup<ToldEvent>, StoreError> {
        self.told_event(scope, id)
    }

    fn anybodys_event(&mut self, id: EventId) -> Result<Option<ToldEvent>, StoreError> {
        Ok(self.told(&[id])?.remove(&id))
    }

    fn attempts(&mut self, id: EventId) -> Result<Vec<MadeAttempt>, StoreError> {
        self.attempts_at(id)
    }

    fn outbox_depth(&mut self) -> Result<Depth, StoreError> {
        self.query(super::super::lift_time_limit)?; // a long outage leaves many
        let query = format!(
            "SELECT pending, created_at AS oldest, (SELECT count(*) FROM mails WHERE {PENDING}) AS mails_waiting, \
             (SELECT count(*) FROM mails WHERE {GIVEN_UP}) AS mails_given_up, \
             {FEED_HELD_MICROS} AS feed_held_micros FROM \
             (SELECT count(*) AS pending, {OLDEST_ID} AS oldest FROM deliveries WHERE {PENDING}) AS depth \
             LEFT JOIN events ON id = oldest"
        ); // ids increase with time
        let found: DepthRow = self.query(|conn| diesel::sql_query(query).get_result(conn))?;
        Ok(Depth {
            pending: found.pending,
            oldest: found.oldest.map(|oldest| oldest.0),
            mails_waiting: found.mails_waiting,
            mails_given_up: found.mails_given_up,
            feed_held: Duration::from_micros(found.feed_held_micros.try_into().unwrap_or(0)),
        })
    }
}

impl Outbox for Unit<'_> {
    fn queue_events(&mut self, new: &[NewEvent]) -> Result<(), StoreError> {
        self.queued.events |= new.iter().any(|event| event.addressed);
        for slice in
            slices(new, BINDS / EventRow::COLUMNS.max(DeliveryRow::COLUMNS), |event| event.body.len())
        {
            let rows: Vec<EventRow<'_>> = slice.iter().map(EventRow::of).collect();
            self.query(|conn| match rows.as_slice() {
                [one] => diesel::insert_into(events::table).values(one).execute(conn),
                many => diesel::insert_into(events::table).values(many).execute(conn),
            })?;
            let rows: Vec<DeliveryRow> = slice.iter().map(DeliveryRow::of).collect();
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
        let there: i64 = self
            .query(|conn| deliveries::table.filter(deliveries::event_id.eq(id)).count().get_result(conn))?;
        if there == 0 {
            return Ok(None);
        }
        let ended = deliveries::event_id.eq(id).and(deliveries::state.ne(EventState::Pending.code()));
        let waits = deliveries::event_id.eq(id).and(sql::<Bool>(PENDING));
        let replayed = self.replay(Box::new(ended), now)? + self.hasten(Box::new(waits), now)?;
        Ok(Some(replayed > 0))
    }

    fn replay_since(
        &mut self,
        provider: ProviderId,
        since: Timestamp,
        state: Option<EventState>,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let mut replayed = 0;
        for state in state.map_or(EventState::ALL.to_vec(), |state| vec![state]) {
            let which = since_then(provider, since, state);
            replayed += match state {
                EventState::Pending => self.hasten(which, now)?,
                _ => self.replay(which, now)?,
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
        self.query(super::super::lift_time_limit)?; // a long outage leaves many
        let kept = match state {
            EventState::Exhausted => sql::<Bool>(EXHAUSTED),
            EventState::Unaddressed => sql::<Bool>(UNADDRESSED),
            EventState::Pending | EventState::Delivered => return Ok(0),
        };
        let kept = deliveries::provider_id.eq(Id(provider)).and(kept);
        self.replay(Box::new(kept), now)
    }
}

/// A filter of deliveries.
type Condition = Box<dyn BoxableExpression<deliveries::table, Db, SqlType = Bool>>;

impl Unit<'_> {
    /// Makes ended events due now, with a new schedule.
    fn replay(&mut self, which: Condition, now: Timestamp) -> Result<usize, StoreError> {
        let changed = self.query(|conn| {
            diesel::update(deliveries::table.filter(which))
                .set((
                    deliveries::state.eq(EventState::Pending.code()),
                    deliveries::attempts_before_replay.eq(deliveries::attempts),
                    deliveries::next_attempt_at.eq(Some(At(now))),
                ))
                .execute(conn)
        })?;
        self.queued.events |= changed > 0;
        Ok(changed)
    }

    /// Makes pending events due now that wait for a later time, except those with an attempt in progress.
    fn hasten(&mut self, which: Condition, now: Timestamp) -> Result<usize, StoreError> {
        let now = At(now);
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

/// A provider's events in a state that were created at a time or later. Ids increase with time, so events
/// that are much older are not read.
fn since_then(provider: ProviderId, since: Timestamp, state: EventState) -> Condition {
    Box::new(
        sql::<Bool>("provider_id = ")
            .bind::<Identifier, _>(Id(provider))
            .sql(&format!(" AND state = {} AND event_id >= ", state.code()))
            .bind::<Identifier, _>(Id(first_id(since)))
            .sql(" AND EXISTS (SELECT 1 FROM events WHERE id = event_id AND created_at >= ")
            .bind::<Moment, _>(At(since))
            .sql(")"),
    )
}

/// An id below every id that was created at a time or later, provided that the clock was not set back by more
/// than an hour.
pub(super) fn first_id(since: Timestamp) -> Uuid {
    let hour_before = since.unix_micros() / 1_000 - 3_600_000;
    Uuid::from_u128(u128::try_from(hour_before).unwrap_or_default() << 80)
}
