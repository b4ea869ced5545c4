//! What waits to be sent: events and mails.

use diesel::prelude::*;
use guerdon_domain::ports::{EventKind, NewEvent, NewMail};

use crate::schema::{events, mails};
use crate::types::{At, Id};

/// The state of what has not been sent yet.
const PENDING: i16 = 1;
/// The state of an event that has nowhere to go.
const UNADDRESSED: i16 = 4;

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
}

impl<'a> EventRow<'a> {
    /// Bound values a row.
    pub(crate) const COLUMNS: usize = 8;

    pub(crate) fn of(it: &'a NewEvent) -> Self {
        Self {
            id: Id(it.id.as_uuid()),
            provider_id: Id(it.provider_id.as_uuid()),
            kind: match it.kind {
                EventKind::RecognitionReceived => 1,
                EventKind::RecognitionUpdated => 2,
                EventKind::RedemptionCreated => 3,
            },
            body: &it.body,
            state: if it.addressed { PENDING } else { UNADDRESSED },
            attempts: 0,
            next_attempt_at: it.addressed.then_some(At(it.created_at)),
            created_at: At(it.created_at),
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
            state: PENDING,
            attempts: 0,
            next_attempt_at: Some(At(it.created_at)),
            created_at: At(it.created_at),
        }
    }
}
