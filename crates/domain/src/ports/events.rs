//! Events, queued in the transaction of their cause; their bytes are made once.

use std::time::Duration;

use super::{Lookup, StoreError, Timestamp};
use crate::model::{Event, EventFacts, EventKind, EventState, NewEvent};
use crate::values::{EmailAddress, EventId, ProviderId, UserId};

/// An event could not be rendered; what was caused is undone with it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("an event cannot be rendered: {0}")]
pub struct Unrenderable(pub String);

impl From<Unrenderable> for StoreError {
    fn from(cause: Unrenderable) -> Self {
        Self::Broken(cause.to_string())
    }
}

/// Renders events to the bytes that every attempt sends.
pub trait EventBodies: Send + Sync {
    /// The body of an event.
    fn body(&self, event: &Event<'_>) -> Result<Vec<u8>, Unrenderable>;

    /// What a body says of the ledger; `None` if it cannot be read.
    fn facts(&self, body: &[u8]) -> Option<EventFacts>;

    /// A body as it is without the name and the address of a person of whom it tells; `email` stands in its place.
    fn without(&self, body: &[u8], user: UserId, email: &EmailAddress) -> Result<Vec<u8>, Unrenderable>;
}

/// An event as an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedEvent {
    pub id: EventId,
    /// To whom.
    pub provider_id: ProviderId,
    pub kind: EventKind,
    /// What has become of it.
    pub state: EventState,
    /// Attempts made, over all replays.
    pub attempts: u32,
    /// When it is tried again, or when the lease of whoever is trying it ends.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was caused.
    pub created_at: Timestamp,
}

/// Where an event stands among those of its provider: in the order in which their transactions were settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeedPlace {
    pub position: i64,
    pub id: EventId,
}

/// Which part of a provider's events is wanted.
#[derive(Debug, Clone, Copy)]
pub struct FeedWanted {
    pub provider: ProviderId,
    /// Only those behind it; none begins with the first.
    pub after: Option<FeedPlace>,
    /// Where there is no place to go on from: begins about here, at most a minute before what was caused then.
    pub since: Option<Timestamp>,
    pub kind: Option<EventKind>,
    pub state: Option<EventState>,
    /// At most so many, from 1 on.
    pub limit: i64,
}

/// A part of a provider's events.
#[derive(Debug, Clone)]
pub struct Feed {
    /// In the order of their places.
    pub events: Vec<ToldEvent>,
    /// Where to go on: whoever does meets each event exactly once, also one whose transaction was slow to commit. None where
    /// nothing stands behind the beginning yet.
    pub next: Option<FeedPlace>,
}

/// An event with what is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldEvent {
    pub event: QueuedEvent,
    /// A JSON object.
    pub body: Vec<u8>,
}

/// An attempt that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeAttempt {
    /// From 1 on, over all replays.
    pub number: u32,
    pub started_at: Timestamp,
    pub duration: Duration,
    /// What the receiver answered, if it answered.
    pub status: Option<u16>,
    /// Why it failed.
    pub cause: Option<String>,
}

/// How much waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depth {
    /// How many events are pending.
    pub pending: i64,
    /// When the oldest of them was caused.
    pub oldest: Option<Timestamp>,
    /// How many mails wait.
    pub mails_waiting: i64,
    /// How many mails were given up, and are kept.
    pub mails_given_up: i64,
    /// How long the oldest transaction has been open that the event feed and the seals wait for; zero where there is none.
    pub feed_held: Duration,
}

/// Which events an operator wants to see; all of these must be so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventsWanted {
    pub provider: Option<ProviderId>,
    pub state: Option<EventState>,
    pub kind: Option<EventKind>,
    /// Caused then or later.
    pub since: Option<Timestamp>,
    /// Older than this one.
    pub before: Option<EventId>,
    /// Newer than this one: the oldest of those, which is to say its nearest.
    pub after: Option<EventId>,
    /// At most so many.
    pub limit: i64,
}

pub trait ReadOutbox {
    /// The events that are as wanted, newest first.
    fn events(&mut self, wanted: &EventsWanted) -> Result<Vec<QueuedEvent>, StoreError>;

    /// A part of a provider's events, of what is committed and can no longer be preceded.
    fn feed(&mut self, wanted: &FeedWanted) -> Result<Feed, StoreError>;

    /// The event of an id.
    fn event(&mut self, scope: ProviderId, id: EventId) -> Result<Lookup<ToldEvent>, StoreError>;

    /// The event of an id, whoever's it is: for the operator.
    fn anybodys_event(&mut self, id: EventId) -> Result<Option<ToldEvent>, StoreError>;

    /// The attempts at an event, the first first.
    fn attempts(&mut self, id: EventId) -> Result<Vec<MadeAttempt>, StoreError>;

    /// How much waits.
    fn outbox_depth(&mut self) -> Result<Depth, StoreError>;
}

/// Queueing events.
pub trait Outbox {
    /// Adds events to the outbox, the addressed ones due at once; any number of them.
    fn queue_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError>;
}

/// Sending events again.
pub trait Replays {
    /// Makes an event due at once: one that ended on a schedule that begins anew, one that waits on the one it has. `None`
    /// where there is no such event, `false` where it is due or under way as it is.
    fn replay_event(&mut self, id: EventId, now: Timestamp) -> Result<Option<bool>, StoreError>;

    /// Does so with all events of a provider that were caused at a moment or later, and are in a state; answers how many.
    fn replay_since(
        &mut self,
        provider: ProviderId,
        since: Timestamp,
        state: Option<EventState>,
        now: Timestamp,
    ) -> Result<usize, StoreError>;

    /// Does so with all events of a provider that are exhausted, or unaddressed, however many; answers how many.
    fn replay_events(
        &mut self,
        provider: ProviderId,
        state: EventState,
        now: Timestamp,
    ) -> Result<usize, StoreError>;
}
