//! The outboxes: events and mails that wait to be sent.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable};
use guerdon_domain::ports::{
    Depth, EventState, MailOutbox, NewEvent, NewMail, Outbox, QueuedEvent, ReadOutbox, StoreError, Timestamp,
};
use guerdon_domain::values::{EventId, ProviderId};

use super::super::{BINDS, Db};
use super::Unit;
use crate::rows::{EventRow, MailRow, QueuedEventRow, state, state_code};
use crate::schema::{events, mails};
use crate::types::{At, Id, Moment};

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
        self.query(super::super::take_time)?;
        let mut wanted = events::table.select(QueuedEventRow::as_select()).into_boxed();
        if let Some(provider) = provider {
            wanted = wanted.filter(events::provider_id.eq(Id(provider.as_uuid())));
        }
        if let Some(state) = state {
            wanted = wanted.filter(events::state.eq(state_code(state)));
        }
        let wanted = wanted.order(events::id).limit(limit); // ids rise with time
        let found: Vec<QueuedEventRow> = self.query(|conn| wanted.get_results(conn))?;
        self.keep(found.into_iter().map(QueuedEventRow::read).collect())
    }

    fn outbox_depth(&mut self) -> Result<Depth, StoreError> {
        let query = "SELECT count(*) AS pending, min(created_at) AS oldest FROM events WHERE state = 1";
        let found: DepthRow = self.query(|conn| diesel::sql_query(query).get_result(conn))?;
        Ok(Depth { pending: found.pending, oldest: found.oldest.map(|it| it.0) })
    }
}

impl Outbox for Unit<'_> {
    fn queue_events(&mut self, new: &[NewEvent]) -> Result<(), StoreError> {
        for slice in new.chunks(BINDS / EventRow::COLUMNS) {
            let rows: Vec<EventRow<'_>> = slice.iter().map(EventRow::of).collect();
            self.query(|conn| match rows.as_slice() {
                [one] => diesel::insert_into(events::table).values(one).execute(conn),
                many => diesel::insert_into(events::table).values(many).execute(conn),
            })?;
        }
        self.queued.events |= new.iter().any(|it| it.addressed);
        Ok(())
    }

    fn replay_event(&mut self, id: EventId, now: Timestamp) -> Result<Option<bool>, StoreError> {
        let id = Id(id.as_uuid());
        let there: i64 =
            self.query(|conn| events::table.filter(events::id.eq(id)).count().get_result(conn))?;
        if there == 0 {
            return Ok(None);
        }
        let ended = events::id.eq(id).and(events::state.ne(state::PENDING));
        Ok(Some(self.replay(Box::new(ended), now)? > 0))
    }

    fn replay_events(
        &mut self,
        provider: ProviderId,
        state: EventState,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        self.query(super::super::take_time)?; // a long outage leaves many
        // Written out, so that the index of what is kept can be used.
        let kept = match state {
            EventState::Exhausted => sql::<Bool>("state = 3"),
            EventState::Unaddressed => sql::<Bool>("state = 4"),
            EventState::Pending | EventState::Delivered => return Ok(0),
        };
        let kept = events::provider_id.eq(Id(provider.as_uuid())).and(kept);
        self.replay(Box::new(kept), now)
    }
}

/// Which events.
type Condition = Box<dyn BoxableExpression<events::table, Db, SqlType = Bool>>;

impl Unit<'_> {
    /// Makes events due now, on a schedule that begins anew.
    fn replay(&mut self, which: Condition, now: Timestamp) -> Result<usize, StoreError> {
        let changed = self.query(|conn| {
            diesel::update(events::table.filter(which))
                .set((
                    events::state.eq(state::PENDING),
                    events::attempts_before_replay.eq(events::attempts),
                    events::next_attempt_at.eq(Some(At(now))),
                ))
                .execute(conn)
        })?;
        self.queued.events |= changed > 0;
        Ok(changed)
    }
}

impl MailOutbox for Unit<'_> {
    fn queue_mails(&mut self, new: &[NewMail]) -> Result<(), StoreError> {
        for mail in new {
            let row = MailRow::of(mail);
            self.query(|conn| diesel::insert_into(mails::table).values(&row).execute(conn))?;
        }
        self.queued.mails |= !new.is_empty();
        Ok(())
    }
}
