//! The delivery states of events, and the attempts to deliver them.

use std::time::Duration;

use diesel::prelude::*;
use diesel::sql_types::Integer;
use guerdon_domain::companies::HANDED_OVER_DELIVERY_STATE;
use guerdon_domain::events::EventState;
use guerdon_domain::ports::{
    Attempt, ClaimedEvent, DeliveryOutcome, NewEvent, RecordedAttempt, Settlement, StoreError,
};
use guerdon_domain::values::{CompanyId, EventId, ProviderId, checked_cast};

use super::schema::{attempts, deliveries, events};
use super::{DbTimestamp, Id, RowReader, declare_row};

declare_row! {
    /// The delivery state of a new event.
    #[derive(Insertable)]
    struct DeliveryRow in deliveries {
        event_id: Id<EventId>,
        company_id: Id<CompanyId>,
        provider_id: Id<ProviderId>,
        state: i16,
        attempts: i32,
        attempts_before_replay: i32,
        next_attempt_at: Option<DbTimestamp>,
    }
}

impl DeliveryRow {
    pub(crate) fn for_new_event(event: &NewEvent) -> Self {
        let state = if event.addressed { EventState::Pending } else { EventState::Unaddressed };
        Self {
            event_id: Id(event.id),
            company_id: Id(event.company_id),
            provider_id: Id(event.provider_id),
            state: state.code(),
            attempts: 0,
            attempts_before_replay: 0,
            next_attempt_at: event.addressed.then_some(DbTimestamp(event.created_at)),
        }
    }
}

/// The delivery state of an event.
#[derive(Queryable, Selectable)]
#[diesel(table_name = deliveries)]
pub(crate) struct DeliveryStateRow {
    state: i16,
    pub(super) attempts: i32,
    pub(super) next_attempt_at: Option<DbTimestamp>,
}

impl DeliveryStateRow {
    /// A delivery that was handed over counts as pending: it waits for its next attempt, in another cell.
    pub(super) fn to_state(&self) -> Option<EventState> {
        if self.state == HANDED_OVER_DELIVERY_STATE {
            Some(EventState::Pending)
        } else {
            EventState::from_code(self.state)
        }
    }
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
    pub(crate) fn into_claimed_event(self) -> Result<ClaimedEvent, StoreError> {
        let reader = RowReader { table: "events", id: &self.id.0 };
        let before_replay = u32::try_from(self.attempts_before_replay).ok();
        Ok(ClaimedEvent {
            id: self.id.0,
            company_id: self.company_id.0,
            body: self.body,
            attempts: reader.require_valid("attempts", u32::try_from(self.attempts).ok())?,
            attempts_before_replay: reader.require_valid("attempts_before_replay", before_replay)?,
        })
    }
}

declare_row! {
    #[derive(Insertable)]
    struct AttemptRow<'a> in attempts {
        event_id: Id<EventId>,
        id: Id,
        company_id: Id<CompanyId>,
        number: i32,
        started_at: DbTimestamp,
        duration_micros: i64,
        status: Option<i16>,
        failure: Option<&'a str>,
        response_headers: Option<&'a str>,
        response: &'a [u8],
    }
}

impl<'a> AttemptRow<'a> {
    pub(crate) fn from_attempt(event: EventId, attempt: &'a Attempt) -> Self {
        Self {
            event_id: Id(event),
            id: Id(attempt.id),
            company_id: Id(attempt.company_id),
            number: checked_cast(attempt.number),
            started_at: DbTimestamp(attempt.started_at),
            duration_micros: checked_cast(attempt.duration.as_micros()),
            status: attempt.status.and_then(|status| i16::try_from(status).ok()),
            failure: attempt.error.as_deref(),
            response_headers: attempt.response_headers.as_deref(),
            response: attempt.response_body.get(..4_096).unwrap_or(&attempt.response_body),
        }
    }
}

/// A recorded attempt.
#[derive(Queryable, Selectable)]
#[diesel(table_name = attempts)]
pub(crate) struct RecordedAttemptRow {
    #[diesel(embed)]
    summary: AttemptSummaryRow,
    response_headers: Option<String>,
    response: Vec<u8>,
}

/// A recorded attempt without its response.
#[derive(Queryable, Selectable)]
#[diesel(table_name = attempts)]
pub(crate) struct AttemptSummaryRow {
    event_id: Id<EventId>,
    number: i32,
    started_at: DbTimestamp,
    duration_micros: i64,
    status: Option<i16>,
    failure: Option<String>,
}

impl RecordedAttemptRow {
    pub(crate) fn into_recorded_attempt(self) -> Result<RecordedAttempt, StoreError> {
        let attempt = self.summary.into_recorded_attempt()?;
        Ok(RecordedAttempt {
            response_headers: self.response_headers,
            response_body: self.response,
            ..attempt
        })
    }
}

impl AttemptSummaryRow {
    /// The attempt with an empty response.
    pub(crate) fn into_recorded_attempt(self) -> Result<RecordedAttempt, StoreError> {
        let reader = RowReader { table: "attempts", id: &self.event_id.0 };
        let micros = reader.require_valid("duration_micros", u64::try_from(self.duration_micros).ok())?;
        Ok(RecordedAttempt {
            number: reader.require_valid("number", u32::try_from(self.number).ok())?,
            started_at: self.started_at.0,
            duration: Duration::from_micros(micros),
            status: self.status.and_then(|status| u16::try_from(status).ok()),
            error: self.failure,
            response_headers: None,
            response_body: Vec::new(),
        })
    }
}

declare_row! {
    /// The state of a claimed event after its settlement and when it is due again. `state_if_recorded` and
    /// `due_if_recorded` apply if the attempt was already recorded.
    struct SettlementRow {
        event_id: Id<EventId>,
        lease_id: Id,
        attempt_id: Option<Id>,
        state: i16,
        due: Option<DbTimestamp>,
        state_if_recorded: i16,
        due_if_recorded: Option<DbTimestamp>,
    }
}

impl SettlementRow {
    pub(crate) fn from_settlement(settlement: &Settlement) -> Self {
        let ((state, due), (state_if_recorded, due_if_recorded)) =
            (outcome_columns(settlement.outcome), outcome_columns(settlement.outcome_after_reclaim()));
        Self {
            event_id: Id(settlement.event),
            lease_id: Id(settlement.lease),
            attempt_id: settlement.attempt.as_ref().map(|attempt| Id(attempt.id)),
            state,
            due,
            state_if_recorded,
            due_if_recorded,
        }
    }
}

fn outcome_columns(outcome: DeliveryOutcome) -> (i16, Option<DbTimestamp>) {
    let (state, due) = match outcome {
        DeliveryOutcome::Delivered => (EventState::Delivered, None),
        DeliveryOutcome::RetryAt(at) | DeliveryOutcome::Released(at) => {
            (EventState::Pending, Some(DbTimestamp(at)))
        }
        DeliveryOutcome::Exhausted => (EventState::Exhausted, None),
        DeliveryOutcome::Unaddressed => (EventState::Unaddressed, None),
    };
    (state.code(), due)
}
