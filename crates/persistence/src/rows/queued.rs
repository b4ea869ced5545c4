//! What waits to be sent: events and mails.

use diesel::prelude::*;
use diesel::sql_types::{Binary, SmallInt, Text};
use guerdon_domain::events::{EventKind, EventState};
use guerdon_domain::ports::{Attempt, ClaimedEvent, ClaimedMail, NewEvent, NewMail, QueuedEvent, StoreError};
use guerdon_domain::values::{CompanyId, EventId, ProviderId};

use super::Reading;
use crate::rows::schema::{attempts, deliveries, events, mails};
use crate::rows::types::{At, Id, Identifier, Moment};

/// The states of mails.
pub(crate) mod mail {
    pub(crate) const WAITING: i16 = 1;
    pub(crate) const SENT: i16 = 2;
    pub(crate) const GIVEN_UP: i16 = 3;
}

#[derive(Insertable)]
#[diesel(table_name = events, treat_none_as_default_value = false)]
pub(crate) struct EventRow<'a> {
    id: Id,
    company_id: Id,
    provider_id: Id,
    kind: i16,
    cause_id: Id,
    body: &'a [u8],
    created_at: At,
}

impl<'a> EventRow<'a> {
    /// Bound values a row.
    pub(crate) const COLUMNS: usize = 7;

    pub(crate) fn of(it: &'a NewEvent) -> Self {
        Self {
            id: Id(it.id.as_uuid()),
            company_id: Id(it.company_id.as_uuid()),
            provider_id: Id(it.provider_id.as_uuid()),
            kind: it.kind.code(),
            cause_id: Id(it.cause.as_uuid()),
            body: &it.body,
            created_at: At(it.created_at),
        }
    }
}

/// How an event fares, from its beginning on.
#[derive(Insertable)]
#[diesel(table_name = deliveries, treat_none_as_default_value = false)]
pub(crate) struct DeliveryRow {
    event_id: Id,
    company_id: Id,
    provider_id: Id,
    state: i16,
    attempts: i16,
    attempts_before_replay: i16,
    next_attempt_at: Option<At>,
}

impl DeliveryRow {
    /// Bound values a row.
    pub(crate) const COLUMNS: usize = 7;

    pub(crate) fn of(it: &NewEvent) -> Self {
        let state = if it.addressed { EventState::Pending } else { EventState::Unaddressed };
        Self {
            event_id: Id(it.id.as_uuid()),
            company_id: Id(it.company_id.as_uuid()),
            provider_id: Id(it.provider_id.as_uuid()),
            state: state.code(),
            attempts: 0,
            attempts_before_replay: 0,
            next_attempt_at: it.addressed.then_some(At(it.created_at)),
        }
    }
}

#[derive(Insertable)]
#[diesel(table_name = mails, treat_none_as_default_value = false)]
pub(crate) struct MailRow<'a> {
    id: Id,
    company_id: Id,
    recipient: &'a str,
    subject: &'a str,
    body: &'a str,
    state: i16,
    attempts: i16,
    next_attempt_at: Option<At>,
    created_at: At,
}

impl<'a> MailRow<'a> {
    /// Bound values a row.
    pub(crate) const COLUMNS: usize = 9;

    pub(crate) fn of(it: &'a NewMail) -> Self {
        Self {
            id: Id(it.id),
            company_id: Id(it.company_id.as_uuid()),
            recipient: it.recipient.as_str(),
            subject: &it.subject,
            body: &it.body,
            state: mail::WAITING,
            attempts: 0,
            next_attempt_at: Some(At(it.created_at)),
            created_at: At(it.created_at),
        }
    }
}

/// An event without how it fares.
#[derive(Queryable, Selectable)]
#[diesel(table_name = events)]
pub(crate) struct QueuedEventRow {
    id: Id,
    provider_id: Id,
    kind: i16,
    created_at: At,
}

/// How it fares.
#[derive(Queryable, Selectable)]
#[diesel(table_name = deliveries)]
pub(crate) struct FareRow {
    state: i16,
    attempts: i16,
    next_attempt_at: Option<At>,
}

impl QueuedEventRow {
    pub(crate) fn read(self, fare: FareRow) -> Result<QueuedEvent, StoreError> {
        let reading = Reading { table: "events", id: self.id.0 };
        let faring = Reading { table: "deliveries", id: self.id.0 };
        Ok(QueuedEvent {
            id: EventId::from_uuid(self.id.0),
            provider_id: ProviderId::from_uuid(self.provider_id.0),
            kind: reading.make("kind", EventKind::from_code(self.kind))?,
            state: faring.make("state", EventState::from_code(fare.state))?,
            attempts: faring.make("attempts", u16::try_from(fare.attempts).ok())?,
            next_attempt_at: fare.next_attempt_at.map(|it| it.0),
            created_at: self.created_at.0,
        })
    }
}

/// An event that was just claimed.
#[derive(QueryableByName)]
pub(crate) struct ClaimedEventRow {
    #[diesel(sql_type = Identifier)]
    pub(crate) id: Id,
    #[diesel(sql_type = Identifier)]
    company_id: Id,
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
            company_id: CompanyId::from_uuid(self.company_id.0),
            body: self.body,
            attempts: reading.make("attempts", u16::try_from(self.attempts).ok())?,
            attempts_before_replay: reading.make("attempts_before_replay", before_replay)?,
        })
    }
}

#[derive(Insertable)]
#[diesel(table_name = attempts, treat_none_as_default_value = false)]
pub(crate) struct AttemptRow<'a> {
    event_id: Id,
    pub(crate) id: Id,
    company_id: Id,
    number: i16,
    started_at: At,
    duration_micros: i64,
    status: Option<i16>,
    cause: Option<&'a str>,
    answer: &'a [u8],
}

impl<'a> AttemptRow<'a> {
    /// Bound values a row.
    pub(crate) const COLUMNS: usize = 9;

    pub(crate) fn of(event: EventId, it: &'a Attempt) -> Self {
        Self {
            event_id: Id(event.as_uuid()),
            id: Id(it.id),
            company_id: Id(it.company_id.as_uuid()),
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
