//! The delivery states of events, and the attempts to deliver them.

use std::time::Duration;

use diesel::prelude::*;
use diesel::sql_types::Integer;
use guerdon_domain::events::EventState;
use guerdon_domain::ports::{Attempt, ClaimedEvent, Fate, MadeAttempt, NewEvent, Settlement, StoreError};
use guerdon_domain::values::{CompanyId, EventId, ProviderId, fit};

use super::Reading;
use super::columns::row;
use super::schema::{attempts, deliveries, events};
use super::types::{At, Id};

row! {
    /// The delivery state of a new event.
    #[derive(Insertable)]
    struct DeliveryRow in deliveries {
        event_id: Id<EventId>,
        company_id: Id<CompanyId>,
        provider_id: Id<ProviderId>,
        state: i16,
        attempts: i32,
        attempts_before_replay: i32,
        next_attempt_at: Option<At>,
    }
}

impl DeliveryRow {
    pub(crate) fn of(it: &NewEvent) -> Self {
        let state = if it.addressed { EventState::Pending } else { EventState::Unaddressed };
        Self {
            event_id: Id(it.id),
            company_id: Id(it.company_id),
            provider_id: Id(it.provider_id),
            state: state.code(),
            attempts: 0,
            attempts_before_replay: 0,
            next_attempt_at: it.addressed.then_some(At(it.created_at)),
        }
    }
}

/// The delivery state of an event.
#[derive(Queryable, Selectable)]
#[diesel(table_name = deliveries)]
pub(crate) struct FareRow {
    pub(super) state: i16,
    pub(super) attempts: i32,
    pub(super) next_attempt_at: Option<At>,
}

/// An event that was just claimed.
#[derive(QueryableByName)]
#[diesel(table_name = events)]
pub(crate) struct ClaimedEventRow {
    pub(crate) id: Id<EventId>,
    company_id: Id<CompanyId>,
    body: Vec<u8>,
    #[diesel(sql_type = Integer)]
    attempts: i32,
    #[diesel(sql_type = Integer)]
    attempts_before_replay: i32,
}

impl ClaimedEventRow {
    pub(crate) fn read(self) -> Result<ClaimedEvent, StoreError> {
        let reading = Reading { table: "events", id: &self.id.0 };
        let before_replay = u32::try_from(self.attempts_before_replay).ok();
        Ok(ClaimedEvent {
            id: self.id.0,
            company_id: self.company_id.0,
            body: self.body,
            attempts: reading.make("attempts", u32::try_from(self.attempts).ok())?,
            attempts_before_replay: reading.make("attempts_before_replay", before_replay)?,
        })
    }
}

row! {
    #[derive(Insertable)]
    struct AttemptRow<'a> in attempts {
        event_id: Id<EventId>,
        id: Id,
        company_id: Id<CompanyId>,
        number: i32,
        started_at: At,
        duration_micros: i64,
        status: Option<i16>,
        cause: Option<&'a str>,
        answer: &'a [u8],
    }
}

impl<'a> AttemptRow<'a> {
    pub(crate) fn of(event: EventId, it: &'a Attempt) -> Self {
        Self {
            event_id: Id(event),
            id: Id(it.id),
            company_id: Id(it.company_id),
            number: fit(it.number),
            started_at: At(it.started_at),
            duration_micros: fit(it.duration.as_micros()),
            status: it.status.and_then(|status| i16::try_from(status).ok()),
            cause: it.cause.as_deref(),
            answer: it.answer.get(..1_024).unwrap_or(&it.answer),
        }
    }
}

/// A recorded attempt.
#[derive(Queryable, Selectable)]
#[diesel(table_name = attempts)]
pub(crate) struct MadeAttemptRow {
    event_id: Id<EventId>,
    number: i32,
    started_at: At,
    duration_micros: i64,
    status: Option<i16>,
    cause: Option<String>,
}

impl MadeAttemptRow {
    pub(crate) fn read(self) -> Result<MadeAttempt, StoreError> {
        let reading = Reading { table: "attempts", id: &self.event_id.0 };
        let micros = reading.make("duration_micros", u64::try_from(self.duration_micros).ok())?;
        Ok(MadeAttempt {
            number: reading.make("number", u32::try_from(self.number).ok())?,
            started_at: self.started_at.0,
            duration: Duration::from_micros(micros),
            status: self.status.and_then(|status| u16::try_from(status).ok()),
            cause: self.cause,
        })
    }
}

row! {
    /// The state of a claimed event after its settlement and when it is due again. `state_back` and
    /// `due_back` apply if the attempt was already recorded.
    struct SettledRow {
        event_id: Id<EventId>,
        lease_id: Id,
        attempt_id: Option<Id>,
        state: i16,
        due: Option<At>,
        state_back: i16,
        due_back: Option<At>,
    }
}

impl SettledRow {
    pub(crate) fn of(it: &Settlement) -> Self {
        let ((state, due), (state_back, due_back)) = (faring(it.fate), faring(it.given_back()));
        Self {
            event_id: Id(it.event),
            lease_id: Id(it.lease),
            attempt_id: it.attempt.as_ref().map(|attempt| Id(attempt.id)),
            state,
            due,
            state_back,
            due_back,
        }
    }
}

fn faring(fate: Fate) -> (i16, Option<At>) {
    let (state, due) = match fate {
        Fate::Delivered => (EventState::Delivered, None),
        Fate::RetryAt(at) | Fate::Released(at) => (EventState::Pending, Some(At(at))),
        Fate::Exhausted => (EventState::Exhausted, None),
        Fate::Unaddressed => (EventState::Unaddressed, None),
    };
    (state.code(), due)
}
