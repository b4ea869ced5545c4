//! What waits to be sent: events and mails.

use diesel::prelude::*;
use diesel::sql_types::{Binary, SmallInt, Text};
use guerdon_domain::ports::{
    Attempt, ClaimedEvent, ClaimedMail, EventKind, EventState, NewEvent, NewMail, QueuedEvent, StoreError,
};
use guerdon_domain::values::{EventId, ProviderId};

use super::Reading;
use crate::schema::{attempts, events, mails};
use crate::types::{At, Id, Identifier, Moment};

/// The states of events and mails.
pub(crate) mod state {
    /// Not sent yet.
    pub(crate) const PENDING: i16 = 1;
    /// Confirmed by its receiver, or handed to the mail server.
    pub(crate) const DELIVERED: i16 = 2;
    /// Failed for the last time.
    pub(crate) const EXHAUSTED: i16 = 3;
    /// Nowhere to go.
    pub(crate) const UNADDRESSED: i16 = 4;
}

#[derive(Insertable)]
#[diesel(table_name = events, treat_none_as_default_value = false)]
pub(crate) struct EventRow<'a> {
    id: Id,
    provider_id: Id,
    kind: i16,
    body: &'a [u8],
    state: i16,
    attempts: i16,
    next_attempt_at: Option<At>,
    created_at: At,
    attempts_before_replay: i16,
    cause_id: Option<Id>,
}

impl<'a> EventRow<'a> {
    /// Bound values a row.
    pub(crate) const COLUMNS: usize = 10;

    pub(crate) fn of(it: &'a NewEvent) -> Self {
        Self {
            id: Id(it.id.as_uuid()),
            provider_id: Id(it.provider_id.as_uuid()),
            kind: kind_code(it.kind),
            body: &it.body,
            state: if it.addressed { state::PENDING } else { state::UNADDRESSED },
            attempts: 0,
            next_attempt_at: it.addressed.then_some(At(it.created_at)),
            created_at: At(it.created_at),
            attempts_before_replay: 0,
            cause_id: Some(Id(it.cause)),
        }
    }
}

#[derive(Insertable)]
#[diesel(table_name = mails, treat_none_as_default_value = false)]
pub(crate) struct MailRow<'a> {
    id: Id,
    recipient: &'a str,
    subject: &'a str,
    body: &'a str,
    state: i16,
    attempts: i16,
    next_attempt_at: Option<At>,
    created_at: At,
}

impl<'a> MailRow<'a> {
    pub(crate) fn of(it: &'a NewMail) -> Self {
        Self {
            id: Id(it.id),
            recipient: it.recipient.as_str(),
            subject: &it.subject,
            body: &it.body,
            state: state::PENDING,
            attempts: 0,
            next_attempt_at: Some(At(it.created_at)),
            created_at: At(it.created_at),
        }
    }
}

/// The stored number of a state.
pub(crate) fn state_code(it: EventState) -> i16 {
    match it {
        EventState::Pending => state::PENDING,
        EventState::Delivered => state::DELIVERED,
        EventState::Exhausted => state::EXHAUSTED,
        EventState::Unaddressed => state::UNADDRESSED,
    }
}

/// The stored number of a kind.
fn kind_code(it: EventKind) -> i16 {
    match it {
        EventKind::RecognitionReceived => 1,
        EventKind::RecognitionUpdated => 2,
        EventKind::RedemptionCreated => 3,
    }
}

/// An event as an operator sees it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = events)]
pub(crate) struct QueuedEventRow {
    id: Id,
    provider_id: Id,
    kind: i16,
    state: i16,
    attempts: i16,
    next_attempt_at: Option<At>,
    created_at: At,
}

impl QueuedEventRow {
    pub(crate) fn read(self) -> Result<QueuedEvent, StoreError> {
        let reading = Reading { table: "events", id: self.id.0 };
        let kind = EventKind::ALL.into_iter().find(|it| kind_code(*it) == self.kind);
        let state = EventState::ALL.into_iter().find(|it| state_code(*it) == self.state);
        Ok(QueuedEvent {
            id: EventId::from_uuid(self.id.0),
            provider_id: ProviderId::from_uuid(self.provider_id.0),
            kind: reading.make("kind", kind)?,
            state: reading.make("state", state)?,
            attempts: reading.make("attempts", u16::try_from(self.attempts).ok())?,
            next_attempt_at: self.next_attempt_at.map(|it| it.0),
            created_at: self.created_at.0,
        })
    }
}

/// An event that was just claimed.
#[derive(QueryableByName)]
pub(crate) struct ClaimedEventRow {
    #[diesel(sql_type = Identifier)]
    pub(crate) id: Id,
    #[diesel(sql_type = Binary)]
    body: Vec<u8>,
    #[diesel(sql_type = SmallInt)]
    attempts: i16,
    #[diesel(sql_type = SmallInt)]
    attempts_before_replay: i16,
}

impl ClaimedEventRow {
    pub(crate) fn read(self) -> Result<ClaimedEvent, StoreError> {
        let reading = Reading { table: "events", id: self.id.0 };
        let before_replay = u16::try_from(self.attempts_before_replay).ok();
        Ok(ClaimedEvent {
            id: EventId::from_uuid(self.id.0),
            body: self.body,
            attempts: reading.make("attempts", u16::try_from(self.attempts).ok())?,
            attempts_before_replay: reading.make("attempts_before_replay", before_replay)?,
        })
    }
}

#[derive(Insertable)]
#[diesel(table_name = attempts, treat_none_as_default_value = false)]
pub(crate) struct AttemptRow<'a> {
    id: Id,
    event_id: Id,
    number: i16,
    started_at: At,
    duration_micros: i64,
    status: Option<i16>,
    cause: Option<&'a str>,
    answer: &'a [u8],
}

impl<'a> AttemptRow<'a> {
    /// Bound values a row.
    pub(crate) const COLUMNS: usize = 8;

    pub(crate) fn of(event: EventId, it: &'a Attempt) -> Self {
        Self {
            id: Id(it.id),
            event_id: Id(event.as_uuid()),
            number: i16::try_from(it.number).unwrap_or(i16::MAX),
            started_at: At(it.started_at),
            duration_micros: i64::try_from(it.duration.as_micros()).unwrap_or(i64::MAX),
            status: it.status.and_then(|it| i16::try_from(it).ok()),
            cause: it.cause.as_deref(),
            answer: it.answer.get(..1_024).unwrap_or(&it.answer),
        }
    }
}

/// A mail that was just claimed.
#[derive(QueryableByName)]
pub(crate) struct ClaimedMailRow {
    #[diesel(sql_type = Identifier)]
    pub(crate) id: Id,
    #[diesel(sql_type = Text)]
    recipient: String,
    #[diesel(sql_type = Text)]
    subject: String,
    #[diesel(sql_type = Text)]
    body: String,
    #[diesel(sql_type = SmallInt)]
    attempts: i16,
    #[diesel(sql_type = Moment)]
    created_at: At,
}

impl ClaimedMailRow {
    pub(crate) fn read(self) -> Result<ClaimedMail, StoreError> {
        let reading = Reading { table: "mails", id: self.id.0 };
        Ok(ClaimedMail {
            id: self.id.0,
            recipient: self.recipient,
            subject: self.subject,
            body: self.body,
            attempts: reading.make("attempts", u16::try_from(self.attempts).ok())?,
            created_at: self.created_at.0,
        })
    }
}
