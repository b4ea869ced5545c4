//! Events of the feed (behaviour 25.5, 25.6).

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::request::append_parameter;

/// An event and the state of its delivery.
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
pub struct Event {
    pub id: Uuid,
    /// The kind of event, such as `redemption.created`.
    pub r#type: String,
    pub state: EventState,
    /// The number of attempts to deliver the event.
    pub attempts: u32,
    pub created_at: String,
    pub next_attempt_at: Option<String>,
    /// The body of the webhook request, byte for byte.
    pub body: Box<RawValue>,
    /// The newest 100 attempts, oldest first. Empty unless the event was fetched by its id.
    #[serde(default)]
    pub attempts_log: Vec<Attempt>,
}

/// The state of an event's delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventState {
    /// The event waits for its next attempt.
    Pending,
    /// The receiver confirmed the event.
    Delivered,
    /// The last attempt failed.
    Exhausted,
    /// The provider had no callback URL.
    Unaddressed,
    /// A state that this version does not know.
    #[serde(other)]
    Unknown,
}

impl EventState {
    /// The name in the API, such as `pending`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Exhausted => "exhausted",
            Self::Unaddressed => "unaddressed",
            Self::Unknown => "unknown",
        }
    }
}

/// An attempt to deliver an event.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Attempt {
    /// The number of the attempt, starting at 1.
    pub number: u32,
    pub started_at: String,
    /// The status of the receiver's response; `None` if there was no response.
    pub status: Option<u16>,
    /// Why the attempt failed; `None` if it succeeded.
    pub cause: Option<String>,
    pub duration_ms: u64,
}

/// A page of events, oldest first.
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
pub struct EventPage {
    pub events: Vec<Event>,
    /// The cursor after these events, for [`Start::Cursor`].
    pub next: String,
}

/// Where a feed starts.
#[derive(Debug, Clone, Copy, Default)]
pub enum Start<'a> {
    #[default]
    Beginning,
    /// At the first event created at this time or later, such as `2026-11-20T20:01:02.345Z`. Some events may be up to a
    /// minute older.
    Moment(&'a str),
    /// After the events before this cursor.
    Cursor(&'a str),
}

/// Which events to fetch. The default is all events.
#[derive(Debug, Clone, Copy, Default)]
pub struct EventQuery<'a> {
    pub start: Start<'a>,
    /// Only events of this type, such as `redemption.created`.
    pub r#type: Option<&'a str>,
    pub state: Option<EventState>,
    /// The maximum number of events per page, at most 100.
    pub limit: Option<u32>,
    /// How long a request waits if there is no event, up to 20 seconds. The feed ends when this time has passed without
    /// an event.
    pub wait_seconds: Option<u32>,
}

impl EventQuery<'_> {
    /// The path of the feed with the filters, but without the start.
    pub(crate) fn filtered_path(&self) -> String {
        let mut path = "/events".to_owned();
        if let Some(kind) = self.r#type {
            append_parameter(&mut path, "type", kind);
        }
        if let Some(state) = self.state {
            append_parameter(&mut path, "state", state.as_str());
        }
        if let Some(limit) = self.limit {
            append_parameter(&mut path, "limit", &limit.to_string());
        }
        if let Some(wait) = self.wait_seconds {
            append_parameter(&mut path, "wait", &wait.to_string());
        }
        path
    }

    /// The path of the first page.
    pub(crate) fn first_page_path(&self) -> String {
        let mut path = self.filtered_path();
        match self.start {
            Start::Beginning => {}
            Start::Moment(since) => append_parameter(&mut path, "since", since),
            Start::Cursor(after) => append_parameter(&mut path, "after", after),
        }
        path
    }
}

/// Which events to send again. At least one field is required. Both are required to send delivered events again.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReplayFilter {
    /// Only events created at this time or later.
    pub since: Option<String>,
    pub state: Option<EventState>,
}

/// The result of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ReplayResult {
    /// The number of events that are sent again. Events whose delivery is in progress are not counted.
    pub replayed: u64,
}
