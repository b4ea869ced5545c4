//! An event, as its provider reads it (behaviour 25.5).

use guerdon_domain::events::{EventKind, EventState};
use guerdon_domain::ports::{MadeAttempt, ToldEvent};
use guerdon_domain::values::{EventId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::operation::error::ApiError;
use crate::operation::wire::Shown;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Event")]
pub(crate) struct EventView<'a> {
    id: Shown<EventId>,
    #[schemars(with = "Shown<EventKind>")]
    r#type: &'static str,
    #[schemars(with = "Shown<EventState>")]
    state: &'static str,
    attempts: u32,
    created_at: Shown<Timestamp>,
    next_attempt_at: Option<Shown<Timestamp>>,
    #[schemars(extend("type" = "object"), with = "serde_json::Value")]
    body: &'a RawValue,
}

impl<'a> EventView<'a> {
    pub(super) fn of(told: &'a ToldEvent) -> Result<Self, ApiError> {
        let ToldEvent { event, body } = told;
        let body = serde_json::from_slice(body).map_err(|cause| {
            ApiError::internal(format!("the body of event {} is no JSON: {cause}", event.id))
        })?;
        Ok(Self {
            id: Shown(event.id),
            r#type: event.kind.name(),
            state: event.state.name(),
            attempts: event.attempts,
            created_at: Shown(event.created_at),
            next_attempt_at: event.next_attempt_at.map(Shown),
            body,
        })
    }
}

/// An attempt to deliver it; what the receiver answered is not shown.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Attempt")]
pub(crate) struct AttemptView<'a> {
    number: u32,
    started_at: Shown<Timestamp>,
    status: Option<u16>,
    cause: Option<&'a str>,
    duration_ms: u64,
}

impl<'a> AttemptView<'a> {
    pub(super) fn of(attempt: &'a MadeAttempt) -> Self {
        Self {
            number: attempt.number,
            started_at: Shown(attempt.started_at),
            status: attempt.status,
            cause: attempt.cause.as_deref(),
            duration_ms: u64::try_from(attempt.duration.as_millis()).unwrap_or(u64::MAX),
        }
    }
}
