//! An event in responses (behaviour 25.5).

use guerdon_domain::events::{EventKind, EventState};
use guerdon_domain::ports::{EventWithBody, RecordedAttempt};
use guerdon_domain::values::{EventId, Timestamp};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::WireValue;

/// The component of the API description with the bodies of all kinds of events, which this crate does not define.
pub const WEBHOOK_EVENT: &str = "WebhookEvent";

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Event")]
pub struct EventView<'a> {
    /// The event's id, the same in all its attempts and replays. Example: `"019a9c3e-5d74-7066-ad5f-5c4d3e2f1a66"`
    id: WireValue<EventId>,
    /// The kind of event. Example: `"recognition.received"`
    #[schemars(with = "WireValue<EventKind>")]
    r#type: &'static str,
    /// `pending`: waits for its next attempt; `delivered`: confirmed; `exhausted`: all attempts failed;
    /// `unaddressed`: the provider had no callback URL.
    /// Example: `"delivered"`
    #[schemars(with = "WireValue<EventState>")]
    state: &'static str,
    /// The number of attempts. Example: `1`
    attempts: u32,
    /// When it was created, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    created_at: WireValue<Timestamp>,
    /// When the next attempt is due; null if none is. Example: `null`
    next_attempt_at: Option<WireValue<Timestamp>>,
    /// The body of the webhook request.
    #[schemars(schema_with = "webhook_event_reference")]
    body: &'a RawValue,
}

impl<'a> EventView<'a> {
    /// The view of an event.
    ///
    /// # Errors
    ///
    /// If the stored body is not JSON.
    pub fn from_event(event_with_body: &'a EventWithBody) -> serde_json::Result<Self> {
        let EventWithBody { event, body } = event_with_body;
        let body = serde_json::from_slice(body)?;
        Ok(Self {
            id: WireValue(event.id),
            r#type: event.kind.name(),
            state: event.state.name(),
            attempts: event.attempts,
            created_at: WireValue(event.created_at),
            next_attempt_at: event.next_attempt_at.map(WireValue),
            body,
        })
    }
}

fn webhook_event_reference(_: &mut SchemaGenerator) -> Schema {
    Schema::new_ref(format!("#/components/schemas/{WEBHOOK_EVENT}"))
}

/// An attempt to deliver an event, without the receiver's response body.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Attempt")]
pub struct AttemptView<'a> {
    /// The number of the attempt, from 1. Example: `1`
    number: u32,
    /// When the attempt began. Example: `"2026-11-20T20:01:02.345Z"`
    started_at: WireValue<Timestamp>,
    /// The HTTP status of the receiver's response; null without a response. Example: `200`
    status: Option<u16>,
    /// Why the attempt failed; null if it succeeded. Example: `null`
    cause: Option<&'a str>,
    /// The duration of the attempt in milliseconds. Example: `42`
    duration_ms: u64,
}

impl<'a> AttemptView<'a> {
    pub fn from_attempt(attempt: &'a RecordedAttempt) -> Self {
        Self {
            number: attempt.number,
            started_at: WireValue(attempt.started_at),
            status: attempt.status,
            cause: attempt.error.as_deref(),
            duration_ms: u64::try_from(attempt.duration.as_millis()).unwrap_or(u64::MAX),
        }
    }
}
