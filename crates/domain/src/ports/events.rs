//! Events. They are queued in the transaction that causes them, and rendered once.

use std::time::Duration;

use super::{Lookup, StoreError, Timestamp};
use crate::model::{Event, EventFacts, EventKind, EventState, NewEvent};
use crate::values::{EmailAddress, EventId, ProviderId, UserId};

/// An event could not be rendered. The operation that caused it is rolled back.
#[derive(Debug, Clone, thiserror::Error)]
#[error("an event cannot be rendered: {0}")]
pub struct RenderError(pub String);

impl From<RenderError> for StoreError {
    fn from(error: RenderError) -> Self {
        Self::Broken(error.to_string())
    }
}

/// Renders events to the bytes that every attempt sends.
pub trait EventBodies: Send + Sync {
    /// The body of an event.
    fn render_event(&self, event: &Event<'_>) -> Result<Vec<u8>, RenderError>;

    /// Reads the facts of the ledger from a body; `None` if the body cannot be parsed.
    fn parse_facts(&self, body: &[u8]) -> Option<EventFacts>;

    /// Erases the name and the address of a user from a body; `email` replaces the address.
    fn erase_user(&self, body: &[u8], user: UserId, email: &EmailAddress) -> Result<Vec<u8>, RenderError>;
}

/// An event and its delivery state, without the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedEvent {
    pub id: EventId,
    /// The provider that receives it.
    pub provider_id: ProviderId,
    pub kind: EventKind,
    /// Its delivery state.
    pub state: EventState,
    /// The number of attempts, over all replays.
    pub attempts: u32,
    /// When the event is retried or, during an attempt, when the lease of the process that makes the attempt ends.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
}

/// The position of an event in its provider's feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeedPosition {
    pub position: i64,
    pub id: EventId,
}

/// The part of a provider's events to read.
#[derive(Debug, Clone, Copy)]
pub struct FeedQuery {
    pub provider: ProviderId,
    /// Only events after this position; `None` starts with the first one.
    pub after: Option<FeedPosition>,
    /// Used only without `after`: the feed starts at about this time, at most one minute before the first event
    /// that was created at this time or later.
    pub since: Option<Timestamp>,
    pub kind: Option<EventKind>,
    pub state: Option<EventState>,
    /// The maximum number of events, at least 1.
    pub limit: i64,
}

/// A part of a provider's events, without their content.
#[derive(Debug, Clone)]
pub struct FeedPage {
    /// The events, ordered by position.
    pub ids: Vec<EventId>,
    /// The position to continue from. A client that continues there reads each event exactly once, even an event whose
    /// transaction was slow to commit. `None` if there are no events after the start yet.
    pub next: Option<FeedPosition>,
}

/// An event with the body that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventWithBody {
    pub event: QueuedEvent,
    /// A JSON object.
    pub body: Vec<u8>,
}

/// A recorded attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedAttempt {
    /// The number of the attempt, starting at 1, over all replays.
    pub number: u32,
    pub started_at: Timestamp,
    pub duration: Duration,
    /// The HTTP status of the receiver's response, if there was one.
    pub status: Option<u16>,
    /// Why it failed.
    pub error: Option<String>,
    /// The first 1,024 characters of the response body, at most 4 KiB. Only for the operator.
    pub response_body: Vec<u8>,
    /// The response headers of a failed attempt, a line each. Only for the operator.
    pub response_headers: Option<String>,
}

/// The maximum number of attempts shown for an event; older attempts are omitted. The retry schedule has eleven
/// attempts, so only events that were replayed many times have more.
pub const SHOWN_ATTEMPTS_MAX: i64 = 100;

/// Events of a provider that are replayed in one transaction.
#[derive(Debug, Clone, Copy)]
pub struct ReplayQuery {
    pub provider: ProviderId,
    pub state: EventState,
    /// Only events that were created at this time or later; `None` for any time.
    pub since: Option<Timestamp>,
    /// Only events without an attempt at this time or later; `None` for all events.
    pub not_attempted_since: Option<Timestamp>,
    /// Only events after this one in the order of the state; `None` starts with the first one.
    pub after: Option<ReplayCursor>,
    /// The maximum number of events to examine, at least 1.
    pub limit: usize,
}

/// The place of an event in the order in which the events of a state are replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayCursor {
    /// The time of the next attempt in microseconds since 1970 for a pending event, the feed position for a delivered
    /// event, and otherwise 0.
    pub key: i64,
    pub id: EventId,
}

/// The result of replaying the events of a [`ReplayQuery`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayedPage {
    /// The number of events that were examined. If it is less than the limit, no more events follow.
    pub examined: usize,
    /// The number of events that were replayed.
    pub replayed: usize,
    /// The last event that was examined.
    pub last: Option<ReplayCursor>,
}

/// Statistics of the outbox and of the event feed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutboxStatistics {
    /// The number of pending events.
    pub pending: i64,
    /// When the oldest pending event was created.
    pub oldest_created_at: Option<Timestamp>,
    /// The age of the oldest open transaction that the event feed and the seals wait for; zero if there is
    /// none.
    pub oldest_transaction_age: Duration,
}

/// A query of events by an operator. All conditions must hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventQuery {
    pub provider: Option<ProviderId>,
    pub state: Option<EventState>,
    pub kind: Option<EventKind>,
    /// Only events that were created at this time or later.
    pub since: Option<Timestamp>,
    /// Only events older than this one.
    pub before: Option<EventId>,
    /// Only events newer than this one. If there are more than `limit`, the oldest of them are returned.
    pub after: Option<EventId>,
    /// If there are more than `limit`, return the oldest of them instead of the newest.
    pub oldest: bool,
    /// The maximum number of events.
    pub limit: i64,
}

pub trait ReadOutbox {
    /// The events that match, newest first.
    fn list_events(&mut self, query: &EventQuery) -> Result<Vec<QueuedEvent>, StoreError>;

    /// Finds a part of a provider's events. It contains only committed events that no later commit can precede.
    fn find_feed_page(&mut self, query: &FeedQuery) -> Result<FeedPage, StoreError>;

    /// Loads the events of a page, in the same order. Events that were deleted since are missing.
    fn load_feed_page(&mut self, page: &FeedPage) -> Result<Vec<EventWithBody>, StoreError>;

    /// Looks up an event.
    fn find_event(&mut self, scope: ProviderId, id: EventId) -> Result<Lookup<EventWithBody>, StoreError>;

    /// Looks up an event of any provider. For the operator.
    fn find_event_any_provider(&mut self, id: EventId) -> Result<Option<EventWithBody>, StoreError>;

    /// The newest attempts at an event, at most `limit`, oldest first.
    fn list_attempts(&mut self, id: EventId, limit: i64) -> Result<Vec<RecordedAttempt>, StoreError>;

    /// The newest attempts at an event, at most `limit`, oldest first. Their responses are not loaded: the bodies are
    /// empty, and the headers are `None`.
    fn list_attempts_without_responses(
        &mut self,
        id: EventId,
        limit: i64,
    ) -> Result<Vec<RecordedAttempt>, StoreError>;

    /// Statistics of the outbox and of the event feed.
    fn outbox_statistics(&mut self) -> Result<OutboxStatistics, StoreError>;
}

/// Queues events.
pub trait Outbox {
    /// Adds any number of events to the outbox. Events with a destination are due immediately.
    fn queue_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError>;
}

/// Replays events.
pub trait Replays {
    /// Makes an event due immediately. An event whose attempts have ended starts a new retry schedule; a pending event
    /// keeps its schedule. Returns `None` if the event does not exist, and `false` if it is already due or in flight.
    /// Fails with [`StoreError::CompanyHandedOver`] if the event's company was handed over.
    fn replay_event(&mut self, id: EventId, now: Timestamp) -> Result<Option<bool>, StoreError>;

    /// Replays the next events of a provider in a state. Reads and changes at most `query.limit` deliveries, which it
    /// finds by an index over the provider's own events. Events that are due, in flight or of a company that was
    /// handed over do not change.
    fn replay_page(&mut self, query: &ReplayQuery, now: Timestamp) -> Result<ReplayedPage, StoreError>;
}
