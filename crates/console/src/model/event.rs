//! Events and the attempts to deliver them.

use time::OffsetDateTime;

use super::attempt::{Attempt, AttemptResult};
use super::provider::Provider;
use super::{LogPage, ObjectReference};

/// The state of an event's delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventState {
    /// Waits for its next attempt.
    Pending,
    /// Confirmed by its receiver.
    Delivered,
    /// The last attempt failed; the event is retained.
    Exhausted,
    /// The provider had no callback URL; the event is retained.
    Unaddressed,
}

impl EventState {
    pub const ALL: [Self; 4] = [Self::Pending, Self::Delivered, Self::Exhausted, Self::Unaddressed];

    /// Returns the name in commands and query parameters.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Exhausted => "exhausted",
            Self::Unaddressed => "unaddressed",
        }
    }

    /// Parses [`Self::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A section of the events, newest first.
#[derive(Debug, Clone)]
pub struct Events {
    pub list: LogPage<EventRow>,
    /// Providers that can be selected.
    pub providers: Vec<ObjectReference>,
    /// All event types.
    pub types: Vec<String>,
}

/// A row of the table of events.
#[derive(Debug, Clone)]
pub struct EventRow {
    pub id: String,
    /// The kind of event, such as `recognition.received`.
    pub kind: String,
    pub state: EventState,
    pub provider: ObjectReference,
    pub attempts: u32,
    /// The latest attempt, if it is stored.
    pub latest: Option<AttemptResult>,
    pub created_at: OffsetDateTime,
    /// When the next attempt is due; `None` unless the event is pending.
    pub next_attempt_at: Option<OffsetDateTime>,
}

/// The details of an event.
#[derive(Debug, Clone)]
pub struct Event {
    pub id: String,
    /// The kind of event, such as `recognition.received`.
    pub kind: String,
    pub state: EventState,
    pub provider: Provider,
    pub company: ObjectReference,
    pub created_at: OffsetDateTime,
    /// When the next attempt is due; `None` unless the event is pending.
    pub next_attempt_at: Option<OffsetDateTime>,
    /// The JSON that is sent. The page shows numbers, ids and times from it, and hides names, addresses and messages.
    pub body: String,
    /// The newest 100 attempts, oldest first.
    pub attempts: Vec<Attempt>,
}
