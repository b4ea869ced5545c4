//! Events that wait to be sent.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable};
use guerdon_domain::events::EventState;
use guerdon_domain::ports::{
    Depth, NewEvent, Outbox, QueuedEvent, ReadOutbox, Replays, StoreError, Timestamp,
};
use guerdon_domain::values::{EventId, ProviderId};

use super::super::{BINDS, Db, OLDEST_ID};
use super::Unit;
use super::slices::slices;
use crate::rows::conditions::{EXHAUSTED, PENDING, UNADDRESSED};
use crate::rows::schema::{deliveries, events};
use crate::rows::types::{At, Id, Moment};
use crate::rows::{DeliveryRow, EventRow, FareRow, QueuedEventRow};

#[derive(QueryableByName)]
struct DepthRow {
    #[diesel(sql_type = BigInt)]
    pending: i64,
    #[diesel(sql_type = Nullable<Moment>)]
    oldest: Option<At>,
}

impl ReadOutbox for Unit<'_> {
    fn events(
        &mut self,
        provider: Option<ProviderId>,
        state: Option<EventState>,
        limit: i64,
    ) -> Result<Vec<QueuedEvent>, StoreError> {
        self.query(super::super::lift_time_limit)?;
        let mut wanted = deliveries::table
            .inner_join(events::table)
            .select((QueuedEventRow::as_select(), FareRow::as_select()))
            .into_boxed();
        if let Some(provider) = provider {
            wanted = wanted.filter(deliveries::provider_id.eq(Id(provider)));
        }
        if let Some(state) = state {
            wanted = wanted.filter(deliveries::state.eq(state.code()));
        }
        let wanted = wanted.order(deliveries::event_id).limit(limit); // ids rise with time
        let found: Vec<(QueuedEventRow, FareRow)> = self.query(|conn| wanted.get_results(conn))?;
        self.keep(found.into_iter().map(|(event, fare)| event.read(fare)).collect())
    }

    fn outbox_depth(&mut self) -> Result<Depth, StoreError> {
        let query = format!(
            "SELECT pending, created_at AS oldest FROM \
             (SELECT count(*) AS pending, {OLDEST_ID} AS oldest FROM deliveries WHERE {PENDING}) AS depth \
             LEFT JOIN events ON id = oldest"
        ); // ids rise with time
        let found: DepthRow = self.query(|conn| diesel::sql_query(query).get_result(conn))?;
        Ok(Depth { pending: found.pending, oldest: found.oldest.map(|it| it.0) })
    }
}

impl Outbox for Unit<'_> {
    fn queue_events(&mut self, new: &[NewEvent]) -> Result<(), StoreError> {
        self.queued.events |= new.iter().any(|it| it.addressed);
        if let Some(set) = self.set() {
            set.queue_events(new);
            return Ok(());
        }
        for slice in slices(new, BINDS / EventRow::COLUMNS.max(DeliveryRow::COLUMNS), |it| it.body.len()) {
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
        let replayed = self.replay(Box::new(ended), now)? + self.hasten(id, now)?;
        Ok(Some(replayed > 0))
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

/// Which events.
type Condition = Box<dyn BoxableExpression<deliveries::table, Db, SqlType = Bool>>;

impl Unit<'_> {
    /// Makes events due now, on a schedule that begins anew.
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

    /// Makes an event due now that waits for a later moment, unless an attempt is under way.
    fn hasten(&mut self, id: Id<EventId>, now: Timestamp) -> Result<usize, StoreError> {
        let now = At(now);
        let changed = self.query(|conn| {
            diesel::update(deliveries::table.find(id))
                .filter(sql::<Bool>(PENDING).and(deliveries::lease_id.is_null()))
                .filter(deliveries::next_attempt_at.gt(Some(now)))
                .set(deliveries::next_attempt_at.eq(Some(now)))
                .execute(conn)
        })?;
        self.queued.events |= changed > 0;
        Ok(changed)
    }
}
